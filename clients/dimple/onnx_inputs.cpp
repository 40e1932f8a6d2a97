#include "clients/dimple/onnx_inputs.h"

#ifdef DIMPLE_WITH_ONNX

#include <algorithm>
#include <limits>

#include "clients/dimple/progress.h"
#include "clients/dimple/suggest.h"
#include "clients/files/failure.h"
#include "clients/files/image.h"
#include "clients/files/npy.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/text.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

using onnx::HostTensor;
using onnx::ModelInput;
using onnx::Type;

// The largest size of a bound tensor, and the longest side of a picture.
constexpr uint64_t kMaxBytes = UINT32_MAX;
constexpr int64_t kMaxSide = 32768;

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
                         "\" is not a tensor of four dimensions of float, float16 or uint8."));
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
  const uint64_t bytes = byteWidth(type) * channels * static_cast<uint64_t>(height ? height : image.height) *
                         static_cast<uint64_t>(width ? width : image.width);
  if (height > kMaxSide || width > kMaxSide || bytes > kMaxBytes)
    throw InputError(cat("Input \"", input.name, "\" takes a picture of ", height ? height : image.height, " rows and ",
                         width ? width : image.width, " columns, expected at most ", kMaxSide, " of each and ",
                         kMaxBytes, " bytes."));
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

std::vector<std::string> namesOf(const std::vector<ModelInput>& inputs) {
  std::vector<std::string> names;
  names.reserve(inputs.size());
  for (const ModelInput& input : inputs) names.push_back(input.name);
  return names;
}

}  // namespace

onnx::Model loadModel(const std::filesystem::path& file) {
  Progress progress("loading", 1);
  progress.step(file.filename().string());
  return onnx::readModel(file);
}

void checkName(const char* option, const char* what, const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) == known.end())
    throw InputError(
        cat(option, " names \"", name, "\", which is not ", what, " of the model", candidatesText(name, known)));
}

std::map<std::string, std::string> readNamedPaths(const std::vector<std::string>& pairs, const char* option) {
  return readPairs(pairs, option);
}

std::map<std::string, int64_t> readDimensions(const onnx::Model& model, const std::vector<std::string>& pairs) {
  std::vector<std::string> known;
  for (const ModelInput& input : model.inputs())
    for (const onnx::Dimension& dimension : input.dimensions.value_or(std::vector<onnx::Dimension>()))
      if (dimension.size < 0 && !dimension.name.empty() && std::ranges::find(known, dimension.name) == known.end())
        known.push_back(dimension.name);
  std::map<std::string, int64_t> result;
  for (const auto& [name, text] : readPairs(pairs, "--dim")) {
    checkName("--dim", "an open dimension", name, known);
    const auto number = parseNumber<uint32_t>(text);
    if (!number || *number == 0)
      throw InputError(cat("--dim has ", name, "=", text, ", expected a number from 1 to ",
                           std::numeric_limits<uint32_t>::max(), "."));
    result[name] = *number;
  }
  return result;
}

OnnxInputs readInputs(const onnx::Model& model, const std::vector<std::string>& pairs,
                      const std::map<std::string, int64_t>& dimensions) {
  const auto paths = readPairs(pairs, "--input");
  for (const auto& path : paths) checkName("--input", "an input", path.first, namesOf(model.inputs()));
  OnnxInputs inputs;
  for (const ModelInput& input : model.inputs()) {
    const auto path = paths.find(input.name);
    if (path == paths.end()) continue;
    HostTensor tensor =
        isImagePath(path->second) ? readPicture(path->second, input, dimensions) : readArray(path->second, input);
    checkDimensions(input, tensor, dimensions);
    inputs.emplace(input.name, std::move(tensor));
  }
  return inputs;
}

void addZeros(const onnx::Model& model, const std::map<std::string, int64_t>& dimensions, OnnxInputs& inputs) {
  for (const ModelInput& input : model.inputs()) {
    if (inputs.contains(input.name)) continue;
    if (!input.dimensions)
      throw InputError(cat("The model does not say the rank of input \"", input.name, "\"; give it with --input."));
    const std::vector<int64_t> sizes = knownSizes(input, dimensions);
    uint64_t elements = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const onnx::Dimension& dimension = (*input.dimensions)[i];
      if (sizes[i] == 0 && dimension.size != 0)
        throw InputError(dimension.name.empty()
                             ? cat("Dimension ", i, " of input \"", input.name, "\" is open; give it with --input.")
                             : cat("Dimension ", dimension.name, " of input \"", input.name,
                                   "\" is open; give it with --dim ", dimension.name, "=NUMBER."));
      elements = std::min(elements, kMaxBytes) * static_cast<uint64_t>(sizes[i]);
    }
    if (elements > kMaxBytes / 8)
      throw InputError(
          cat("Input \"", input.name, "\" has ", elements, " elements, expected at most ", kMaxBytes / 8, "."));
    inputs.emplace(input.name, HostTensor(input.type, onnx::Sizes(sizes.begin(), sizes.end())));
  }
}

}  // namespace dimple::tool

#endif
