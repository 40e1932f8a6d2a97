// The oracle checked by hand-computed values.
#include "tests/oracle/oracle_test.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace {

using oracle::Array;
using oracle::compare;
using oracle::read;
using oracle::Result;
using oracle::write;
using namespace oracle_test;

Result unary(DML_OPERATOR_TYPE type, const Array& in, const DML_SCALE_BIAS* scaleBias = nullptr) {
  const Described tensor(in.type, in.sizes);
  const DML_ELEMENT_WISE_EXP_OPERATOR_DESC desc{&tensor.tensor, &tensor.tensor, scaleBias};
  return evaluateOne(type, &desc, {in});
}

Result clip(const Array& in, float least, float most, const DML_SCALE_BIAS* scaleBias = nullptr) {
  const Described tensor(in.type, in.sizes);
  const DML_ELEMENT_WISE_CLIP_OPERATOR_DESC desc{&tensor.tensor, &tensor.tensor, scaleBias, least, most};
  return evaluateOne(DML_OPERATOR_ELEMENT_WISE_CLIP, &desc, {in});
}

Result binary(DML_OPERATOR_TYPE type, const Array& a, const Array& b) {
  const Described tensor(a.type, a.sizes);
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC desc{&tensor.tensor, &tensor.tensor, &tensor.tensor};
  return evaluateOne(type, &desc, {a, b});
}

Result cast(const Array& in, DML_TENSOR_DATA_TYPE to) {
  const Described from(in.type, in.sizes);
  const Described output(to, in.sizes);
  const DML_CAST_OPERATOR_DESC desc{&from.tensor, &output.tensor};
  return evaluateOne(DML_OPERATOR_CAST, &desc, {in});
}

std::vector<int64_t> castWhole(DML_TENSOR_DATA_TYPE from, std::vector<int64_t> values, DML_TENSOR_DATA_TYPE to) {
  return cast(wholes(from, {static_cast<uint32_t>(values.size())}, values), to).value.whole;
}

std::vector<int64_t> castReal(DML_TENSOR_DATA_TYPE from, std::vector<double> values, DML_TENSOR_DATA_TYPE to) {
  return cast(reals(from, {static_cast<uint32_t>(values.size())}, values), to).value.whole;
}

}  // namespace

TEST_CASE("oracle: half precision conversion") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double value = oracle::doubleFromHalf(half);
    if (std::isnan(value)) {
      CHECK((oracle::halfFromDouble(value) & 0x7FFF) == 0x7E00);
      continue;
    }
    REQUIRE(oracle::halfFromDouble(value) == half);
    if ((half & 0x7FFF) >= 0x7BFF) continue;
    // Between two neighbours the nearer wins, and halfway the one whose last bit is 0.
    const double next = oracle::doubleFromHalf(static_cast<uint16_t>(half + 1));
    const double middle = (value + next) / 2;
    REQUIRE(oracle::halfFromDouble(middle) == half + (half & 1));
    REQUIRE(oracle::halfFromDouble(std::nextafter(middle, value)) == half);
    REQUIRE(oracle::halfFromDouble(std::nextafter(middle, next)) == half + 1);
  }
  CHECK(oracle::halfFromDouble(65519.99) == 0x7BFF);
  CHECK(oracle::halfFromDouble(65520) == 0x7C00);
  CHECK(oracle::halfFromDouble(-1e300) == 0xFC00);
  CHECK(oracle::halfFromDouble(0x1p-25) == 0);
  CHECK(oracle::halfFromDouble(std::nextafter(0x1p-25, 1.0)) == 1);
  CHECK(oracle::halfFromDouble(-0.0) == 0x8000);
  CHECK(oracle::doubleFromHalf(0x3555) == doctest::Approx(0.333251953125));
}

TEST_CASE("oracle: spacing") {
  CHECK(oracle::spacing(kF32, 1.0) == 0x1p-23);
  CHECK(oracle::spacing(kF32, -1.99) == 0x1p-23);
  CHECK(oracle::spacing(kF32, 2.0) == 0x1p-22);
  CHECK(oracle::spacing(kF32, 0) == 0x1p-149);
  CHECK(oracle::spacing(kF32, 1e-40) == 0x1p-149);
  CHECK(oracle::spacing(kF16, 65504) == 32);
  CHECK(oracle::spacing(kF16, 0) == 0x1p-24);
  CHECK(oracle::spacing(kF64, 1.0) == 0x1p-52);
}

TEST_CASE("oracle: reading and writing through strides") {
  const std::vector<uint16_t> memory = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto bytes = std::as_bytes(std::span(memory));
  CHECK(read(Described(kU16, {2, 3}).buffer, bytes).whole == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(read(Described(kU16, {2, 3}, {5, 1}).buffer, bytes).whole == std::vector<int64_t>{1, 2, 3, 6, 7, 8});
  CHECK(read(Described(kU16, {2, 3}, {0, 1}).buffer, bytes).whole == std::vector<int64_t>{1, 2, 3, 1, 2, 3});
  CHECK(read(Described(kU16, {2, 3}, {1, 2}).buffer, bytes).whole == std::vector<int64_t>{1, 3, 5, 2, 4, 6});
  CHECK(read(Described(kU16, {1, 2, 1, 2, 1, 1, 2, 1}, {9, 4, 9, 2, 9, 9, 1, 9}).buffer, bytes).whole ==
        std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK_THROWS_AS(read(Described(kU16, {2, 3}, {8, 1}).buffer, bytes), std::invalid_argument);

  std::vector<uint8_t> out(8, 0xCD);
  write(Described(kI8, {2, 2}, {4, 1}).buffer, wholes(kI8, {2, 2}, {-1, 2, 3, -128}),
        std::as_writable_bytes(std::span(out)));
  CHECK(out == std::vector<uint8_t>{0xFF, 2, 0xCD, 0xCD, 3, 0x80, 0xCD, 0xCD});
}

TEST_CASE("oracle: every data type survives memory") {
  const std::pair<DML_TENSOR_DATA_TYPE, std::vector<int64_t>> integers[] = {
      {kI8, {-128, 127}},       {kU8, {0, 255}},         {kI16, {-32768, 32767}},   {kU16, {0, 65535}},
      {kI32, {-2147483648, 1}}, {kU32, {0, 4294967295}}, {kI64, {kLeast64, 12345}}, {kU64, {-1, 1}},
  };
  std::vector<std::byte> memory(16);
  for (const auto& [type, values] : integers) {
    const Described tensor(type, {2});
    write(tensor.buffer, wholes(type, {2}, values), memory);
    CHECK(read(tensor.buffer, memory).whole == values);
  }
  for (auto type : {kF16, kF32, kF64}) {
    const Described tensor(type, {2});
    for (double value : {0.5, -0.0, 1024.0, 0x1p-24, kInf, kNaN}) {
      write(tensor.buffer, reals(type, {2}, {value, -value}), memory);
      CHECK(same(read(tensor.buffer, memory).real, {value, -value}));
    }
  }
  const Described single(kF32, {1});
  write(single.buffer, reals(kF32, {1}, {0.1}), memory);
  CHECK(read(single.buffer, memory).real[0] == static_cast<double>(0.1f));
  CHECK_THROWS_AS(oracle::elementBytes(DML_TENSOR_DATA_TYPE_UINT4), std::invalid_argument);
}

TEST_CASE("oracle: what it knows") {
  CHECK(oracle::knows(DML_OPERATOR_ELEMENT_WISE_ADD1));
  CHECK(oracle::knows(DML_OPERATOR_ACTIVATION_SIGMOID));
  CHECK(oracle::knows(DML_OPERATOR_SCATTER_ND));
  CHECK_FALSE(oracle::knows(DML_OPERATOR_INVALID));
  const DML_OPERATOR_DESC desc{DML_OPERATOR_GEMM, nullptr};
  CHECK_THROWS_AS(oracle::evaluate(desc, {}), std::invalid_argument);
}

TEST_CASE("oracle: floating-point unary functions") {
  const Array in = reals(kF32, {6}, {-1, -0.0, 4, kInf, -kInf, kNaN});
  CHECK(same(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, in).value.real, in.real));
  CHECK(same(unary(DML_OPERATOR_ELEMENT_WISE_ABS, in).value.real, {1, 0, 4, kInf, kInf, kNaN}));
  CHECK(same(unary(DML_OPERATOR_ELEMENT_WISE_SQRT, in).value.real, {kNaN, -0.0, 2, kInf, kNaN, kNaN}));
  CHECK(same(unary(DML_OPERATOR_ELEMENT_WISE_EXP, in).value.real, {std::exp(-1.0), 1, std::exp(4.0), kInf, 0, kNaN}));
  CHECK(same(unary(DML_OPERATOR_ELEMENT_WISE_NEGATE, in).value.real, {1, 0.0, -4, -kInf, kInf, kNaN}));
  CHECK(same(unary(DML_OPERATOR_ACTIVATION_SIGMOID, reals(kF32, {4}, {0, kInf, -kInf, kNaN})).value.real,
             {0.5, 1, 0, kNaN}));
  const Result relu = unary(DML_OPERATOR_ACTIVATION_RELU, in);
  CHECK(compare(relu, reals(kF32, {6}, {0, -0.0, 4, kInf, 0, 0})).ok);
  CHECK_FALSE(compare(relu, reals(kF32, {6}, {0, 0, 4, kInf, 0, kNaN})).ok);
}

TEST_CASE("oracle: integer unary functions") {
  const auto of = [](DML_OPERATOR_TYPE type, DML_TENSOR_DATA_TYPE dataType, std::vector<int64_t> values) {
    return unary(type, wholes(dataType, {static_cast<uint32_t>(values.size())}, values)).value.whole;
  };
  using List = std::vector<int64_t>;
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ABS, kI8, {-128, -1, 5}) == List{127, 1, 5});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ABS, kI16, {-32768}) == List{32767});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ABS, kI32, {-2147483648, -7}) == List{-2147483648, 7});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ABS, kI64, {kLeast64, -7}) == List{kLeast64, 7});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_NEGATE, kI8, {-128, 127, 0}) == List{127, -127, 0});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_NEGATE, kI64, {kLeast64, 3}) == List{kLeast64, -3});
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_IDENTITY, kU64, {-1, 3}) == List{-1, 3});
  CHECK(of(DML_OPERATOR_ACTIVATION_RELU, kI32, {-3, 3}) == List{0, 3});
  CHECK_THROWS_AS(of(DML_OPERATOR_ELEMENT_WISE_EXP, kI32, {1}), std::invalid_argument);
}

TEST_CASE("oracle: clip") {
  const Array in = reals(kF32, {4}, {-3, 0.5, kNaN, kInf});
  CHECK(same(clip(in, -1.5f, 1.25f).value.real, {-1.5, 0.5, 1.25, 1.25}));
  CHECK(same(clip(in, 2, -1).value.real, {2, 2, 2, 2}));
  CHECK(same(clip(in, static_cast<float>(kNaN), 1).value.real, {-3, 0.5, 1, 1}));
  using List = std::vector<int64_t>;
  const Array bytes = wholes(kI8, {5}, {-128, -2, 0, 3, 127});
  CHECK(clip(bytes, -1.5f, 2.5f).value.whole == List{-1, -1, 0, 2, 2});
  CHECK(clip(bytes, 0.9f, 3.9f).value.whole == List{0, 0, 0, 3, 3});
  CHECK(clip(bytes, -300, 300).value.whole == bytes.whole);
  CHECK(clip(bytes, 3, 1).value.whole == List{3, 3, 3, 3, 3});
  CHECK(clip(bytes, 16777216, 2e18f).value.whole == List{127, 127, 127, 127, 127});
  CHECK(clip(wholes(kU8, {2}, {0, 200}), -5, -2).value.whole == List{0, 0});
  CHECK(clip(wholes(kI64, {3}, {-3, 4000000000, -4000000000}), -3e9f, 2e9f).value.whole ==
        List{-3, 2000000000, -3000000000});
  CHECK(clip(wholes(kU64, {2}, {-1, 5}), 7, 2e18f).value.whole == List{1999999968613498880, 7});
  const DML_SCALE_BIAS scaleBias{2, 1};
  CHECK(clip(wholes(kI32, {4}, {1, 2, 3, 4}), 0, 5, &scaleBias).value.whole == List{3, 5, 5, 5});
}

TEST_CASE("oracle: scale and bias") {
  const DML_SCALE_BIAS none{1, 0};
  const DML_SCALE_BIAS half{1.5f, 0.25f};
  using List = std::vector<int64_t>;
  CHECK(
      unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kI8, {11}, {-128, -127, -3, -1, 0, 1, 2, 3, 5, 126, 127}), &half)
          .value.whole == List{-128, -128, -4, -1, 0, 1, 3, 4, 7, 127, 127});
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kU8, {2}, {3, 254}), &half).value.whole == List{4, 255});
  const DML_SCALE_BIAS affine{2, 1};
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kI32, {2}, {16777217, 1000000007}), &affine).value.whole ==
        List{33554432, 2000000000});
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_ABS, wholes(kI32, {1}, {-2147483647}), &affine).value.whole ==
        List{-2147483648});
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kI32, {1}, {16777217}), &none).value.whole == List{16777217});
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kI64, {1}, {-5}), &none).value.whole == List{-5});
  CHECK_THROWS_AS(unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, wholes(kI64, {1}, {-5}), &half), std::invalid_argument);

  const DML_SCALE_BIAS cancelling{2, -1};
  const Result abs = unary(DML_OPERATOR_ELEMENT_WISE_ABS, reals(kF32, {1}, {-1}), &cancelling);
  CHECK(abs.value.real[0] == 3);
  const DML_SCALE_BIAS large{3, -60000};
  CHECK(unary(DML_OPERATOR_ELEMENT_WISE_ABS, reals(kF16, {1}, {30000}), &large).value.real[0] == 30000);
}

TEST_CASE("oracle: conditioning by scale and bias becomes slack") {
  const DML_SCALE_BIAS cancelling{3, -1};
  const double third = static_cast<double>(1.0f / 3);
  const Result result = unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, reals(kF32, {1}, {third}), &cancelling);
  CHECK(accepts(result, 0));              // the product rounded before the sum
  CHECK(accepts(result, 3 * third - 1));  // fused
  CHECK_FALSE(accepts(result, 0x1p-20));
  const DML_SCALE_BIAS steep{100, 0};
  const Result exp = unary(DML_OPERATOR_ELEMENT_WISE_EXP, reals(kF32, {1}, {static_cast<double>(0.8f)}), &steep);
  const double argument = static_cast<double>(0.8f * 100.0f);
  CHECK(accepts(exp, oracle::roundTo(kF32, std::exp(argument))));
  CHECK_FALSE(accepts(exp, oracle::roundTo(kF32, std::exp(argument * (1 + 1e-5)))));
}

TEST_CASE("oracle: integer arithmetic wraps") {
  const auto of = [](DML_OPERATOR_TYPE type, DML_TENSOR_DATA_TYPE dataType, int64_t a, int64_t b) {
    return binary(type, wholes(dataType, {1}, {a}), wholes(dataType, {1}, {b})).value.whole[0];
  };
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ADD, kI8, 127, 1) == -128);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ADD, kI8, 100, 100) == -56);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_SUBTRACT, kU8, 0, 1) == 255);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_SUBTRACT, kU64, 0, 1) == -1);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, kI8, -128, -1) == -128);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, kI8, 100, 100) == 16);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, kI64, kLeast64, -1) == kLeast64);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_ADD, kI64, std::numeric_limits<int64_t>::max(), 1) == kLeast64);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kI32, -7, 2) == -3);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kI32, 7, -2) == -3);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kI8, -128, -1) == -128);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kI64, kLeast64, -1) == kLeast64);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kU64, -1, 2) == std::numeric_limits<int64_t>::max());
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kU16, 3, 0) == 65535);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, kU64, 3, 0) == -1);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MAX, kU64, -1, 1) == -1);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MAX, kI64, -1, 1) == 1);
  CHECK(of(DML_OPERATOR_ELEMENT_WISE_MIN, kU64, -1, 1) == 1);
  const Result unspecified =
      binary(DML_OPERATOR_ELEMENT_WISE_DIVIDE, wholes(kI32, {2}, {5, 6}), wholes(kI32, {2}, {0, 2}));
  CHECK(compare(unspecified, wholes(kI32, {2}, {-99, 3})).ok);
  CHECK_FALSE(compare(unspecified, wholes(kI32, {2}, {-99, 4})).ok);
}

TEST_CASE("oracle: floating-point binary functions") {
  const auto of = [](DML_OPERATOR_TYPE type, double a, double b) {
    return binary(type, reals(kF32, {1}, {a}), reals(kF32, {1}, {b})).value.real;
  };
  using List = std::vector<double>;
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_ADD, 1.5, 2), List{3.5}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_SUBTRACT, kInf, kInf), List{kNaN}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, kInf, 0), List{kNaN}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, 1, -0.0), List{-kInf}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_DIVIDE, 0, 0), List{kNaN}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_MAX, kNaN, 1), List{1}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_MAX, 1, kNaN), List{1}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_MIN, -kInf, kNaN), List{-kInf}));
  CHECK(same(of(DML_OPERATOR_ELEMENT_WISE_MIN, kNaN, kNaN), List{kNaN}));
  const Result halves = binary(DML_OPERATOR_ELEMENT_WISE_ADD, reals(kF16, {1}, {60000}), reals(kF16, {1}, {60000}));
  CHECK(accepts(halves, kInf));
  CHECK_FALSE(accepts(halves, 65504));
  const Result zeros = binary(DML_OPERATOR_ELEMENT_WISE_MAX, reals(kF32, {1}, {0}), reals(kF32, {1}, {-0.0}));
  CHECK(accepts(zeros, 0));
  CHECK(accepts(zeros, -0.0));
}

TEST_CASE("oracle: flushed denormals") {
  const Result quotient =
      binary(DML_OPERATOR_ELEMENT_WISE_DIVIDE, reals(kF32, {1}, {1e-20}), reals(kF32, {1}, {1e-40}));
  CHECK(accepts(quotient, oracle::roundTo(kF32, 1e20)));
  CHECK(accepts(quotient, kInf));
  const Result root = unary(DML_OPERATOR_ELEMENT_WISE_SQRT, reals(kF32, {1}, {1e-40}));
  CHECK(accepts(root, 1e-20));
  CHECK(accepts(root, 0));
  CHECK_FALSE(accepts(root, 1e-19));
  const Result product =
      binary(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, reals(kF32, {1}, {1e-20}), reals(kF32, {1}, {1e-20}));
  CHECK(accepts(product, 0));
  CHECK(accepts(product, oracle::roundTo(kF32, 1e-40)));
  const Result identity = unary(DML_OPERATOR_ELEMENT_WISE_IDENTITY, reals(kF32, {1}, {0x1p-140}));
  CHECK(accepts(identity, 0x1p-140));
  CHECK_FALSE(accepts(identity, 0));
}

TEST_CASE("oracle: ADD1 with and without a fused activation") {
  const Described tensor(kF32, {4});
  const Array a = reals(kF32, {4}, {1, -3, 0.5, kNaN});
  const Array b = reals(kF32, {4}, {2, 1, -0.5, 0});
  DML_ELEMENT_WISE_ADD1_OPERATOR_DESC desc{&tensor.tensor, &tensor.tensor, &tensor.tensor, nullptr};
  const auto run = [&] { return evaluateOne(DML_OPERATOR_ELEMENT_WISE_ADD1, &desc, {a, b}); };
  CHECK(same(run().value.real, {3, -2, 0, kNaN}));

  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{};
  const DML_OPERATOR_DESC fusedRelu{DML_OPERATOR_ACTIVATION_RELU, &relu};
  desc.FusedActivation = &fusedRelu;
  CHECK(compare(run(), reals(kF32, {4}, {3, 0, -0.0, kNaN})).ok);
  CHECK(compare(run(), reals(kF32, {4}, {3, 0, 0, 0})).ok);
  CHECK_FALSE(compare(run(), reals(kF32, {4}, {3, 1e-5, 0, 0})).ok);

  const DML_ACTIVATION_SIGMOID_OPERATOR_DESC sigmoid{};
  const DML_OPERATOR_DESC fusedSigmoid{DML_OPERATOR_ACTIVATION_SIGMOID, &sigmoid};
  desc.FusedActivation = &fusedSigmoid;
  CHECK(run().value.real[2] == 0.5);
  CHECK(run().value.real[0] == doctest::Approx(0.9525741268224334));

  const DML_ACTIVATION_LINEAR_OPERATOR_DESC linear{nullptr, nullptr, 2, 10};
  const DML_OPERATOR_DESC fusedLinear{DML_OPERATOR_ACTIVATION_LINEAR, &linear};
  desc.FusedActivation = &fusedLinear;
  CHECK(same(run().value.real, {16, 6, 10, kNaN}));

  const DML_ACTIVATION_SHRINK_OPERATOR_DESC shrink{nullptr, nullptr, 0.5f, 1};
  const DML_OPERATOR_DESC fusedShrink{DML_OPERATOR_ACTIVATION_SHRINK, &shrink};
  desc.FusedActivation = &fusedShrink;
  CHECK(same(run().value.real, {2.5, -1.5, 0, kNaN}));
}

TEST_CASE("oracle: IF") {
  const Described condition(kU8, {8});
  const Described data(kI64, {8});
  const DML_ELEMENT_WISE_IF_OPERATOR_DESC desc{&condition.tensor, &data.tensor, &data.tensor, &data.tensor};
  const Result result = evaluateOne(
      DML_OPERATOR_ELEMENT_WISE_IF, &desc,
      {wholes(kU8, {8}, {0, 1, 2, 255, 128, 127, 0, 64}), wholes(kI64, {8}, {1, 2, 3, 4, 5, 6, 7, kLeast64}),
       wholes(kI64, {8}, {-1, -2, -3, -4, -5, -6, -7, -8})});
  CHECK(result.value.whole == std::vector<int64_t>{-1, 2, 3, 4, 5, 6, -7, kLeast64});
}

TEST_CASE("oracle: CAST from floating point") {
  using List = std::vector<int64_t>;
  CHECK(castReal(kF32, {0.5, 1.5, -0.5, -1.5, -5.7, kNaN, -0.0, 1e-40}, kI32) == List{0, 1, 0, -1, -5, 0, 0, 0});
  CHECK(castReal(kF32, {128, 300, kInf, -129, -kInf}, kI8) == List{127, 127, 127, -128, -128});
  CHECK(castReal(kF16, {-1, -200, -kInf, 256, kInf}, kU8) == List{0, 0, 0, 255, 255});
  CHECK(castReal(kF64, {2147483648.0, 1e30, -1e30}, kI32) == List{2147483647, 2147483647, -2147483648});
  CHECK(castReal(kF32, {4294967040.0, 4294967296.0, -3}, kU32) == List{4294967040, 4294967295, 0});
  CHECK(castReal(kF32, {0x1p62, 0x1p63, -0x1p63, -0x1p70, -3000000000.0}, kI64) ==
        List{int64_t{1} << 62, std::numeric_limits<int64_t>::max(), kLeast64, kLeast64, -3000000000});
  CHECK(castReal(kF64, {0x1p63, 0x1p64, -1}, kU64) == List{kLeast64, -1, 0});
  CHECK(compare(cast(reals(kF64, {4}, {0.1, 1e300, 5e-324, -0.0}), kF32),
                reals(kF32, {4}, {static_cast<double>(0.1f), kInf, 0, -0.0}))
            .ok);
  CHECK(compare(cast(reals(kF32, {5}, {1.00146484375, 2051, 65519, 65520, -0x1p-24}), kF16),
                reals(kF16, {5}, {1.001953125, 2052, 65504, kInf, -0x1p-24}))
            .ok);
  const Result twice = cast(reals(kF64, {1}, {1 + 0x1p-11 + 0x1p-40}), kF16);
  CHECK(accepts(twice, 1 + 0x1p-10));
  CHECK(accepts(twice, 1));
  CHECK_FALSE(accepts(cast(reals(kF64, {1}, {1 + 0x1p-11 + 0x1p-20}), kF16), 1));
}

TEST_CASE("oracle: CAST from integers") {
  using List = std::vector<int64_t>;
  CHECK(castWhole(kI32, {300, 256, -1, -40000}, kU8) == List{255, 255, 255, 255});
  CHECK(castWhole(kI8, {-128, -1}, kU8) == List{255, 255});
  CHECK(castWhole(kI8, {-1}, kU16) == List{65535});
  CHECK(castWhole(kU8, {200, 5}, kI8) == List{127, 5});
  CHECK(castWhole(kI16, {-129, 200}, kI8) == List{-128, 127});
  CHECK(castWhole(kI32, {40000, -40000}, kI16) == List{32767, -32768});
  CHECK(castWhole(kU32, {2147483648, 4294967295}, kI8) == List{-128, -1});
  CHECK(castWhole(kU32, {4294967295}, kI32) == List{-1});
  CHECK(castWhole(kI32, {-1}, kU32) == List{4294967295});
  CHECK(castWhole(kI64, {4294967301, 4294967296, int64_t{1} << 62}, kI8) == List{5, 0, 0});
  CHECK(castWhole(kI64, {4294967301, -2147483649}, kI32) == List{5, 2147483647});
  CHECK(castWhole(kI64, {-2147483649}, kI8) == List{127});
  CHECK(castWhole(kI8, {-1}, kU64) == List{-1});
  CHECK(castWhole(kI8, {-1}, kU32) == List{4294967295});
  CHECK(castWhole(kU32, {4294967295}, kI64) == List{4294967295});
  CHECK(cast(wholes(kI32, {2}, {16777217, 16777219}), kF32).value.real == std::vector<double>{16777216, 16777220});
  CHECK(cast(wholes(kU64, {2}, {-1, 1}), kF32).value.real == std::vector<double>{0x1p64, 1});
  // Rounding to double first would make a tie of this value and lose its last bit.
  CHECK(cast(wholes(kI64, {1}, {(int64_t{1} << 60) + (int64_t{1} << 36) + 1}), kF32).value.real[0] == 0x1p60 + 0x1p37);
  CHECK(cast(wholes(kI64, {1}, {9007199254740993}), kF64).value.real[0] == 9007199254740992.0);
  CHECK(accepts(cast(wholes(kU32, {1}, {70000}), kF16), kInf));
}

TEST_CASE("oracle: SLICE1 backwards, and short of its window") {
  const Described input(kI32, {8});
  const Array in = wholes(kI32, {8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto run = [&](UINT offset, UINT size, INT stride, uint32_t count) {
    const Described output(kI32, {count});
    const DML_SLICE1_OPERATOR_DESC desc{&input.tensor, &output.tensor, 1, &offset, &size, &stride};
    return evaluateOne(DML_OPERATOR_SLICE1, &desc, {in}).value.whole;
  };
  using List = std::vector<int64_t>;
  CHECK(run(1, 6, -2, 3) == List{6, 4, 2});
  CHECK(run(1, 5, -2, 3) == List{5, 3, 1});
  CHECK(run(1, 6, -2, 2) == List{6, 4});
  CHECK(run(2, 1, std::numeric_limits<INT>::min(), 1) == List{2});
  CHECK_THROWS_AS(run(0, 8, 4, 3), std::invalid_argument);
}

TEST_CASE("oracle: JOIN on the first and on a middle axis") {
  const Described a(kU8, {1, 2, 2});
  const Described b(kU8, {1, 1, 2});
  const DML_TENSOR_DESC tensors[] = {a.tensor, b.tensor, a.tensor};
  const Described output(kU8, {1, 5, 2});
  const DML_JOIN_OPERATOR_DESC desc{3, tensors, &output.tensor, 1};
  const Array first = wholes(kU8, {1, 2, 2}, {1, 2, 3, 4});
  CHECK(evaluateOne(DML_OPERATOR_JOIN, &desc, {first, wholes(kU8, {1, 1, 2}, {9, 8}), first}).value.whole ==
        std::vector<int64_t>{1, 2, 3, 4, 9, 8, 1, 2, 3, 4});
}

TEST_CASE("oracle: GATHER aligns to the right") {
  const auto run = [](const Array& in, const Array& indices, UINT axis, UINT dimensions, std::vector<uint32_t> sizes) {
    const Described input(in.type, in.sizes);
    const Described index(indices.type, indices.sizes);
    const Described output(in.type, std::move(sizes));
    const DML_GATHER_OPERATOR_DESC desc{&input.tensor, &index.tensor, &output.tensor, axis, dimensions};
    return evaluateOne(DML_OPERATOR_GATHER, &desc, {in, indices});
  };
  using List = std::vector<int64_t>;
  const Array rows = wholes(kI16, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(run(rows, wholes(kU32, {1, 2, 2}, {0, 1, 1, 0}), 1, 2, {2, 2, 3}).value.whole ==
        List{1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3});
  CHECK(run(rows, wholes(kI32, {1, 1, 2}, {-1, 0}), 2, 1, {1, 2, 2}).value.whole == List{3, 1, 6, 4});
  CHECK(run(rows, wholes(kI64, {1, 1, 1}, {-1}), 1, 0, {1, 1, 3}).value.whole == List{4, 5, 6});
  CHECK(run(wholes(kI16, {2, 1}, {7, 9}), wholes(kU64, {1, 1}, {1}), 0, 0, {1, 1}).value.whole == List{9});
  // The leading 2 of the input finds no place and its first row is read.
  CHECK(run(wholes(kI16, {2, 3}, {1, 2, 3, 4, 5, 6}), wholes(kU32, {2, 2}, {0, 2, 1, 1}), 1, 2, {2, 2}).value.whole ==
        List{1, 3, 2, 2});
  CHECK_THROWS_AS(run(rows, wholes(kU32, {1, 1, 2}, {0, 1}), 1, 1, {1, 3, 2}), std::invalid_argument);
  const Result outside = run(rows, wholes(kU32, {1, 1, 2}, {0, 7}), 2, 1, {1, 2, 2});
  CHECK(compare(outside, wholes(kI16, {1, 2, 2}, {1, 77, 4, 99})).ok);
  CHECK_FALSE(compare(outside, wholes(kI16, {1, 2, 2}, {2, 77, 4, 99})).ok);
}

TEST_CASE("oracle: SCATTER_ND replaces rows, counts from the end and skips what is outside") {
  const auto run = [](const Array& in, const Array& indices, const Array& updates, UINT inDimensions,
                      UINT indexDimensions) {
    const Described input(in.type, in.sizes);
    const Described index(indices.type, indices.sizes);
    const Described update(updates.type, updates.sizes);
    const DML_SCATTER_ND_OPERATOR_DESC desc{&input.tensor, &index.tensor, &update.tensor,
                                            &input.tensor, inDimensions,  indexDimensions};
    return evaluateOne(DML_OPERATOR_SCATTER_ND, &desc, {in, indices, updates});
  };
  using List = std::vector<int64_t>;
  const Array table = wholes(kI32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(run(table, wholes(kU32, {2, 1}, {2, 0}), wholes(kI32, {2, 2}, {90, 91, 92, 93}), 2, 2).value.whole ==
        List{92, 93, 3, 4, 90, 91, 7, 8});
  CHECK(run(table, wholes(kI64, {2, 2}, {-1, -2, 1, 1}), wholes(kI32, {1, 2}, {90, 91}), 2, 2).value.whole ==
        List{1, 2, 3, 91, 5, 6, 90, 8});
  CHECK(run(wholes(kI32, {8}, {0, 1, 2, 3, 4, 5, 6, 7}), wholes(kI32, {6, 1}, {-9, 8, 9, 100, -100, 2}),
            wholes(kI32, {6}, {50, 51, 52, 53, 54, 55}), 1, 2)
            .value.whole == List{0, 1, 55, 3, 4, 5, 6, 7});
  CHECK(run(wholes(kI32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), wholes(kU32, {1, 1, 1, 1}, {1}),
            wholes(kI32, {1, 1, 1, 3}, {7, 8, 9}), 2, 2)
            .value.whole == List{1, 2, 3, 7, 8, 9});
  // The documentation's example of sizes: each of 2 tuples of 3 coordinates addresses 6 x 7 elements.
  const Array large = oracle::makeArray(kI32, {3, 4, 5, 6, 7});
  Array block = oracle::makeArray(kI32, {1, 1, 2, 6, 7});
  for (size_t i = 0; i < block.whole.size(); ++i) block.whole[i] = static_cast<int64_t>(i) + 1;
  const Array changed = run(large, wholes(kU32, {1, 1, 1, 2, 3}, {0, 0, 1, 2, 3, 4}), block, 5, 3).value;
  CHECK(changed.whole[41] == 0);
  CHECK(changed.whole[42] == 1);
  CHECK(changed.whole[83] == 42);
  CHECK(changed.whole[84] == 0);
  CHECK(changed.whole[2519 - 42] == 0);
  CHECK(changed.whole[2519 - 41] == 43);
  CHECK(changed.whole[2519] == 84);
  const Result twice = run(wholes(kI32, {3}, {1, 2, 3}), wholes(kU32, {2, 1}, {1, 1}), wholes(kI32, {2}, {8, 9}), 1, 2);
  CHECK(compare(twice, wholes(kI32, {3}, {1, 8, 3})).ok);
  CHECK(compare(twice, wholes(kI32, {3}, {1, 9, 3})).ok);
}

TEST_CASE("oracle: FILL_VALUE_CONSTANT reads the member of its type") {
  const auto run = [](DML_TENSOR_DATA_TYPE type, uint64_t bits) {
    const Described output(type, {2});
    DML_FILL_VALUE_CONSTANT_OPERATOR_DESC desc{&output.tensor, type, {}};
    desc.Value.UInt64 = bits;
    return evaluateOne(DML_OPERATOR_FILL_VALUE_CONSTANT, &desc, {}).value;
  };
  CHECK(run(kI8, 0x1FF).whole == std::vector<int64_t>{-1, -1});
  CHECK(run(kU16, 0x1FFFF).whole == std::vector<int64_t>{65535, 65535});
  CHECK(run(kU64, ~uint64_t{0}).whole == std::vector<int64_t>{-1, -1});
  CHECK(run(kF16, 0x3C00).real == std::vector<double>{1, 1});
  CHECK(run(kF32, 0x40490FDB).real[0] == doctest::Approx(3.14159265));
  CHECK(run(kF64, 0x3FF8000000000000).real[0] == 1.5);
}
