#include "tools/kernelgen/hlsl.h"

#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "kernels/kernel_id.h"
#include "tools/kernelgen/error.h"

namespace kernelgen {

namespace {

// SPIRV-Cross makes `static const uint NAME = SPIRV_CROSS_CONSTANT_ID_n;` of a specialization constant.
std::string specializationBlock(const Interface& interface, const std::map<uint32_t, std::string>& literals) {
  if (interface.specs.empty()) return {};
  std::string members;
  std::string macros;
  for (const ReflectedSpec& spec : interface.specs) {
    const WordType* type = findGlslType(spec.type);
    members += "    " + std::string(type ? type->hlsl : "uint") + " " + specializationMember(spec.id) + ";\n";
    macros += specializationMacro(spec.id);
    const auto literal = literals.find(spec.id);
    macros += literal == literals.end() ? specializationMember(spec.id) : literal->second;
    macros += '\n';
  }
  return "cbuffer Specialization : register(b1, space0)\n{\n" + members + "};\n" + macros;
}

// SPIRV-Cross calls GLSL's name for a 32 by 32 bit product, which HLSL does not have.
constexpr std::string_view kExtendedProduct = R"(void umulExtended(uint a, uint b, out uint high, out uint low)
{
    const uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
    const uint middle = ah * bl + ((al * bl) >> 16);
    high = ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffffu)) >> 16);
    low = a * b;
}
)";
constexpr std::string_view kWideProduct = R"(void umulExtended(uint a, uint b, out uint high, out uint low)
{
    const uint64_t product = uint64_t(a) * uint64_t(b);
    high = uint(product >> 32);
    low = uint(product);
}
)";

// What SPIRV-Cross makes of packHalf2x16, and of ROUNDED_HALVES (common/types.glsl).
constexpr std::string_view kConversion = "uint2 Packed = f32tof16(value);";
constexpr std::string_view kHalfConversion =
    "uint2 Packed = uint2(uint(asuint16(half(value.x))), uint(asuint16(half(value.y))));";
constexpr std::string_view kByIntegers = "#define SPIRV_CROSS_CONSTANT_ID_17 0u\n";
constexpr std::string_view kByConversions = "#define SPIRV_CROSS_CONSTANT_ID_17 1u\n";
static_assert(dimple::kRoundedHalvesId == 17);

// SPIRV-Cross makes a buffer of each view, and HLSL has one buffer at a register. All are of raw bytes, so that the
// first serves for those that follow it.
std::string joinViews(const std::string& hlsl) {
  constexpr std::string_view kBuffer = "RWByteAddressBuffer ";
  std::map<std::string, std::string> buffers;  // by their registers
  std::string text;
  std::istringstream lines(hlsl);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(" : register(");
    if (line.starts_with(kBuffer) && colon != line.npos) {
      const std::string name = line.substr(kBuffer.size(), colon - kBuffer.size());
      const auto [first, isNew] = buffers.emplace(line.substr(colon), name);
      if (!isNew) line = "#define " + name + " " + first->second;
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::string specializationMember(uint32_t id) { return "specialization_" + std::to_string(id); }

std::string specializationMacro(uint32_t id) { return "#define SPIRV_CROSS_CONSTANT_ID_" + std::to_string(id) + " "; }

std::string bindHlsl(const std::string& hlsl, const Interface& interface, const std::string& kernel,
                     const std::map<uint32_t, std::string>& literals) {
  std::string text = specializationBlock(interface, literals);
  if (hlsl.find("umulExtended(") != hlsl.npos) text += kExtendedProduct;
  size_t pushBlocks = 0;
  std::istringstream lines(joinViews(hlsl));
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kSize = "[numthreads(SPIRV_CROSS_CONSTANT_ID_";
    if (line.starts_with(kSize) && !line.starts_with(std::string(kSize) + std::to_string(dimple::kInvocationsId) + ","))
      throw Error("The kernel " + kernel +
                  " has a specialization constant for its workgroup size, which DXIL cannot say; make it a variant.");
    // Only the push block has no register.
    if (line.starts_with("cbuffer ") && line.find(':') == line.npos) {
      line += " : register(b0, space0)";
      ++pushBlocks;
    }
    text += line + '\n';
  }
  if (pushBlocks != (interface.pushBytes ? 1u : 0u))
    throw Error("The kernel " + kernel + " has " + std::to_string(pushBlocks) +
                " constant buffers without a register in its HLSL; only the push block is expected to have none.");
  return text;
}

bool hasProducts(const std::string& hlsl) { return hlsl.find(kExtendedProduct) != hlsl.npos; }

std::string withWideProducts(std::string hlsl) {
  if (const size_t at = hlsl.find(kExtendedProduct); at != hlsl.npos)
    hlsl.replace(at, kExtendedProduct.size(), kWideProduct);
  return hlsl;
}

bool convertsToHalves(const std::string& hlsl) { return hlsl.find(kConversion) != hlsl.npos; }

std::string withHalfConversions(std::string hlsl) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    const size_t at = hlsl.find(from);
    if (at == hlsl.npos) throw Error("HLSL that converts to FLOAT16 has no line '" + std::string(from) + "'.");
    hlsl.replace(at, from.size(), to);
  };
  replace(kConversion, kHalfConversion);
  replace(kByIntegers, kByConversions);
  return hlsl;
}

std::vector<ReflectedWord> hlslWords(const std::string& hlsl, const std::string& buffer) {
  const std::string head = "cbuffer " + buffer + " :";
  const size_t found = hlsl.starts_with(head) ? 0 : hlsl.find("\n" + head);
  if (found == hlsl.npos) return {};
  std::vector<ReflectedWord> words;
  std::istringstream lines(hlsl.substr(hlsl.find('{', found) + 2));
  for (std::string line; std::getline(lines, line) && line != "};";) {
    std::istringstream parts(line);
    ReflectedWord word;
    parts >> word.type >> word.name;
    // Without a packoffset words follow each other: those of 32 bits, which all specialization constants have.
    word.offset = uint32_t(4 * words.size());
    if (const size_t at = line.find("packoffset(c"); at != line.npos) {
      size_t digits = 0;
      word.offset = 16 * uint32_t(std::stoul(line.substr(at + 12), &digits));
      const char component = line[at + 12 + digits] == '.' ? line[at + 13 + digits] : 'x';
      word.offset += 4 * uint32_t(std::string_view("xyzw").find(component));
    }
    if (word.name.ends_with(";")) word.name.pop_back();
    if (word.name.starts_with("push_")) word.name.erase(0, 5);
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace kernelgen
