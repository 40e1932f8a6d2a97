#include "tools/kernelgen/reflect.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/kernel_id.h"
#include "tools/kernelgen/error.h"

namespace kernelgen {

namespace {

using nlohmann::json;

constexpr uint32_t kPushLimit = 128;

class Reader {
 public:
  Reader(const json& document, const std::string& kernel) : document_(document), kernel_(kernel) {}

  Interface read() {
    refuseOtherResources();
    readWorkgroup();
    readBindings();
    readPush();
    readUniform();
    readSpecs();
    return result_;
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const { throw Error("The kernel " + kernel_ + " " + sentence); }

  const json& list(const char* key) const {
    static const json empty = json::array();
    const auto found = document_.find(key);
    return found == document_.end() ? empty : *found;
  }

  void refuseOtherResources() const {
    for (const char* key : {"images", "textures", "separate_images", "separate_samplers", "inputs", "outputs",
                            "subpass_inputs", "acceleration_structures"})
      if (!list(key).empty())
        fail("has " + std::string(key) + "; kernels have storage buffers, one uniform block and push constants.");
  }

  void readWorkgroup() {
    const json& entry = list("entryPoints").at(0);
    for (size_t i = 0; i < 3; ++i) {
      uint32_t& size = result_.workgroupSize[i];
      size = entry.at("workgroup_size").at(i).get<uint32_t>();
      if (!entry.at("workgroup_size_is_spec_constant_id").at(i).get<bool>()) continue;
      const json& specs = list("specialization_constants");
      const auto spec = std::ranges::find(specs, size, [](const json& s) { return s.at("id").get<uint32_t>(); });
      if (spec == specs.end()) fail("has a workgroup size that is not a constant.");
      size = spec->at("default_value").get<uint32_t>();
    }
  }

  void readBindings() {
    std::vector<std::optional<Access>> bindings;
    for (const json& buffer : list("ssbos")) {
      const auto set = buffer.value("set", 0u);
      const auto binding = buffer.value("binding", 0u);
      const std::string name = buffer.value("name", "");
      if (set != 0) fail("has the storage buffer " + name + " in set " + std::to_string(set) + ", not in set 0.");
      if (binding >= 32)
        fail("has the storage buffer " + name + " at binding " + std::to_string(binding) + ", above 31.");
      if (buffer.contains("array")) fail("has an array of storage buffers, " + name + ".");
      if (binding >= bindings.size()) bindings.resize(binding + 1);
      const Access access{!buffer.value("writeonly", false), !buffer.value("readonly", false)};
      std::optional<Access>& slot = bindings[binding];
      slot = slot ? Access{slot->read || access.read, slot->write || access.write} : access;
      const json& members = document_.at("types").at(buffer.at("type").get<std::string>()).at("members");
      result_.views.push_back({binding, name, members.at(0).at("type").get<std::string>()});
    }
    std::ranges::stable_sort(result_.views, {}, &ReflectedView::binding);
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (!bindings[i])
        fail("has no storage buffer at binding " + std::to_string(i) +
             " although one follows; bindings are contiguous.");
      result_.bindings.push_back(*bindings[i]);
    }
  }

  static uint32_t components(const std::string& type) {
    for (const char* scalar : {"uint", "int", "float"})
      if (type == scalar) return 1;
    for (const char* prefix : {"uvec", "ivec", "vec"})
      if (type.starts_with(prefix) && type.size() == std::string(prefix).size() + 1) return uint32_t(type.back() - '0');
    return 0;
  }

  // Bytes from the start of the uniform block to the end of its last member.
  uint32_t blockBytes(const std::string& typeName) const {
    uint32_t bytes = 0;
    for (const json& member : document_.at("types").at(typeName).at("members")) {
      const auto type = member.at("type").get<std::string>();
      const auto where = "has in its uniform block the member " + member.value("name", "");
      uint32_t elements = 1;
      const bool isArray = member.contains("array");
      if (isArray) {
        for (const json& literal : member.at("array_size_is_literal"))
          if (!literal.get<bool>()) fail(where + ", an array whose size is a specialization constant.");
        for (const json& size : member.at("array")) elements *= size.get<uint32_t>();
        if (elements == 0) fail(where + ", an array without a size.");
      }
      uint32_t memberBytes = 0;
      if (document_.at("types").contains(type)) {
        memberBytes = blockBytes(type);
        if (isArray) memberBytes = member.at("array_stride").get<uint32_t>();
      } else {
        const uint32_t count = components(type);
        if (count == 0) fail(where + " of type " + type + "; such a block holds 32-bit words only.");
        if (isArray && count != 4)
          fail(where + ", an array of " + type + "; HLSL packs it differently, so it has to be an array of uvec4.");
        memberBytes = 4 * count;
      }
      bytes = std::max(bytes, member.at("offset").get<uint32_t>() + elements * memberBytes);
    }
    return bytes;
  }

  void readPush() {
    const json& blocks = list("push_constants");
    if (blocks.empty()) return;
    for (const json& member : document_.at("types").at(blocks.at(0).at("type").get<std::string>()).at("members")) {
      ReflectedWord word{member.value("name", ""), member.at("type").get<std::string>(),
                         member.at("offset").get<uint32_t>()};
      const WordType* type = findGlslType(word.type);
      const bool isStructure = document_.at("types").contains(word.type);
      if (isStructure || member.contains("array"))
        fail("has in its push block the member " + word.name + ", " + (isStructure ? "a structure" : "an array") +
             "; a push block holds single words.");
      if (!type)
        fail("has in its push block the member " + word.name + " of type " + word.type + "; its types are " +
             wordTypeNames() + ".");
      result_.pushBytes = std::max(result_.pushBytes, word.offset + type->bytes);
      result_.push.push_back(std::move(word));
    }
    if (result_.pushBytes > kPushLimit)
      fail("has a push block of " + std::to_string(result_.pushBytes) + " bytes, above the limit of " +
           std::to_string(kPushLimit) + ".");
  }

  void readUniform() {
    const json& blocks = list("ubos");
    if (blocks.empty()) return;
    const json& block = blocks.at(0);
    if (blocks.size() > 1 || block.value("set", 0u) != 1 || block.value("binding", 0u) != 0 || block.contains("array"))
      fail("may have one uniform block, at binding 0 of set 1.");
    blockBytes(block.at("type").get<std::string>());
    result_.parameterBytes = block.at("block_size").get<uint32_t>();
  }

  void readSpecs() {
    for (const json& spec : list("specialization_constants"))
      result_.specs.push_back({spec.at("id").get<uint32_t>(), spec.value("type", ""), spec.value("name", "")});
    // That of local_size_x_id has no name, and stands beside the one that the interface declares.
    std::erase_if(result_.specs, [&](const ReflectedSpec& spec) {
      const auto named = [&](const ReflectedSpec& other) { return other.id == spec.id && !other.name.empty(); };
      return spec.name.empty() && std::ranges::any_of(result_.specs, named);
    });
    std::erase_if(result_.specs, [](const ReflectedSpec& spec) { return spec.id == dimple::kRoundedHalvesId; });
    std::ranges::sort(result_.specs, {}, &ReflectedSpec::id);
  }

  const json& document_;
  const std::string& kernel_;
  Interface result_;
};

}  // namespace

Interface reflect(const std::string& text, const std::string& kernel) {
  try {
    return Reader(json::parse(text), kernel).read();
  } catch (const json::exception& e) {
    throw Error("The reflection of the kernel " + kernel + " is not understood: " + e.what());
  }
}

}  // namespace kernelgen
