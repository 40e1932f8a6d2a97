// Which kernel: a value. What the manifest names is in generated files, kernels/interfaces/: ids.h has the enumerators
// of KernelFamily, and a header a family has what its kernels are given.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace dimple {

// The specialization constant INVOCATIONS, those of a workgroup: of kernels without it they are the module's.
constexpr uint32_t kInvocationsId = 16;

// The specialization constant ROUNDED_HALVES (common/types.glsl), which no plan sets: a back end does for its device.
constexpr uint32_t kRoundedHalvesId = 17;

// Kernels of one interface: the same push words, specialization constants and buffers.
enum class KernelFamily : uint16_t;

// What T is in a kernel's source: numbers, or bits that are only moved.
enum class KernelType : uint8_t { None, F32, F16, F64, I8, U8, I16, U16, I32, U32, I64, U64, B8, B16, B32, B64 };

// By KernelType, as the manifest and the names of kernels spell it.
constexpr std::string_view kKernelTypeNames[] = {"",    "f32", "f16", "f64", "i8", "u8",  "i16", "u16",
                                                 "i32", "u32", "i64", "u64", "b8", "b16", "b32", "b64"};

// The elements of a kernel that comes for words of 32 bits and, where `native`, for 8- and 16-bit storage.
struct KernelElement {
  constexpr KernelElement(KernelType elementType, bool isNative = false) : type(elementType), native(isNative) {}

  KernelType type;
  bool native;
};

struct KernelId {
  KernelFamily family{};
  uint8_t form = 0;  // a Form of the family; 0 where it has none
  KernelType type = KernelType::None;
  bool native = false;

  constexpr uint32_t order() const {
    return uint32_t{static_cast<uint16_t>(family)} << 16 | uint32_t{form} << 8 | static_cast<uint32_t>(type) << 1 |
           uint32_t{native};
  }
  constexpr bool operator==(const KernelId& other) const { return order() == other.order(); }
  constexpr std::strong_ordering operator<=>(const KernelId& other) const { return order() <=> other.order(); }
};

struct KernelName {
  KernelId id;
  std::string_view name;
};

// All kernels of the manifest, sorted by id.
std::span<const KernelName> kernelNames();

// The place of a kernel among all of them, and in the kernel table.
std::optional<size_t> kernelIndex(KernelId id);

// For people: "binary_packed.f32". Empty where the manifest has no such kernel.
std::string_view kernelName(KernelId id);
std::optional<KernelId> kernelNamed(std::string_view name);

}  // namespace dimple
