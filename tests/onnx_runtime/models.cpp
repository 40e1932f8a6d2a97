// Runs ONNX models in an unmodified onnxruntime.dll, on its DirectML provider with the DirectML.dll beside this
// program, and compares them with its CPU provider.
//
//   onnx_runtime_models.exe [--runs N] [--adapter] [--graphs] [--verbose] FOLDER...
//   onnx_runtime_models.exe --each FOLDER     the models in its folders (every DIMPLE_TEST_SAMPLE-th),
//                                           of which only what is bad is printed
//
// Each folder holds model.onnx and an array NAME.npy for each of its inputs. The provider is given a device and a queue
// of this program's, or with --adapter makes them of the first adapter itself. Every model runs in two sessions, which
// know the inputs' sizes: one in which the provider compiles graphs, and, without --graphs, one operator by operator.
//
// It ends with 1 if a model does not run, has a node on the CPU, or differs. With --each some nodes may be on the CPU;
// models that are there as a whole, or that the CPU provider does not take, are left out.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "clients/files/npy.h"
#include "core/text.h"
#include "tests/onnx_runtime/runtime.h"

namespace dimple::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTolerance = 1e-3;

// A model of a kind that this program does not run.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  int runs = 10;
  bool adapter = false;
  bool graphs = false;
  bool verbose = false;
  bool each = false;
  std::vector<std::filesystem::path> folders;
};

// Where nodes were placed, which only the log tells.
struct Placement {
  std::map<std::string, int> nodes;  // by provider
  std::map<std::string, int> onCpu;  // by type of operator
  std::string provider;              // whose nodes are being told
};

struct Log {
  bool verbose = false;
  Placement placement;  // of the last session
};

// " All nodes placed on [P]. Number of nodes: N", or for each provider " Node(s) placed on [P]. Number of nodes: N" and
// a line "  Type (name)" for each node.
void ORT_API_CALL logged(void* context, OrtLoggingLevel level, const char*, const char*, const char*,
                         const char* message) {
  Log& log = *static_cast<Log*>(context);
  Placement& found = log.placement;
  const std::string_view text = message;
  const auto begin = text.find("placed on ["), end = text.find("]. Number of nodes: ");
  if (begin != text.npos && end != text.npos) {
    found.provider = text.substr(begin + 11, end - begin - 11);
    found.nodes[found.provider] += std::atoi(message + end + 20);
  } else if (text.starts_with("  ") && found.provider == "CPUExecutionProvider") {
    ++found.onCpu[std::string(text.substr(2, text.find(' ', 2) - 2))];
  } else {
    found.provider.clear();
  }
  if (level >= ORT_LOGGING_LEVEL_ERROR || log.verbose) {
    std::printf("  %s\n", message);
    std::fflush(stdout);
  }
}

struct ElementType {
  DataType array;
  ONNXTensorElementDataType runtime;
  double (*read)(const std::byte*);
};

template <class T>
double readElement(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

constexpr ElementType kElementTypes[] = {
    {DML_TENSOR_DATA_TYPE_FLOAT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, readElement<float>},
    {DML_TENSOR_DATA_TYPE_FLOAT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, readElement<double>},
    {DML_TENSOR_DATA_TYPE_INT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, readElement<int64_t>},
    {DML_TENSOR_DATA_TYPE_INT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, readElement<int32_t>},
    {DML_TENSOR_DATA_TYPE_INT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, readElement<int16_t>},
    {DML_TENSOR_DATA_TYPE_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, readElement<int8_t>},
    {DML_TENSOR_DATA_TYPE_UINT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, readElement<uint64_t>},
    {DML_TENSOR_DATA_TYPE_UINT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, readElement<uint32_t>},
    {DML_TENSOR_DATA_TYPE_UINT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, readElement<uint16_t>},
    {DML_TENSOR_DATA_TYPE_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, readElement<uint8_t>},
    {DML_TENSOR_DATA_TYPE_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, readElement<uint8_t>},
};

template <class Type>
const ElementType& elementType(Type ElementType::*field, Type type) {
  const auto found = std::ranges::find(kElementTypes, type, field);
  if (found == std::end(kElementTypes)) throw Unsupported("A tensor has another element type.");
  return *found;
}

struct Input {
  std::string name;
  tool::NpyArray array;
  std::vector<int64_t> sizes;
};

using Results = std::vector<std::vector<double>>;

class Model {
 public:
  Model(const Ort::Env& env, std::filesystem::path folder) : env_(env), folder_(std::move(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() != ".npy") continue;
      Input input{entry.path().stem().string(), tool::readNpy(entry.path()), {}};
      input.sizes.assign(input.array.sizes.begin(), input.array.sizes.end());
      inputs_.push_back(std::move(input));
    }
  }

  // Sizes that the model leaves open become those of its inputs. The model was opened before.
  void fixSizes(Ort::SessionOptions& options) {
    Ort::AllocatorWithDefaultOptions allocator;
    for (size_t i = 0; i < session_->GetInputCount(); ++i) {
      const std::string name = session_->GetInputNameAllocated(i, allocator).get();
      const auto input = std::ranges::find(inputs_, name, &Input::name);
      if (input == inputs_.end()) throw std::runtime_error(cat("There is no ", name, ".npy."));
      const auto type = session_->GetInputTypeInfo(i);
      std::vector<const char*> symbols(input->sizes.size());
      type.GetTensorTypeAndShapeInfo().GetSymbolicDimensions(symbols.data(), symbols.size());
      for (size_t k = 0; k < symbols.size(); ++k)
        if (*symbols[k])
          Ort::ThrowOnError(Ort::GetApi().AddFreeDimensionOverrideByName(options, symbols[k], input->sizes[k]));
    }
  }

  void open(const Ort::SessionOptions& options) {
    session_.emplace(env_, (folder_ / "model.onnx").c_str(), options);
    Ort::AllocatorWithDefaultOptions allocator;
    outputs_.clear();
    for (size_t i = 0; i < session_->GetOutputCount(); ++i)
      outputs_.emplace_back(session_->GetOutputNameAllocated(i, allocator).get());
  }

  // The elements of the outputs.
  Results run() {
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    std::vector<const char*> inputNames, outputNames;
    std::vector<Ort::Value> values;
    for (Input& input : inputs_) {
      const auto info = session_->GetInputTypeInfo(indexOf(input.name));
      inputNames.push_back(input.name.c_str());
      values.push_back(Ort::Value::CreateTensor(memory, input.array.bytes.data(), input.array.bytes.size(),
                                                input.sizes.data(), input.sizes.size(),
                                                info.GetTensorTypeAndShapeInfo().GetElementType()));
    }
    for (const std::string& name : outputs_) outputNames.push_back(name.c_str());
    const auto made = session_->Run(Ort::RunOptions{nullptr}, inputNames.data(), values.data(), values.size(),
                                    outputNames.data(), outputNames.size());
    Results results;
    for (const Ort::Value& value : made) {
      const auto info = value.GetTensorTypeAndShapeInfo();
      const ElementType& type = elementType(&ElementType::runtime, info.GetElementType());
      const auto* bytes = static_cast<const std::byte*>(value.GetTensorRawData());
      std::vector<double>& elements = results.emplace_back(info.GetElementCount());
      for (size_t i = 0; i < elements.size(); ++i) elements[i] = type.read(bytes + i * byteWidth(type.array));
    }
    return results;
  }

 private:
  size_t indexOf(const std::string& input) const {
    Ort::AllocatorWithDefaultOptions allocator;
    for (size_t i = 0; i < session_->GetInputCount(); ++i)
      if (input == session_->GetInputNameAllocated(i, allocator).get()) return i;
    throw std::runtime_error(cat("The model has no input ", input, "."));
  }

  const Ort::Env& env_;
  std::filesystem::path folder_;
  std::vector<Input> inputs_;
  std::vector<std::string> outputs_;
  std::optional<Ort::Session> session_;
};

// The greatest difference, in parts of the output's greatest element.
double difference(const Results& results, const Results& expected) {
  if (results.size() != expected.size()) return INFINITY;
  double greatest = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].size() != expected[i].size()) return INFINITY;
    double scale = 0, most = 0;
    for (size_t k = 0; k < results[i].size(); ++k) {
      const double a = results[i][k], b = expected[i][k];
      if (std::isfinite(b)) scale = std::max(scale, std::fabs(b));
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (!std::isfinite(a - b)) return INFINITY;
      most = std::max(most, std::fabs(a - b));
    }
    if (most > 0) greatest = std::max(greatest, most / scale);
  }
  return greatest;
}

// Milliseconds: by the clock, and of all processors that this process's threads took, drivers' threads among them.
struct Time {
  double wall = 0, cpu = 0;

  static Time now() {
    FILETIME created, exited, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &created, &exited, &kernel, &user)) return {};
    const auto ticks = [](const FILETIME& time) {
      return static_cast<double>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime);
    };
    const auto wall = Clock::now().time_since_epoch();
    return {std::chrono::duration<double, std::milli>(wall).count(), (ticks(kernel) + ticks(user)) / 1e4};
  }

  Time since(const Time& began) const { return {wall - began.wall, cpu - began.cpu}; }
  std::string text() const { return cat(std::lround(wall), " ms (", std::lround(cpu), " ms of CPU)"); }
};

struct Times {
  Time session, first, steady;
};

class Runner {
 public:
  Runner(const Options& options, HMODULE directml) : options_(options), env_(nullptr) {
    log_.verbose = options.verbose;
    env_ = Ort::Env(ORT_LOGGING_LEVEL_VERBOSE, "models", logged, &log_);
    dml_ = dmlApi();
    if (!options.adapter) device_.emplace(directml);
  }

  // Whether the model runs as it should.
  bool run(const std::filesystem::path& folder) {
    Model model(env_, folder);
    const Results expected = runOnCpu(model);
    Ort::SessionOptions graphs, nodes;
    model.fixSizes(graphs);
    model.fixSizes(nodes);
    nodes.AddConfigEntry("ep.dml.disable_graph_fusion", "1");
    // Both, whatever comes of the first.
    const bool asGraphs = runSession(model, graphs, folder.filename().string() + ", graphs", expected);
    if (options_.graphs) return asGraphs;
    return runSession(model, nodes, folder.filename().string() + ", operators", expected) && asGraphs;
  }

 private:
  // What that provider cannot run is no test of the other.
  Results runOnCpu(Model& model) {
    try {
      model.open(Ort::SessionOptions());
      return model.run();
    } catch (const Ort::Exception& error) {
      throw Unsupported(error.what());
    }
  }

  bool runSession(Model& model, Ort::SessionOptions& options, const std::string& name, const Results& expected) {
    options.DisableMemPattern();
    options.SetExecutionMode(ORT_SEQUENTIAL);
    Ort::ThrowOnError(device_ ? dml_->appendDevice(options, device_->dml.Get(), device_->queue.Get())
                              : dml_->appendAdapter(options, 0));
    Times times;
    log_.placement = {};
    const Time start = Time::now();
    model.open(options);
    times.session = Time::now().since(start);

    double greatest = 0;
    for (int i = 0; i < options_.runs; ++i) {
      const Time began = Time::now();
      const Results results = model.run();
      const Time time = Time::now().since(began);
      greatest = std::max(greatest, difference(results, expected));
      if (i == 0) times.first = time;
      if (i < 2) times.steady = time;
      times.steady = {std::min(times.steady.wall, time.wall), std::min(times.steady.cpu, time.cpu)};
    }
    return report(name, greatest, times);
  }

  bool report(const std::string& name, double greatest, const Times& times) const {
    const Placement& placed = log_.placement;
    const auto count = [&](const char* provider) {
      const auto found = placed.nodes.find(provider);
      return found == placed.nodes.end() ? 0 : found->second;
    };
    std::string onCpu;
    for (const auto& [type, nodes] : placed.onCpu) onCpu += cat(" ", nodes, " ", type);
    const int dml = count("DmlExecutionProvider"), cpu = count("CPUExecutionProvider");
    if (options_.each && dml == 0) throw Unsupported("The provider leaves the model to the CPU.");
    const bool good = greatest <= kTolerance && dml > 0 && (options_.each || cpu == 0);
    if (options_.each && good) return true;
    std::printf(
        "%-4s %-22s nodes on DirectML %3d, on the CPU %d%s; %d runs, difference %.1e; "
        "session %s, first run %s, steady %s\n",
        good ? "good" : "BAD", name.c_str(), dml, cpu, onCpu.c_str(), options_.runs, greatest,
        times.session.text().c_str(), times.first.text().c_str(), times.steady.text().c_str());
    std::fflush(stdout);
    return good;
  }

  const Options options_;
  Log log_;
  Ort::Env env_;
  const DmlApi* dml_ = nullptr;
  std::optional<Device> device_;
};

int runModels(const Options& options) {
  const HMODULE directml = loadRuntime();
  Runner runner(options, directml);
  int good = 0, bad = 0, unsupported = 0;
  for (const auto& folder : options.folders) {
    try {
      ++(runner.run(folder) ? good : bad);
    } catch (const Unsupported& reason) {
      ++unsupported;
      if (options.verbose) std::printf("left out %s: %s\n", folder.filename().string().c_str(), reason.what());
    } catch (const std::exception& error) {
      std::printf("BAD  %s: %s\n", folder.filename().string().c_str(), error.what());
      std::fflush(stdout);
      ++bad;
    }
  }
  std::printf("%d models good, %d bad, %d left out\n", good, bad, unsupported);
  return bad == 0 && good > 0 ? 0 : 1;
}

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  dimple::testing::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--runs" && i + 1 < argc)
      options.runs = std::atoi(argv[++i]);
    else if (argument == "--adapter")
      options.adapter = true;
    else if (argument == "--graphs")
      options.graphs = true;
    else if (argument == "--each")
      options.each = true;
    else if (argument == "--verbose")
      options.verbose = true;
    else
      options.folders.emplace_back(argument);
  }
  if (options.each && options.folders.size() == 1) {
    const auto parent = options.folders[0];
    options.folders.assign(std::filesystem::directory_iterator(parent), {});
    std::ranges::sort(options.folders);
    const char* sample = std::getenv("DIMPLE_TEST_SAMPLE");
    const size_t every = sample ? static_cast<size_t>(std::max(1, std::atoi(sample))) : 1;
    for (size_t i = 0; i * every < options.folders.size(); ++i) options.folders[i] = options.folders[i * every];
    options.folders.resize((options.folders.size() + every - 1) / every);
  }
  if (options.folders.empty() || options.runs < 1) {
    std::fprintf(stderr, "usage: onnx_runtime_models [--runs N] [--adapter] [--graphs] [--verbose] FOLDER...\n");
    return 2;
  }
  try {
    return dimple::testing::runModels(options);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
