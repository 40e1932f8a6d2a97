#include "core/tensor.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace dimple;

namespace {

struct Desc {
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> strides;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{};

  Desc(DataType type, std::vector<uint32_t> s, std::vector<uint32_t> t, uint64_t bytes, uint32_t alignment = 0)
      : sizes(std::move(s)), strides(std::move(t)) {
    buffer = {type,
              DML_TENSOR_FLAG_NONE,
              static_cast<UINT>(sizes.size()),
              sizes.data(),
              strides.empty() ? nullptr : strides.data(),
              bytes,
              alignment};
    desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
  }
  Desc(const Desc&) = delete;
  Desc& operator=(const Desc&) = delete;
};

std::string refusal(const Desc& desc) {
  const auto parsed = parseTensor("ATensor", &desc.desc);
  return parsed ? "" : parsed.error().text;
}

// An enumeration's object with a value outside it, as a caller's memory can hold.
template <class E>
E outside(uint32_t value) {
  E result;
  static_assert(sizeof result == sizeof value);
  std::memcpy(&result, &value, sizeof value);
  return result;
}

constexpr auto kF32 = DML_TENSOR_DATA_TYPE_FLOAT32;

}  // namespace

TEST_CASE("implied sizes are the helper's, without its 32-bit overflow") {
  const auto bytes = [](DataType type, std::vector<uint32_t> sizes, std::vector<uint32_t> strides = {}) {
    return impliedBytes(type, sizes, strides).value();
  };
  CHECK(bytes(kF32, {2, 3}) == 24);
  CHECK(bytes(DML_TENSOR_DATA_TYPE_UINT8, {3}) == 4);
  CHECK(bytes(DML_TENSOR_DATA_TYPE_FLOAT16, {3}) == 8);
  CHECK(bytes(DML_TENSOR_DATA_TYPE_INT64, {3}) == 24);
  CHECK(bytes(DML_TENSOR_DATA_TYPE_UINT4, {3}) == 4);
  CHECK(bytes(kF32, {2, 3}, {5, 1}) == 32);
  CHECK(bytes(kF32, {100, 100}, {0, 0}) == 4);
  // (65536 * 65536 + 1 + 1) elements: the last index does not fit 32 bits.
  CHECK(bytes(kF32, {65537, 2}, {65536, 1}) == 17179869192ull);
  CHECK_FALSE(impliedBytes(DML_TENSOR_DATA_TYPE_FLOAT64, std::vector<uint32_t>(8, 0xffffffffu),
                           std::vector<uint32_t>(8, 0xffffffffu)));
}

TEST_CASE("a packed tensor gets row-major strides") {
  const Desc desc(kF32, {2, 3, 4}, {}, 96);
  const auto tensor = parseTensor("ATensor", &desc.desc);
  REQUIRE(tensor);
  CHECK(tensor->rank == 3);
  CHECK(tensor->strides[0] == 12);
  CHECK(tensor->strides[1] == 4);
  CHECK(tensor->strides[2] == 1);
  CHECK(tensor->elements == 24);
  CHECK(tensor->extent == 24);
  CHECK(tensor->baseAlignment == 16);
}

TEST_CASE("every rule of DML_BUFFER_TENSOR_DESC refuses with a sentence") {
  CHECK(parseTensor("ATensor", nullptr).error().text == "ATensor is null, but it is required.");
  const DML_TENSOR_DESC wrongType{DML_TENSOR_TYPE_INVALID, nullptr};
  CHECK(parseTensor("ATensor", &wrongType).error().text ==
        "ATensor has Type (0), expected DML_TENSOR_TYPE_BUFFER (1).");
  CHECK(refusal({DML_TENSOR_DATA_TYPE_UNKNOWN, {1}, {}, 4}) ==
        "ATensor has DataType (0), which is not a DML_TENSOR_DATA_TYPE.");
  CHECK(refusal({outside<DataType>(99), {1}, {}, 4}) ==
        "ATensor has DataType (99), which is not a DML_TENSOR_DATA_TYPE.");
  CHECK(refusal({kF32, {}, {}, 4}) == "ATensor has DimensionCount (0), outside 1..8.");
  CHECK(refusal({kF32, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {}, 4}) == "ATensor has DimensionCount (9), outside 1..8.");
  CHECK(refusal({kF32, {2, 0}, {}, 4}) == "ATensor has Sizes[1] (0), expected at least 1.");
  CHECK(refusal({kF32, {2, 3}, {}, 20}) ==
        "ATensor has TotalTensorSizeInBytes (20), expected at least 24, the size that its Sizes and Strides imply.");
  CHECK(refusal({kF32, {65537, 2}, {65536, 1}, 8}) ==
        "ATensor has TotalTensorSizeInBytes (8), expected at least 17179869192, the size that its Sizes and Strides "
        "imply.");
  CHECK(refusal({kF32, {65536, 65536}, {0, 0}, 4}) ==
        "ATensor has Sizes {65536, 65536} of more than 4294967295 elements.");
  CHECK(
      refusal({kF32, {2}, {}, 8, 3}) ==
      "ATensor has GuaranteedBaseOffsetAlignment (3), expected 0 or a power of two of at least the element size (4).");
  CHECK(
      refusal({kF32, {2}, {}, 8, 2}) ==
      "ATensor has GuaranteedBaseOffsetAlignment (2), expected 0 or a power of two of at least the element size (4).");
  Desc flags(kF32, {2}, {}, 8);
  flags.buffer.Flags = outside<DML_TENSOR_FLAGS>(2);
  CHECK(refusal(flags) == "ATensor has Flags (2), expected NONE (0) or OWNED_BY_DML (1).");
  Desc sizes(kF32, {2}, {}, 8);
  sizes.buffer.Sizes = nullptr;
  CHECK(refusal(sizes) == "ATensor has null Sizes, expected 1 values.");
}

TEST_CASE("limits are accepted from inside") {
  CHECK(refusal({kF32, {65535, 65537}, {0, 0}, 4}).empty());  // 2^32 - 1 elements
  CHECK(refusal({kF32, {2, 3}, {}, 25}).empty());             // any size from the implied one up
  CHECK(refusal({kF32, {2}, {}, 17179869180ull}).empty());
  CHECK_FALSE(refusal({kF32, {2}, {}, 17179869181ull}).empty());
  CHECK(refusal({kF32, {2}, {}, 8, 1u << 31}).empty());
  CHECK(refusal({DML_TENSOR_DATA_TYPE_UINT8, {1, 1, 1, 1, 1, 1, 1, 1}, {}, 4, 1}).empty());
}
