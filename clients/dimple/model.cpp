#include "clients/dimple/model.h"

#include <algorithm>

#include "clients/dimple/initial_values.h"
#include "clients/dimple/json_desc.h"
#include "clients/dimple/suggest.h"
#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Dimensions of an array of NumPy's.
constexpr size_t kMaxArrayRank = 64;

template <class T>
size_t findNamed(const std::vector<T>& items, const JsonValue& field, std::string_view what) {
  const std::string name = field.string();
  const auto found = std::find_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
  if (found == items.end()) {
    std::vector<std::string> names;
    names.reserve(items.size());
    for (const T& item : items) names.push_back(item.name);
    field.fail(cat("is \"", name, "\", which is not a ", what, candidatesText(name, names)));
  }
  return static_cast<size_t>(found - items.begin());
}

BindingSource readSource(const Model& model, const JsonValue& field) {
  BindingSource source;
  if (field.value().is_string()) {
    source.buffer = findNamed(model.buffers, field, "resource");
    return source;
  }
  field.object().allowOnly({"name", "elementCount", "elementSizeInBytes", "elementOffset", "format", "counter",
                            "counterOffsetBytes", "shape"});
  source.buffer = findNamed(model.buffers, field.member("name"), "resource");
  const Buffer& buffer = model.buffers[source.buffer];
  const auto optional = [&](const char* name) { return field.has(name) ? field.member(name).integer(UINT32_MAX) : 0; };
  uint64_t elementBytes = optional("elementSizeInBytes");
  if (!elementBytes && buffer.type != DML_TENSOR_DATA_TYPE_UNKNOWN) elementBytes = byteWidth(buffer.type);
  source.offset = optional("elementOffset") * elementBytes;
  if (source.offset + optional("elementCount") * elementBytes > buffer.bytes || source.offset >= buffer.bytes)
    field.fail(cat("reaches beyond ", buffer.name, ", which has ", buffer.bytes, " bytes."));
  return source;
}

// A bound range must hold its tensor.
void checkSizes(const Model& model, const BindPoint& point, const JsonValue& field,
                const std::vector<BindingSource>& sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!point.tensors[i]) continue;
    const Buffer& buffer = model.buffers[sources[i].buffer];
    const uint64_t available = buffer.bytes - sources[i].offset;
    const uint64_t needed = point.tensors[i]->TotalTensorSizeInBytes;
    if (needed > available)
      field.fail(cat("needs ", needed, " bytes for ", formatTensor(*point.tensors[i]), ", but ", buffer.name, " has ",
                     available, sources[i].offset ? cat(" from byte ", sources[i].offset, " on") : "", "."));
  }
}

// Reads the sources of the bind points for which `isWanted` holds; all of them must be there and no others.
template <class IsWanted>
Bindings readBindings(const Model& model, const OwnedDesc& desc, const JsonValue& field, IsWanted isWanted) {
  Bindings bindings;
  const auto points = bindPoints(desc);
  field.eachMember([&](const std::string& name, const JsonValue& member) {
    const auto point = std::find_if(points.begin(), points.end(), [&](const BindPoint& p) { return p.name == name; });
    if (point == points.end()) {
      std::vector<std::string> names;
      names.reserve(points.size());
      for (const BindPoint& p : points) names.emplace_back(p.name);
      member.fail(cat("is not a tensor of ", desc.schema().name, candidatesText(name, names)));
    }
    std::vector<BindingSource> sources;
    if (member.value().is_array())
      for (size_t i = 0; i < member.size(); ++i) sources.push_back(readSource(model, member.element(i)));
    else
      sources.push_back(readSource(model, member));
    if (sources.size() != point->tensors.size())
      member.fail(cat("names ", sources.size(), sources.size() == 1 ? " resource" : " resources", ", expected ",
                      point->tensors.size(), "."));
    checkSizes(model, *point, member, sources);
    bindings.emplace(name, std::move(sources));
  });
  for (const BindPoint& point : points) {
    const bool wanted = std::any_of(point.tensors.begin(), point.tensors.end(), isWanted);
    if (wanted && !bindings.contains(point.name)) field.fail(cat("has no resource for ", point.name, "."));
    if (!wanted && bindings.contains(point.name))
      field.fail(cat("has a resource for ", point.name, ", which takes none here."));
  }
  return bindings;
}

bool isOwned(const DML_BUFFER_TENSOR_DESC* tensor) {
  return tensor && (static_cast<uint32_t>(tensor->Flags) & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
}

Dispatchable readDispatchable(const Model& model, const std::string& name, const JsonValue& field,
                              const ModelOptions& options) {
  const JsonValue type = field.object().member(field.has("Type") ? "Type" : "type");
  for (const char* other : {"hlsl", "onnx", "dmlSerializedGraph"})
    if (type.string() == other) type.fail(cat("is \"", other, "\"; only DirectML operators are run."));
  field.allowOnly({"type", "Type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings"});
  auto flags = DML_EXECUTION_FLAG_NONE;
  if (field.has("executionFlags"))
    flags = static_cast<DML_EXECUTION_FLAGS>(
        readFlags(field.member("executionFlags"), "DML_EXECUTION_FLAG_",
                  {"ALLOW_HALF_PRECISION_COMPUTATION", "DISABLE_META_COMMANDS", "DESCRIPTORS_VOLATILE"}));
  Dispatchable dispatchable{name, field.place(), readOperator(field), flags, {}};
  const auto points = bindPoints(dispatchable.desc);
  const bool ownsAny = std::any_of(points.begin(), points.end(), [](const BindPoint& p) {
    return std::any_of(p.tensors.begin(), p.tensors.end(), isOwned);
  });
  if (!options.readBuffers) return dispatchable;
  if (field.has("bindings"))
    dispatchable.ownedBindings = readBindings(model, dispatchable.desc, field.member("bindings"), isOwned);
  else if (ownsAny)
    field.fail("has no bindings for the tensors that are OWNED_BY_DML.");
  return dispatchable;
}

// Folders are made inside of the one that written files are relative to, and nowhere else.
void checkFolder(const JsonValue& field, const std::filesystem::path& path, const std::filesystem::path& outputFolder) {
  const auto folder = std::filesystem::absolute(path).lexically_normal().parent_path();
  const auto inside = folder.lexically_relative(std::filesystem::absolute(outputFolder).lexically_normal());
  if ((inside.empty() || *inside.begin() == "..") && !std::filesystem::is_directory(folder))
    field.fail(cat("leads to the folder ", folder.string(), ", which does not exist; make it first."));
}

WriteFileCommand readWriteFile(const Model& model, const JsonValue& field, const ModelOptions& options) {
  field.allowOnly({"type", "resource", "targetPath", "dimensions", "width", "height", "channels"});
  WriteFileCommand command;
  command.buffer = findNamed(model.buffers, field.member("resource"), "resource");
  command.path = options.outputFolder / expandPath(field.member("targetPath"), options);
  checkFolder(field.member("targetPath"), command.path, options.outputFolder);
  const Buffer& buffer = model.buffers[command.buffer];
  const bool isImage = isImagePath(command.path);
  const bool isNpy = command.path.extension() == ".npy";
  if (field.has("dimensions")) command.sizes = field.member("dimensions").integers();
  if ((isImage || isNpy) && buffer.type == DML_TENSOR_DATA_TYPE_UNKNOWN)
    field.member("resource").fail(cat("is ", buffer.name, ", whose elements have no data type."));
  const auto width = byteWidth(buffer.type);
  uint64_t needed = 0;
  if (isImage) {
    if (!isPixelType(buffer.type))
      field.member("resource")
          .fail(cat("holds ", dataTypeName(buffer.type), ", expected UINT8, FLOAT16 or FLOAT32 for an image."));
    if (field.has("dimensions")) {
      command.layout = PixelLayout::Planar;
      const auto& sizes = command.sizes;
      if (sizes.size() != 4 || sizes[0] != 1) field.member("dimensions").fail("is not [1, channels, height, width].");
      command.channels = sizes[1];
      command.height = sizes[2];
      command.width = sizes[3];
    } else {
      command.width = static_cast<uint32_t>(field.member("width").integer(UINT32_MAX));
      command.height = static_cast<uint32_t>(field.member("height").integer(UINT32_MAX));
      command.channels = static_cast<uint32_t>(field.member("channels").integer(UINT32_MAX));
    }
    const uint64_t pixels = uint64_t{command.width} * command.height;
    if (command.channels < 1 || command.channels > 4 || !pixels || command.width > 65535 || command.height > 65535)
      field.fail("has no image of 1 to 4 channels and 1 to 65535 rows and columns.");
    needed = pixels * command.channels * width;
  } else if (isNpy) {
    if (command.sizes.size() > kMaxArrayRank)
      field.member("dimensions")
          .fail(cat("has ", command.sizes.size(), " sizes, expected at most ", kMaxArrayRank, "."));
    if (command.sizes.empty()) command.sizes = {static_cast<uint32_t>(buffer.contentBytes() / width)};
    needed = width;
    for (const uint32_t size : command.sizes) needed = std::min(needed, uint64_t{UINT32_MAX}) * size;
  }
  if (needed > buffer.contentBytes())
    field.fail(cat("takes ", needed, " bytes, but ", buffer.name, " has ", buffer.contentBytes(), "."));
  return command;
}

// An output may lie on an input only where the operator works in place: elsewhere elements would be overwritten before
// they are read.
void checkOverlap(const Model& model, const DispatchCommand& command, const JsonValue& field) {
  struct Bound {
    std::string name;
    Role role;
    size_t index;  // among those of its role
    const DML_BUFFER_TENSOR_DESC* tensor;
    BindingSource source;
  };
  const OwnedDesc& desc = model.dispatchables[command.dispatchable].desc;
  const auto op = Operation::parse(desc.desc());
  if (!op) return;  // which says more
  std::vector<Bound> all;
  size_t inputs = 0, outputs = 0;
  for (const BindPoint& point : bindPoints(desc)) {
    size_t& index = point.role == Role::Input ? inputs : outputs;
    const auto found = command.bindings.find(point.name);
    for (size_t i = 0; i < point.tensors.size(); ++i, ++index)
      if (point.tensors[i] && found != command.bindings.end())
        all.push_back({std::string(point.name), point.role, index, point.tensors[i], found->second[i]});
  }
  for (const Bound& output : all) {
    if (output.role != Role::Output) continue;
    for (const Bound& other : all) {
      const bool apart = other.source.buffer != output.source.buffer ||
                         other.source.offset >= output.source.offset + output.tensor->TotalTensorSizeInBytes ||
                         output.source.offset >= other.source.offset + other.tensor->TotalTensorSizeInBytes;
      if (&other == &output || apart) continue;
      const bool inPlace = other.role == Role::Input && other.source.offset == output.source.offset &&
                           mayAlias(*op, other.index, output.index);
      if (inPlace) continue;
      field.fail(cat("has ", output.name, " over ", other.name, " in ", model.buffers[output.source.buffer].name,
                     ", but ", desc.schema().name,
                     desc.schema().inPlace && other.role == Role::Input
                         ? " works in place only if both begin at the same byte and have the same layout"
                     : other.role == Role::Input ? " does not work in place"
                                                 : " writes each output to a separate place",
                     "; bind another resource, or run with --allow-overlap."));
    }
  }
}

ModelCommand readCommand(const Model& model, const JsonValue& field, const ModelOptions& options) {
  const JsonValue type = field.object().member("type");
  const std::string name = type.string();
  if (name == "dispatch") {
    field.allowOnly({"type", "dispatchable", "bindings", "threadGroupCount"});
    DispatchCommand command;
    command.place = field.place();
    command.dispatchable = findNamed(model.dispatchables, field.member("dispatchable"), "dispatchable");
    command.bindings = readBindings(model, model.dispatchables[command.dispatchable].desc, field.member("bindings"),
                                    [](const DML_BUFFER_TENSOR_DESC* tensor) { return tensor && !isOwned(tensor); });
    if (!options.allowOverlap) checkOverlap(model, command, field.member("bindings"));
    return command;
  }
  if (name == "print") {
    field.allowOnly({"type", "resource", "verbose"});
    return PrintCommand{findNamed(model.buffers, field.member("resource"), "resource"),
                        field.has("verbose") && field.member("verbose").boolean()};
  }
  if (name == "writeFile") return readWriteFile(model, field, options);
  type.fail(cat("is \"", name, "\", which is not a command", candidatesText(name, {"dispatch", "print", "writeFile"})));
}

}  // namespace

std::vector<BindPoint> bindPoints(const OwnedDesc& desc) {
  std::vector<BindPoint> points;
  const auto* root = static_cast<const std::byte*>(desc.desc().Desc);
  const auto& fields = desc.schema().fields;
  const auto bufferOf = [](const DML_TENSOR_DESC* tensor) {
    return tensor ? static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc) : nullptr;
  };
  for (const Field& field : fields) {
    if (field.role == Role::Attribute) continue;
    BindPoint point{field.name, field.role, {}};
    const auto* tensors = *reinterpret_cast<const DML_TENSOR_DESC* const*>(root + field.offset);
    if (field.type == FieldType::TensorArray) {
      const auto count = *reinterpret_cast<const UINT*>(root + fields[static_cast<size_t>(field.countField)].offset);
      for (UINT i = 0; i < count; ++i) point.tensors.push_back(tensors ? bufferOf(&tensors[i]) : nullptr);
    } else {
      point.tensors.push_back(bufferOf(tensors));
    }
    points.push_back(std::move(point));
  }
  return points;
}

Model readModel(const JsonFile& file, const ModelOptions& options) {
  const JsonValue root(file);
  root.object().allowOnly({"resources", "dispatchables", "commands"});
  Model model;
  const JsonValue resources = root.member("resources");
  const JsonValue dispatchables = root.member("dispatchables");
  const JsonValue commands = root.member("commands");
  if (options.readBuffers)
    resources.eachMember([&](const std::string& name, const JsonValue& field) {
      model.buffers.push_back(readBuffer(name, field, options));
    });
  dispatchables.eachMember([&](const std::string& name, const JsonValue& field) {
    model.dispatchables.push_back(readDispatchable(model, name, field, options));
  });
  if (options.readBuffers)
    for (size_t i = 0; i < commands.array().size(); ++i)
      model.commands.push_back(readCommand(model, commands.element(i), options));
  return model;
}

std::vector<OutputTensor> outputTensors(const Model& model) {
  std::map<std::pair<size_t, uint64_t>, const DML_BUFFER_TENSOR_DESC*> found;
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (!dispatch) continue;
    for (const BindPoint& point : bindPoints(model.dispatchables[dispatch->dispatchable].desc)) {
      const auto bound = dispatch->bindings.find(point.name);
      if (point.role != Role::Output || bound == dispatch->bindings.end()) continue;
      for (size_t i = 0; i < point.tensors.size(); ++i)
        if (point.tensors[i]) found[{bound->second[i].buffer, bound->second[i].offset}] = point.tensors[i];
    }
  }
  std::vector<OutputTensor> outputs;
  for (const auto& [place, tensor] : found) outputs.push_back({{place.first, place.second}, tensor});
  return outputs;
}

}  // namespace dimple::tool
