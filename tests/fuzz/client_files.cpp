// What is read of files: a program in JSON, an .npy array, a picture, the cache of a driver's pipelines, or the line of
// a case, whichever the bytes look like. What is refused must be refused in a sentence. The operators of a program are
// planned, and its dispatches compiled as graphs on a device that executes nothing.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>

#include "backend_vulkan/cache_file.h"
#include "clients/dimple/model_graph.h"
#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "core/plan/plan_builder.h"
#include "tests/conformance/test_case.h"
#include "tests/fuzz/bounded_memory.h"
#include "tests/null/null_device.h"

namespace dimple::testing {
namespace {

using Microsoft::WRL::ComPtr;

void checkSentence(std::string_view text) {
  if (text.ends_with('.') && text.find('\0') == text.npos) return;
  std::fprintf(stderr, "no sentence: %.*s\n", static_cast<int>(text.size()), text.data());
  __builtin_trap();
}

// Operators of small tensors only: a plan of large ones takes its time, which another target looks at.
void plan(const DML_OPERATOR_DESC& desc) {
  const auto op = Operation::parse(desc);
  if (!op) return checkSentence(op.error().text);
  const auto plan = planOperator(*op, {});
  if (!plan) checkSentence(plan.error().text);
}

void compileGraphs(const tool::Model& model) {
  static const ComPtr<IDMLDevice> device = createNullDevice();
  ComPtr<IDMLDevice1> device1;
  if (FAILED(device.As(&device1))) __builtin_trap();
  for (tool::ModelGraph& graph : tool::ModelGraph::split(model)) {
    std::vector<ComPtr<IDMLOperator>> operators;
    std::vector<IDMLOperator*> pointers;
    for (const tool::DispatchCommand* dispatch : graph.dispatches()) {
      const DML_OPERATOR_DESC desc = model.dispatchables[dispatch->dispatchable].desc.desc();
      if (FAILED(device->CreateOperator(&desc, IID_PPV_ARGS(&operators.emplace_back())))) return;
      pointers.push_back(operators.back().Get());
    }
    ComPtr<IDMLCompiledOperator> compiled;
    const DML_GRAPH_DESC desc = graph.desc(pointers);
    static_cast<void>(device1->CompileGraph(&desc, graph.flags(), IID_PPV_ARGS(&compiled)));
  }
}

void readProgram(const std::filesystem::path& path) {
  const tool::JsonFile file(path);
  tool::ModelOptions options;
  options.definitions["FILE"] = path.string();
  const tool::Model model = tool::readModel(file, options);
  for (const tool::Dispatchable& dispatchable : model.dispatchables) plan(dispatchable.desc.desc());
  static_cast<void>(tool::outputTensors(model));
  compileGraphs(model);
}

void readCache(const std::filesystem::path& path) {
  if (const auto read = vulkan::readCacheFile(path.string()); !read) checkSentence(read.error().text);
}

void readLine(std::string_view line) {
  const auto test = parseTestCase(line);
  if (!test) throw tool::InputError(test.error().text);
  plan(test->desc.desc());
}

// A file of the process's own, with what the target was given.
class GivenFile {
 public:
  GivenFile() : folder_(std::filesystem::temp_directory_path() / ("client_files_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~GivenFile() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  std::filesystem::path write(const char* name, std::span<const std::byte> bytes) const {
    const std::filesystem::path path = folder_ / name;
    tool::writeFile(path, bytes);
    return path;
  }

 private:
  const std::filesystem::path folder_;
};

void read(std::span<const std::byte> bytes) {
  static const GivenFile file;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\x93NUMPY"))
    static_cast<void>(tool::readNpy(file.write("given.npy", bytes)));
  else if (text.starts_with("\x89PNG") || text.starts_with("\xff\xd8"))
    static_cast<void>(tool::readImage(file.write("given.png", bytes), bytes.size() % 5));
  else if (text.starts_with("DIMPLEP"))
    readCache(file.write("given.cache", bytes));
  else if (text.starts_with('{'))
    readProgram(file.write("given.json", bytes));
  else
    readLine(text);
}

}  // namespace
}  // namespace dimple::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    dimple::testing::read(std::as_bytes(std::span(data, size)));
  } catch (const dimple::tool::InputError& error) {
    dimple::testing::checkSentence(error.what());
  } catch (const std::bad_alloc&) {
    // Said by the program's main().
  }
  return 0;
}
