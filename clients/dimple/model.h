// A program in DxDispatch's JSON dialect (docs/programs.md): buffers ("resources"), operators ("dispatchables") and
// commands. What the dialect has beyond DirectML operators (shaders, ONNX models, serialized graphs, deferred buffers)
// is refused by name.
//
// Beyond the dialect: a buffer may have sizeInBytes alone (zeros); `dimensions` of a resource is checked against its
// .npy file ([sizes]) or image ([height,width,channels]); an image without resampleSize keeps its size and layout (rows
// of interleaved channels from 0 to 255, `channels` converts); writeFile with width, height and channels writes such an
// image; ${NAME} in a path stands for what the command line defines. Paths may be absolute, and may lead out of the
// folder that written files are relative to: a program can read and write what its user can.
#pragma once

#include <dimple.h>

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "clients/dimple/json_file.h"
#include "clients/files/image.h"
#include "core/schema/desc_copy.h"

namespace dimple::tool {

struct Buffer {
  std::string name;
  DataType type = DML_TENSOR_DATA_TYPE_UNKNOWN;  // of the initial values; UNKNOWN: of mixed types
  std::vector<std::byte> values;                 // all other bytes are 0
  uint64_t offset = 0;                           // of the values
  uint64_t bytes = 0;                            // of the buffer, a multiple of 4

  // Bytes that are shown and written: without those that only round the size up to a multiple of 4.
  uint64_t contentBytes() const { return offset == 0 && bytes - values.size() < 4 ? values.size() : bytes; }
};

struct BindingSource {
  size_t buffer = 0;  // index into Model::buffers
  uint64_t offset = 0;
};

// By bind point, the name of a tensor field: one source a tensor.
using Bindings = std::map<std::string, std::vector<BindingSource>, std::less<>>;

struct Dispatchable {
  std::string name;
  std::string place;  // "model.json:12: dispatchables.add", for messages
  OwnedDesc desc;
  DML_EXECUTION_FLAGS flags;
  Bindings ownedBindings;  // of the tensors that DML owns, for initialization
};

struct DispatchCommand {
  std::string place;
  size_t dispatchable = 0;
  Bindings bindings;
};

struct PrintCommand {
  size_t buffer = 0;
  bool verbose = false;
};

struct WriteFileCommand {
  size_t buffer = 0;
  std::filesystem::path path;
  std::vector<uint32_t> sizes;  // of the .npy array
  // Of an image; 0 channels: the file is none.
  PixelLayout layout = PixelLayout::Interleaved;
  uint32_t width = 0, height = 0, channels = 0;
};

using ModelCommand = std::variant<DispatchCommand, PrintCommand, WriteFileCommand>;

struct Model {
  std::vector<Buffer> buffers;
  std::vector<Dispatchable> dispatchables;
  std::vector<ModelCommand> commands;
};

struct ModelOptions {
  std::filesystem::path outputFolder = ".";
  std::map<std::string, std::string> definitions;
  bool readBuffers = true;    // false: dispatchables alone are wanted
  bool allowOverlap = false;  // outputs may lie over inputs of operators that do not work in place
};

// Throws InputError.
Model readModel(const JsonFile& file, const ModelOptions& options);

// "f32[2]" and so on of the tensors a bind point stands for; a null tensor is absent.
struct BindPoint {
  std::string_view name;
  Role role;
  std::vector<const DML_BUFFER_TENSOR_DESC*> tensors;  // null: absent
};

// In binding order.
std::vector<BindPoint> bindPoints(const OwnedDesc& desc);

// A tensor that the program computes, as the last dispatch that binds this place of a buffer as an output sees it.
struct OutputTensor {
  BindingSource source;
  const DML_BUFFER_TENSOR_DESC* tensor;  // of the model
};

// In the order of the buffers.
std::vector<OutputTensor> outputTensors(const Model& model);

}  // namespace dimple::tool
