// dxc_batch: compiles many kernels in one process, since starting one costs more than compiling a kernel.
//
//   dxc_batch DXCOMPILER_DLL     in a folder with a file `list`, whose lines are: NAME ARGUMENT ...
//
// NAME.hlsl becomes NAME.dxil; what DXC says becomes NAME.log, and NAME.time holds the milliseconds it took. A kernel
// that is refused has a NAME.log and no NAME.dxil, and does not keep the others from being compiled. With the one
// argument -dumpbin, as in DXC's own program, what NAME.dxil holds becomes the text NAME.ll, for tests.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dxc_api.h"
#include "memory_pool.h"

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
std::string textOf(dxc::Blob& blob) {
  const std::string text(static_cast<const char*>(blob.GetBufferPointer()), blob.GetBufferSize());
  return text.substr(0, text.find('\0'));
}

// Releases what it holds.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_) object_->Release();
  }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T** out() { return &object_; }
  void** outVoid() { return reinterpret_cast<void**>(&object_); }

 private:
  T* object_ = nullptr;
};

// A text that DXC reads and does not keep.
class Text final : public dxc::Blob {
 public:
  explicit Text(const std::string& text) : text_(text) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(const IID& id, void** object) override {
    *object = IsEqualGUID(id, dxc::kBlobInterface) || IsEqualGUID(id, dxc::kUnknownInterface) ? this : nullptr;
    return *object ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  void* STDMETHODCALLTYPE GetBufferPointer() override { return const_cast<char*>(text_.data()); }
  SIZE_T STDMETHODCALLTYPE GetBufferSize() override { return text_.size(); }

 private:
  const std::string& text_;
};

struct Dxc {
  Owned<dxc::Compiler> compiler;
  Owned<dxc::Assembler> assembler;
  Owned<dxc::Validator> validator;

  bool open(dxc::CreateInstance create) {
    auto* const memory = new dxc::MemoryPool;  // for as long as the process, since DXC may keep blocks
    return SUCCEEDED(create(memory, dxc::kCompilerClass, dxc::kCompilerInterface, compiler.outVoid())) &&
           SUCCEEDED(create(memory, dxc::kAssemblerClass, dxc::kAssemblerInterface, assembler.outVoid())) &&
           SUCCEEDED(create(memory, dxc::kValidatorClass, dxc::kValidatorInterface, validator.outVoid()));
  }
};

// What a call left; null, with the log written, where it failed.
void take(HRESULT status, Owned<dxc::Result>& result, const Job& job, Owned<dxc::Blob>& blob) {
  std::string log = "DXC could not be called.\n";
  if (result) {
    result->GetStatus(&status);
    Owned<dxc::Blob> errors;
    log.clear();
    if (SUCCEEDED(result->GetErrorBuffer(errors.out())) && errors) log = textOf(*errors);
    if (SUCCEEDED(status)) result->GetResult(blob.out());
    if (log.empty() && FAILED(status)) log = "DXC fails without saying why.\n";
  }
  if (!log.empty()) writeText(job.name + ".log", log);
}

// -Gis makes all that computes precise, and drivers that keep to it take FMad apart. What stands in the HLSL as one
// operation is to be one, so that the mark is taken from it.
bool allowFusion(std::string& text) {
  constexpr std::string_view kCall = "@dx.op.tertiary.f32(i32 46,";
  constexpr std::string_view kMark = ", !dx.precise !";
  bool found = false;
  for (size_t at = 0; (at = text.find(kCall, at)) != text.npos; ++at) {
    const size_t mark = text.find(kMark, at);
    if (mark == text.npos || mark > text.find('\n', at)) continue;
    text.erase(mark, text.find_first_not_of("0123456789", mark + kMark.size()) - mark);
    found = true;
  }
  return found;
}

// Empty, with the log written, where it failed.
std::string disassemble(Dxc& dxc, const Job& job, const void* object, size_t bytes) {
  const dxc::Buffer buffer{object, bytes, 0};
  Owned<dxc::Result> disassembly;
  Owned<dxc::Blob> disassembled;
  take(dxc.compiler->Disassemble(&buffer, dxc::kResultInterface, disassembly.outVoid()), disassembly, job,
       disassembled);
  return disassembled ? textOf(*disassembled) : std::string();
}

// Writes the object if it is valid, with the digest that says so.
void sign(Dxc& dxc, const Job& job, dxc::Blob& object) {
  Owned<dxc::Result> validation;
  Owned<dxc::Blob> valid;
  take(dxc.validator->Validate(&object, dxc::kSigns, validation.out()), validation, job, valid);
  if (valid) writeBlob(job.name + ".dxil", &*valid);
}

// The assembler describes in a part of the object what the module binds, which the compiler left out (-Qstrip_reflect).
std::string withoutDescription(dxc::Blob& object) {
  constexpr size_t kSize = 24, kCount = 28, kPlaces = 32;  // of the header; a part begins with its name and its size
  const std::string from(static_cast<const char*>(object.GetBufferPointer()), object.GetBufferSize());
  const auto wordAt = [&](size_t at) {
    UINT32 word = 0;
    std::memcpy(&word, from.data() + at, sizeof word);
    return word;
  };
  const auto text = [](size_t word) {
    const UINT32 narrow = UINT32(word);
    return std::string(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  };
  std::vector<std::string> parts;
  for (UINT32 i = 0; i < wordAt(kCount); ++i) {
    const UINT32 at = wordAt(kPlaces + 4 * i);
    std::string part = from.substr(at, 8 + wordAt(at + 4));
    if (!part.starts_with("STAT")) parts.push_back(std::move(part));
  }
  std::string places, rest;
  for (const std::string& part : parts) {
    places += text(kPlaces + 4 * parts.size() + rest.size());
    rest += part;
  }
  return from.substr(0, kSize) + text(kPlaces + places.size() + rest.size()) + text(parts.size()) + places + rest;
}

// Writes the object, in which operations may be fused.
void finish(Dxc& dxc, const Job& job, const std::string& source, dxc::Blob& object) {
  if (source.find("mad(") == source.npos) return sign(dxc, job, object);
  std::string text = disassemble(dxc, job, object.GetBufferPointer(), object.GetBufferSize());
  if (text.empty()) return;
  if (!allowFusion(text)) return sign(dxc, job, object);
  Text fused(text);
  Owned<dxc::Result> assembly;
  Owned<dxc::Blob> assembled;
  take(dxc.assembler->AssembleToContainer(&fused, assembly.out()), assembly, job, assembled);
  if (!assembled) return;
  std::string rest = withoutDescription(*assembled);  // which the validator signs in its place
  Text bare(rest);
  sign(dxc, job, bare);
}

std::string readFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void dump(Dxc& dxc, const Job& job) {
  const std::string object = readFile(job.name + ".dxil");
  writeText(job.name + ".ll", disassemble(dxc, job, object.data(), object.size()));
}

void compile(Dxc& dxc, const Job& job) {
  const auto start = std::chrono::steady_clock::now();
  const std::string source = readFile(job.name + ".hlsl");
  std::vector<const wchar_t*> arguments;
  for (const std::wstring& argument : job.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(L"-Vd");  // what is written is validated, once

  const dxc::Buffer buffer{source.data(), source.size(), dxc::kUtf8};
  Owned<dxc::Result> result;
  Owned<dxc::Blob> object;
  const HRESULT status = dxc.compiler->Compile(&buffer, arguments.data(), UINT32(arguments.size()), nullptr,
                                               dxc::kResultInterface, result.outVoid());
  take(status, result, job, object);
  if (object) finish(dxc, job, source, *object);
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
  const FARPROC entry = GetProcAddress(module, "DxcCreateInstance2");
  if (!entry) {
    std::fprintf(stderr, "The library %s has no DxcCreateInstance2.\n", arguments[1]);
    return 1;
  }
  // By way of void*, since compilers warn of a cast between function types.
  const auto create = reinterpret_cast<dxc::CreateInstance>(reinterpret_cast<void*>(entry));

  const std::vector<Job> jobs = readList("list");
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    Dxc dxc;
    if (!dxc.open(create)) {
      failed = true;
      return;
    }
    for (size_t i = next++; i < jobs.size(); i = next++) {
      const bool dumps = jobs[i].arguments == std::vector<std::wstring>{L"-dumpbin"};
      dumps ? dump(dxc, jobs[i]) : compile(dxc, jobs[i]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failed) std::fprintf(stderr, "The library %s gives no compiler.\n", arguments[1]);
  return failed ? 1 : 0;
}
