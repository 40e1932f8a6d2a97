// Kernels of subgroups' matrices in each shape that devices multiply, which no one device has: what a plan's constants
// make of a module.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "core/schema/desc_text.h"
#include "core/text.h"
#include "kernels/kernel_code.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// A module's constants and types, by the values that its specialization constants are given.
class SpecializedModule {
 public:
  SpecializedModule(std::vector<uint32_t> code, std::span<const Specialization> values) : code_(std::move(code)) {
    const std::span<const uint32_t> words = code_;
    std::map<uint32_t, uint32_t> given;
    for (const Specialization& value : values) given[value.id] = value.value;
    for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
      const auto i = words.subspan(at, words[at] >> 16);
      const uint32_t op = i[0] & 0xffff;
      if (op == kDecorate && i[2] == kSpecId && given.contains(i[3])) values_[i[1]] = given[i[3]];
      if (op >= kTypeVoid && op <= kTypePointer) types_[i[1]] = i;
      if (op == kTypeMatrix) matrices_.push_back(i);
      if (op >= kConstantTrue && op <= kSpecConstantOp) constants_[i[2]] = i;
      if (op == kVariable && i[3] == kWorkgroup) shared_.push_back(i[1]);
    }
  }

  // Bytes that a workgroup's invocations share.
  uint64_t sharedBytes() const {
    uint64_t bytes = 0;
    for (const uint32_t pointer : shared_) bytes += bytesOf(types_.at(pointer)[3]);
    return bytes;
  }

  // Rows and columns of the matrices of a use: A, B, or sums.
  std::set<std::pair<uint32_t, uint32_t>> matricesOf(uint32_t use) const {
    std::set<std::pair<uint32_t, uint32_t>> sizes;
    for (const auto& i : matrices_)
      if (value(i[6]) == use) sizes.insert({value(i[4]), value(i[5])});
    return sizes;
  }

  bool hasEmptyArrays() const {
    for (const auto& [id, i] : types_)
      if ((i[0] & 0xffff) == kTypeArray && (value(i[3]) == 0 || value(i[3]) > 65536)) return true;
    return false;
  }

 private:
  static constexpr uint32_t kTypeVoid = 19, kTypeBool = 20, kTypeInt = 21, kTypeFloat = 22, kTypeVector = 23,
                            kTypeArray = 28, kTypePointer = 32, kTypeMatrix = 4456, kConstantTrue = 41,
                            kSpecConstantTrue = 48, kConstantFalse = 42, kSpecConstantFalse = 49, kSpecConstantOp = 52,
                            kVariable = 59, kDecorate = 71, kSpecId = 1, kWorkgroup = 4;
  using Words = std::span<const uint32_t>;

  uint64_t bytesOf(uint32_t type) const {
    const Words& i = types_.at(type);
    switch (i[0] & 0xffff) {
      case kTypeInt:
      case kTypeFloat:
        return i[2] / 8;
      case kTypeVector:
        return bytesOf(i[2]) * i[3];
      case kTypeArray:
        return bytesOf(i[2]) * value(i[3]);
      default:
        FAIL("A type that is not counted is shared: ", i[0] & 0xffff);
        return 0;
    }
  }

  uint32_t value(uint32_t id) const {
    if (const auto known = values_.find(id); known != values_.end()) return known->second;
    const Words& i = constants_.at(id);
    const uint32_t op = i[0] & 0xffff;
    if (op == kSpecConstantOp) return valueOfOperation(i);
    if (op == kConstantTrue || op == kSpecConstantTrue) return 1;
    return op == kConstantFalse || op == kSpecConstantFalse ? 0 : i[3];
  }

  uint32_t valueOfOperation(const Words& i) const {
    const uint32_t a = value(i[4]);
    if (i[3] == 168) return a == 0;  // OpLogicalNot
    const uint32_t b = value(i[5]);
    switch (i[3]) {
      case 128:
        return a + b;
      case 130:
        return a - b;
      case 132:
        return a * b;
      case 134:  // OpUDiv
        REQUIRE(b != 0);
        return a / b;
      case 137:  // OpUMod
        REQUIRE(b != 0);
        return a % b;
      case 166:
      case 197:
        return a | b;
      case 167:
      case 199:
        return a & b;
      case 169:  // OpSelect
        return a != 0 ? b : value(i[6]);
      case 170:
        return a == b;
      case 171:
        return a != b;
      case 172:
        return a > b;
      case 174:
        return a >= b;
      case 176:
        return a < b;
      case 178:
        return a <= b;
      default:
        FAIL("An operation that is not computed: ", i[3]);
        return 0;
    }
  }

  const std::vector<uint32_t> code_;  // what the others refer to
  std::map<uint32_t, uint32_t> values_;
  std::map<uint32_t, Words> types_, constants_;
  std::vector<Words> matrices_;
  std::vector<uint32_t> shared_;  // types of pointers
};

// Of each operator that may take matrices, large ones and small.
std::vector<std::string> lines() {
  std::vector<std::string> lines;
  const auto gemm = [&](uint32_t rows, uint32_t depth, uint32_t columns) {
    for (const std::string_view type : {"f16", "f32"})
      for (const bool turned : {false, true})
        lines.push_back(cat("GEMM ATensor=", type, "[", rows, ",", depth, "] BTensor=", type, "[",
                            turned ? columns : depth, ",", turned ? depth : columns, "] OutputTensor=", type, "[", rows,
                            ",", columns, "] Alpha=1", turned ? " TransB=TRANSPOSE" : ""));
    lines.push_back(cat("MATRIX_MULTIPLY_INTEGER ATensor=i8[", rows, ",", depth, "] BTensor=u8[", depth, ",", columns,
                        "] OutputTensor=i32[", rows, ",", columns, "]"));
  };
  gemm(4096, 4096, 4096);
  gemm(1024, 1024, 1024);
  gemm(64, 4096, 4096);
  gemm(64, 64, 64);
  gemm(16, 512, 512);
  // In no vectors, which no look-ahead reads.
  lines.emplace_back("MATRIX_MULTIPLY_INTEGER ATensor=i8[64,60] BTensor=u8[60,66] OutputTensor=i32[64,66]");
  const auto convolution = [&](uint32_t batch, uint32_t channels, uint32_t size, std::string_view owned = "") {
    for (const std::string_view type : {"f16", "f32"})
      lines.push_back(cat("CONVOLUTION InputTensor=", type, "[", batch, ",", channels, ",", size, ",", size,
                          "] FilterTensor=", type, "[", channels, ",", channels, ",3,3]", owned, " OutputTensor=", type,
                          "[", batch, ",", channels, ",", size, ",", size,
                          "] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] "
                          "StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1"));
    lines.push_back(cat("CONVOLUTION_INTEGER InputTensor=u8[", batch, ",", channels, ",", size, ",", size,
                        "] FilterTensor=u8[", channels, ",", channels, ",3,3] OutputTensor=i32[", batch, ",", channels,
                        ",", size, ",", size,
                        "] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] GroupCount=1"));
  };
  convolution(16, 256, 14);
  convolution(16, 256, 56);
  convolution(16, 72, 56);
  convolution(16, 64, 28);
  convolution(1, 64, 14);
  convolution(1, 64, 14, "!");
  // Patches and chunks of channels that lie side by side.
  for (const uint32_t size : {7u, 14u})
    lines.push_back(cat("CONVOLUTION InputTensor=f16[16,256,", size, ",", size, "]{", 256 * size * size, ",1,",
                        256 * size, ",256} FilterTensor=f16[256,256,3,3]! OutputTensor=f16[16,256,", size, ",", size,
                        "]{", 256 * size * size, ",1,", 256 * size,
                        ",256} Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] "
                        "StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1"));
  lines.emplace_back(
      "CONVOLUTION InputTensor=f16[16,2048,7,7]{100352,1,14336,2048} FilterTensor=f16[512,2048,1,1]! "
      "OutputTensor=f16[16,512,7,7]{25088,1,3584,512} Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] "
      "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1");
  for (const uint32_t channels : {20u, 64u, 128u, 136u, 256u})
    lines.push_back(cat("MULTIHEAD_ATTENTION QueryTensor=f16[1,300,", 4 * channels, "] KeyTensor=f16[1,300,",
                        4 * channels, "] ValueTensor=f16[1,300,", 4 * channels, "] OutputTensor=f16[1,300,",
                        4 * channels, "] Scale=0.125 HeadCount=4"));
  for (const uint32_t hidden : {4u, 40u, 1024u})
    lines.push_back(cat("LSTM InputTensor=f16[1,5,24,8] WeightTensor=f16[1,1,", 4 * hidden,
                        ",8] RecurrenceTensor=f16[1,1,", 4 * hidden, ",", hidden, "] OutputSingleTensor=f16[1,1,24,",
                        hidden, "] ActivationDescs=(SIGMOID,TANH,TANH) Direction=FORWARD CoupleInputForget=0"));
  return lines;
}

std::string formOf(std::string_view name) {
  const size_t end = std::min(name.find("_native"), name.find('.'));
  return std::string(name.substr(0, end));
}

// The kernels of matrices that plans take, whose modules fit the device.
std::set<std::string> checkPlans(const Caps& caps, const std::vector<std::string>& lines) {
  std::set<std::string> kernels;
  for (const std::string& line : lines) {
    CAPTURE(line);
    const auto parsed = parseCase(line);
    REQUIRE_MESSAGE(parsed, parsed.error().text);
    const auto op = Operation::parse(parsed->desc.desc());
    REQUIRE_MESSAGE(op, op.error().text);
    const auto plan = planOperator(*op, Target(caps, {}, true));
    REQUIRE_MESSAGE(plan, plan.error().text);
    for (const Dispatch& dispatch : plan->execution) {
      const KernelInfo* kernel = findKernel(dispatch.kernel);
      REQUIRE(kernel);
      CAPTURE(kernel->name);
      if (!has(kernel->features, KernelFeature::CooperativeMatrix)) continue;
      kernels.insert(formOf(kernel->name));
      const MatrixShape& shape = kernel->name.starts_with("integer") ? caps.integerMatrices : caps.matrices;
      const SpecializedModule module(unpackSpirv(*kernel), dispatch.specialization);
      using Sizes = std::set<std::pair<uint32_t, uint32_t>>;
      CHECK(module.matricesOf(0) == Sizes{{shape.rows, shape.depth}});
      CHECK(module.matricesOf(1) == Sizes{{shape.depth, shape.columns}});
      CHECK(module.matricesOf(2) == Sizes{{shape.rows, shape.columns}});
      CHECK(module.sharedBytes() <= caps.sharedBytes);
      CHECK_FALSE(module.hasEmptyArrays());
      CHECK(dispatch.groupSize == groupSizeOf(dispatch.specialization, kernel->workgroupSize[0]));
    }
  }
  return kernels;
}

// The kernels that plans take with 48 KB of shared memory; of subgroups of eight those that they take whatever the
// shape.
std::set<std::string> expectedKernels(const MatrixShape& shape, uint32_t subgroup) {
  std::set<std::string> kernels{"gemm_cooperative", "convolution_cooperative", "integer_convolution_cooperative"};
  if (shape.columns == shape.depth) kernels.insert("attention_cooperative");
  if (subgroup < 64) kernels.insert({"gemm_cooperative_ahead", "integer_gemm_cooperative_ahead"});
  if (subgroup == 8) return kernels;
  kernels.insert({"convolution_cooperative_vectors", "integer_gemm_cooperative", "recurrent_step_matrices"});
  // Its 64 rows are shared by groups of four subgroups.
  if (subgroup < 64 && 64 / (256 / subgroup / 4) >= shape.rows)
    kernels.insert({"convolution_cooperative_patch", "convolution_cooperative_chunks"});
  if (subgroup < 64)
    kernels.insert({"gemm_cooperative_split", "convolution_cooperative_ahead", "convolution_cooperative_gathered"});
  // Its least tile is 32 x 64, of which each subgroup takes a matrix at least.
  if (subgroup < 64 && 32 / shape.rows * (64 / shape.columns) * subgroup >= 256)
    kernels.insert("integer_convolution_cooperative_ahead");
  return kernels;
}

}  // namespace

TEST_CASE("matrices of each shape and subgroups of each size get modules of that shape that fit shared memory" *
          leftOut(Run::Sanitized, "core's tests run the same code")) {
  const auto all = lines();
  for (const MatrixShape& shape :
       {MatrixShape{8, 8, 8}, {16, 16, 16}, {8, 8, 16}, {8, 16, 16}, {16, 8, 16}, {16, 8, 8}})
    for (const uint32_t depth : {shape.depth, 32u})
      for (const uint32_t subgroup : {8u, 16u, 32u, 64u}) {
        CAPTURE(shapeText(shape));
        CAPTURE(depth);
        CAPTURE(subgroup);
        Caps caps;
        caps.features = ~0u;
        caps.workLimit = kDiscreteWorkLimit;
        caps.subgroupSize = subgroup;
        caps.matrices = shape;
        caps.integerMatrices = {shape.rows, shape.columns, depth};
        caps.matrixHalves = true;
        for (const uint32_t kilobytes : {16, 20, 24, 28, 32, 40}) {
          caps.sharedBytes = kilobytes * 1024;
          checkPlans(caps, all);
        }
        caps.sharedBytes = 48 * 1024;
        const auto kernels = checkPlans(caps, all);
        const std::set<std::string> expected = expectedKernels(shape, subgroup);
        // Whether tiles of the others fit subgroups of eight depends on the shape.
        if (subgroup == 8)
          CHECK(std::ranges::includes(kernels, expected));
        else
          CHECK(kernels == expected);
      }
}

}  // namespace dimple::testing
