#include "clients/dimple/run_onnx.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "clients/dimple/profile.h"
#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#ifdef DIMPLE_WITH_ONNX
#include "clients/onnx/failure.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/session.h"
#include "clients/onnx/text.h"
#endif

namespace dimple::tool {

bool isOnnxPath(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

#ifndef DIMPLE_WITH_ONNX

int runOnnx(const std::filesystem::path& file, const DeviceOptions&, const OnnxOptions&) {
  throw InputError(cat(file.string(), " is an ONNX model, which this build cannot read: it was made without libonnx."));
}

#else

namespace {

using onnx::HostTensor;
using onnx::ModelInput;
using onnx::Type;

// "NAME=VALUE" of an option; a name may hold equals signs, a value none.
std::map<std::string, std::string> readPairs(const std::vector<std::string>& pairs, const char* option) {
  std::map<std::string, std::string> result;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.rfind('=');
    if (equals == pair.npos || equals == 0 || equals + 1 == pair.size())
      throw InputError(cat(option, " has \"", pair, "\", expected NAME=VALUE."));
    if (!result.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
      throw InputError(cat(option, " names \"", pair.substr(0, equals), "\" twice."));
  }
  return result;
}

std::map<std::string, int64_t> readDimensions(const std::vector<std::string>& pairs) {
  std::map<std::string, int64_t> result;
  for (const auto& [name, text] : readPairs(pairs, "--dim")) {
    const auto number = parseNumber<uint32_t>(text);
    if (!number || *number == 0) throw InputError(cat("--dim has ", name, "=", text, ", expected a number above 0."));
    result[name] = *number;
  }
  return result;
}

// Sizes that the model or the command line gives; 0: neither does.
std::vector<int64_t> knownSizes(const ModelInput& input, const std::map<std::string, int64_t>& dimensions) {
  std::vector<int64_t> sizes;
  for (const onnx::Dimension& dimension : *input.dimensions) {
    const auto given = dimensions.find(dimension.name);
    sizes.push_back(dimension.size >= 0 ? dimension.size : given != dimensions.end() ? given->second : 0);
  }
  return sizes;
}

HostTensor readArray(const std::filesystem::path& path, const ModelInput& input) {
  NpyArray array = readNpy(path);
  const Type type = array.type == DML_TENSOR_DATA_TYPE_FLOAT64 ? Type::Double : input.type;
  const bool fits = array.type == DML_TENSOR_DATA_TYPE_FLOAT64
                        ? input.type == Type::Double
                        : input.type != Type::Double && array.type == onnx::traits(input.type).device;
  if (!fits)
    throw InputError(cat(path.string(), " is of ", dataTypeName(array.type), ", but input \"", input.name, "\" is of ",
                         onnx::typeName(input.type), "."));
  HostTensor tensor(type, onnx::Sizes(array.sizes.begin(), array.sizes.end()));
  tensor.bytes = std::move(array.bytes);
  return tensor;
}

// [N, C, H, W] from 0 to 1, or of integers [N, H, W, C] from 0 to 255: the last dimension tells.
HostTensor readPicture(const std::filesystem::path& path, const ModelInput& input,
                       const std::map<std::string, int64_t>& dimensions) {
  const DataType type = onnx::traits(input.type).device;
  if (!input.dimensions || input.dimensions->size() != 4 || input.type == Type::Double || !isPixelType(type))
    throw InputError(cat(path.string(), " is a picture, but input \"", input.name,
                         "\" is no tensor of four dimensions of float, float16 or uint8."));
  const std::vector<int64_t> sizes = knownSizes(input, dimensions);
  const auto isChannels = [](int64_t size) { return size == 1 || size == 3 || size == 4; };
  const bool planar = isChannels(sizes[1]);
  if (!planar && !isChannels(sizes[3]))
    throw InputError(cat("Input \"", input.name,
                         "\" has no dimension of 1, 3 or 4 channels in the second or last place, "
                         "as a picture has."));
  if (sizes[0] > 1) throw InputError(cat("Input \"", input.name, "\" takes ", sizes[0], " pictures, expected one."));
  const auto channels = static_cast<uint32_t>(sizes[planar ? 1 : 3]);
  Image image = readImage(path, channels);
  const int64_t height = sizes[planar ? 2 : 1];
  const int64_t width = sizes[planar ? 3 : 2];
  image = resizeImage(image, width ? static_cast<uint32_t>(width) : image.width,
                      height ? static_cast<uint32_t>(height) : image.height);
  HostTensor tensor(input.type, planar ? onnx::Sizes{1, channels, image.height, image.width}
                                       : onnx::Sizes{1, image.height, image.width, channels});
  tensor.bytes = toElements(image, type, planar ? PixelLayout::Planar : PixelLayout::Interleaved);
  return tensor;
}

void checkDimensions(const ModelInput& input, const HostTensor& tensor,
                     const std::map<std::string, int64_t>& dimensions) {
  if (!input.dimensions || input.dimensions->size() != tensor.sizes.size()) return;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    const auto given = dimensions.find((*input.dimensions)[i].name);
    if (given != dimensions.end() && given->second != tensor.sizes[i])
      throw InputError(cat("Input \"", input.name, "\" has size ", tensor.sizes[i], " where --dim gives ", given->first,
                           " as ", given->second, "."));
  }
}

void writeArray(const std::filesystem::path& path, const HostTensor& tensor) {
  std::vector<uint32_t> sizes;
  for (const int64_t size : tensor.sizes) sizes.push_back(static_cast<uint32_t>(size));
  const DataType type = tensor.type == Type::Double ? DML_TENSOR_DATA_TYPE_FLOAT64 : onnx::traits(tensor.type).device;
  writeNpy(path, type, sizes, tensor.bytes);
}

void printOutputs(const std::vector<onnx::NamedTensor>& outputs) {
  Table table({"output", "type", "sizes", ">least", ">mean", ">greatest", ">at"});
  for (const auto& [name, tensor] : outputs) {
    const std::vector<double> values = tensor.reals();
    if (values.empty()) {
      table.add({name, onnx::typeName(tensor.type), onnx::listText(tensor.sizes), "-", "-", "-", "-"});
      continue;
    }
    // NaN is neither least nor greatest unless there is nothing else.
    const auto key = [](double absent) {
      return [absent](double value) { return std::isnan(value) ? absent : value; };
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto least = std::ranges::min_element(values, {}, key(kInfinity));
    const auto greatest = std::ranges::max_element(values, {}, key(-kInfinity));
    double sum = 0;
    for (const double value : values) sum += value;
    table.add({name, onnx::typeName(tensor.type), onnx::listText(tensor.sizes), numberText(*least),
               numberText(sum / static_cast<double>(values.size())), numberText(*greatest),
               std::to_string(greatest - values.begin())});
  }
  table.print();
}

// A run with what is compiled and in place, and each kernel of another session, its initialization included.
void profileOnnx(const Device& device, const onnx::Model& model, onnx::Session& session,
                 const std::map<std::string, HostTensor>& inputs) {
  const auto start = std::chrono::steady_clock::now();
  session.run(inputs);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  onnx::Session(device.context(), model).run(inputs);
  printProfile(readProfile(device));
  std::printf("A second run took %.1f ms.\n", took.count());
}

}  // namespace

int runOnnx(const std::filesystem::path& file, const DeviceOptions& deviceOptions, const OnnxOptions& options) {
  try {
    const auto inputPaths = readPairs(options.inputs, "--input");
    const auto outputPaths = readPairs(options.outputs, "--output");
    const auto dimensions = readDimensions(options.dimensions);
    const onnx::Model model = onnx::readModel(file);
    std::map<std::string, HostTensor> inputs;
    for (const ModelInput& input : model.inputs()) {
      const auto path = inputPaths.find(input.name);
      if (path == inputPaths.end()) continue;
      HostTensor tensor =
          isImagePath(path->second) ? readPicture(path->second, input, dimensions) : readArray(path->second, input);
      checkDimensions(input, tensor, dimensions);
      inputs.emplace(input.name, std::move(tensor));
    }
    for (const auto& [name, path] : inputPaths)
      if (!inputs.contains(name)) throw InputError(cat("The model has no input \"", name, "\"."));
    for (const auto& [name, path] : outputPaths)
      if (std::ranges::find(model.outputs(), name) == model.outputs().end())
        throw InputError(cat("The model has no output \"", name, "\"."));
    const Device device(deviceOptions);
    std::printf("Running on '%s' (%s)\n", device.name().c_str(), backendName(device.backend()).c_str());
    onnx::Session session(device.context(), model);
    const auto outputs = session.run(inputs);
    for (const auto& [name, tensor] : outputs)
      if (const auto path = outputPaths.find(name); path != outputPaths.end())
        writeArray(options.folder / path->second, tensor);
    printOutputs(outputs);
    std::printf("%zu nodes as %zu operators in %zu %s\n", model.nodes().size(), session.statistics().operators,
                session.statistics().graphs, session.statistics().graphs == 1 ? "graph" : "graphs");
    if (options.profile) profileOnnx(device, model, session, inputs);
    if (device.warnings()) throw RunError(cat("Validation gave ", device.warnings(), " messages."));
    return 0;
  } catch (const onnx::ModelError& error) {
    throw InputError(error.what());
  } catch (const onnx::DeviceError& error) {
    throw RunError(error.what());
  }
}

#endif

}  // namespace dimple::tool
