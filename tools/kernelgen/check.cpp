#include "tools/kernelgen/check.h"

#include <algorithm>
#include <cctype>

#include "tools/kernelgen/error.h"

namespace kernelgen {

namespace {

[[noreturn]] void fail(const Kernel& kernel, const std::string& sentence) {
  throw Error("The kernel " + kernel.name + " " + sentence);
}

// What common/types.glsl stores elements of T in.
std::string storedType(const Kernel& kernel) {
  const std::string_view type = dimple::kKernelTypeNames[size_t(kernel.id.type)];
  const std::string bits(type.empty() ? "32" : type.substr(1));
  if (bits == "64") return "uvec2";
  return kernel.id.native && bits != "32" ? "uint" + bits + "_t" : "uint";
}

// A block is named by its buffer, aBuffer; a further view of it may have more of a name, aVectorBuffer.
bool isViewOf(const std::string& block, const std::string& buffer) {
  if (!block.starts_with(buffer) || !block.ends_with("Buffer") || block.size() < buffer.size() + 6) return false;
  return std::isupper(static_cast<unsigned char>(block[buffer.size()])) != 0;
}

void checkView(const Kernel& kernel, const ReflectedView& view) {
  const std::vector<Buffer>& buffers = kernel.family.buffers;
  const Buffer& buffer = buffers[view.binding];
  // Where another buffer's name fits wholly, it is that one's.
  const auto whole = std::ranges::find_if(buffers, [&](const Buffer& b) { return view.block == b.name + "Buffer"; });
  if (whole == buffers.end() ? !isViewOf(view.block, buffer.name) : &*whole != &buffer)
    fail(kernel, "has the block " + view.block + " at binding " + std::to_string(view.binding) +
                     "; the manifest declares the buffer " + buffer.name + " there, whose block is " + buffer.name +
                     "Buffer.");
  std::string types;
  for (const std::string& declared : buffer.types) {
    const std::string type = declared == "T" ? storedType(kernel) : declared;
    if (view.type == type) return;
    types += (types.empty() ? "" : " or ") + type;
  }
  fail(kernel, "has elements of type " + view.type + " in the block " + view.block + "; the manifest declares " +
                   types + " for the buffer " + buffer.name + ".");
}

void checkBuffers(const Kernel& kernel, const Interface& interface) {
  const std::vector<Buffer>& buffers = kernel.family.buffers;
  if (interface.bindings.size() != buffers.size())
    fail(kernel, "has " + std::to_string(interface.bindings.size()) + " bindings; the manifest declares " +
                     std::to_string(buffers.size()) + " buffers.");
  for (size_t i = 0; i < buffers.size(); ++i)
    if (interface.bindings[i] != buffers[i].access)
      fail(kernel, "has access " + interface.bindings[i].text() + " to binding " + std::to_string(i) +
                       "; the manifest declares " + buffers[i].access.text() + " for the buffer " + buffers[i].name +
                       ".");
  for (const ReflectedView& view : interface.views) checkView(kernel, view);
}

std::string wordText(const std::string& type, const std::string& name, uint32_t offset) {
  return type + " " + name + " at byte " + std::to_string(offset);
}

// The words that a push block has to have.
std::vector<ReflectedWord> declaredPush(const Family& family) {
  std::vector<ReflectedWord> words;
  for (const char* name : kGridWords) words.push_back({name, "uint", uint32_t(4 * words.size())});
  for (const PushWord& word : family.push) words.push_back({word.name, std::string(word.type->glsl), word.offset});
  return words;
}

void checkWords(const Kernel& kernel, const std::vector<ReflectedWord>& has, const std::vector<ReflectedWord>& declared,
                const std::string& block) {
  for (size_t i = 0; i < std::max(has.size(), declared.size()); ++i) {
    const auto text = [&](const std::vector<ReflectedWord>& words) {
      return i < words.size() ? wordText(words[i].type, words[i].name, words[i].offset) : std::string("nothing");
    };
    if (i >= has.size() || i >= declared.size() || has[i] != declared[i])
      fail(kernel, "has as word " + std::to_string(i) + " of its " + block + " " + text(has) +
                       "; the manifest declares " + text(declared) + ".");
  }
}

void checkSpecs(const Kernel& kernel, const Interface& interface) {
  const std::vector<Spec>& specs = kernel.family.specs;
  for (const ReflectedSpec& spec : interface.specs) {
    const auto declared = std::ranges::find(specs, spec.id, &Spec::id);
    if (declared == specs.end())
      fail(kernel, "has the specialization constant " + std::to_string(spec.id) + " (" + spec.name +
                       "), which the manifest does not declare.");
    // The constant behind local_size_x_id has no name of its own.
    if (!spec.name.empty() && declared->name != spec.name)
      fail(kernel, "names the specialization constant " + std::to_string(spec.id) + " " + spec.name +
                       "; the manifest names it " + declared->name + ".");
    if (spec.type != declared->type->glsl)
      fail(kernel, "has the specialization constant " + declared->name + " of type " + spec.type +
                       "; the manifest declares " + std::string(declared->type->glsl) + ".");
  }
  for (const Spec& spec : specs) {
    if (std::ranges::find(interface.specs, spec.id, &ReflectedSpec::id) == interface.specs.end())
      fail(kernel,
           "has no specialization constant " + std::to_string(spec.id) + "; the manifest declares " + spec.name + ".");
    if (spec.values.empty())
      fail(kernel, "has no case label that is a DML_OPERATOR_ enumerator, so " + spec.name + " has no value.");
  }
}

}  // namespace

void checkAgainstManifest(const Kernel& kernel, const Interface& interface) {
  checkBuffers(kernel, interface);
  if (interface.push.empty() && kernel.family.hasPush())
    fail(kernel, "has no push block; the manifest declares push words, which interface.glsl has.");
  if (!interface.push.empty()) checkWords(kernel, interface.push, declaredPush(kernel.family), "push block");
  checkSpecs(kernel, interface);
}

void checkHlslAgainstManifest(const Kernel& kernel, const std::vector<ReflectedWord>& push,
                              const std::vector<ReflectedWord>& specs) {
  std::vector<ReflectedWord> declared = declaredPush(kernel.family);
  for (ReflectedWord& word : declared) word.type = findGlslType(word.type)->hlsl;
  if (!push.empty()) checkWords(kernel, push, declared, "push block in HLSL");
  declared.clear();
  for (const Spec& spec : kernel.family.specs)
    declared.push_back(
        {"specialization_" + std::to_string(spec.id), std::string(spec.type->hlsl), uint32_t(4 * declared.size())});
  checkWords(kernel, specs, declared, "specialization constants in HLSL");
}

}  // namespace kernelgen
