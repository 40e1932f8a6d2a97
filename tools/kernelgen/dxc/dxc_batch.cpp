// dxc_batch: compiles many kernels in one process, since starting one costs more than compiling a kernel.
//
//   dxc_batch DXCOMPILER_DLL     in a folder with a file `list`, whose lines are: NAME ARGUMENT ...
//
// NAME.hlsl becomes NAME.dxil; what DXC says becomes NAME.log, and NAME.time holds the milliseconds it took. A kernel
// that is refused has a NAME.log and no NAME.dxil, and does not keep the others from being compiled.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "dxc_api.h"

namespace {

struct Job {
  std::string name;
  std::vector<std::wstring> arguments;
};

std::vector<Job> readList(const char* file) {
  std::vector<Job> jobs;
  std::ifstream list(file);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    Job job;
    if (!(words >> job.name)) continue;
    for (std::string word; words >> word;) job.arguments.emplace_back(word.begin(), word.end());
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void writeBlob(const std::string& file, dxc::Blob* blob) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(blob->GetBufferPointer()), std::streamsize(blob->GetBufferSize()));
}

void writeText(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

// The error buffer of a compilation ends in a zero, and is that zero alone where there is nothing to say.
bool saysSomething(dxc::Blob* errors) { return errors && errors->GetBufferSize() > 1; }

void compile(dxc::Compiler& compiler, const Job& job) {
  const auto start = std::chrono::steady_clock::now();
  std::ifstream file(job.name + ".hlsl", std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  std::vector<const wchar_t*> arguments;
  for (const std::wstring& argument : job.arguments) arguments.push_back(argument.c_str());

  const dxc::Buffer buffer{source.data(), source.size(), dxc::kUtf8};
  dxc::Result* result = nullptr;
  HRESULT status = compiler.Compile(&buffer, arguments.data(), UINT32(arguments.size()), nullptr, dxc::kResultInterface,
                                    reinterpret_cast<void**>(&result));
  if (result) {
    result->GetStatus(&status);
    dxc::Blob* blob = nullptr;
    if (SUCCEEDED(result->GetErrorBuffer(&blob)) && saysSomething(blob)) {
      writeText(job.name + ".log", static_cast<const char*>(blob->GetBufferPointer()));
    } else if (FAILED(status)) {
      writeText(job.name + ".log", "DXC fails without saying why.\n");
    }
    if (blob) blob->Release();
    blob = nullptr;
    if (SUCCEEDED(status) && SUCCEEDED(result->GetResult(&blob)) && blob) writeBlob(job.name + ".dxil", blob);
    if (blob) blob->Release();
    result->Release();
  } else {
    writeText(job.name + ".log", "DXC could not be called.\n");
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  writeText(job.name + ".time", std::to_string(time.count()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: dxc_batch DXCOMPILER_DLL\n");
    return 2;
  }
  const HMODULE module = LoadLibraryA(arguments[1]);
  if (!module) {
    std::fprintf(stderr, "The library %s cannot be loaded: error %lu.\n", arguments[1], GetLastError());
    return 1;
  }
  const FARPROC entry = GetProcAddress(module, "DxcCreateInstance");
  if (!entry) {
    std::fprintf(stderr, "The library %s has no DxcCreateInstance.\n", arguments[1]);
    return 1;
  }
  // By way of void*, since compilers warn of a cast between function types.
  const auto create = reinterpret_cast<dxc::CreateInstance>(reinterpret_cast<void*>(entry));

  const std::vector<Job> jobs = readList("list");
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    dxc::Compiler* compiler = nullptr;
    if (FAILED(create(dxc::kCompilerClass, dxc::kCompilerInterface, reinterpret_cast<void**>(&compiler)))) {
      failed = true;
      return;
    }
    for (size_t i = next++; i < jobs.size(); i = next++) compile(*compiler, jobs[i]);
    compiler->Release();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failed) std::fprintf(stderr, "The library %s gives no compiler.\n", arguments[1]);
  return failed ? 1 : 0;
}
