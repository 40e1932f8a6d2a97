// The operators against the oracle.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#ifdef DIMPLE_WITH_D3D12
#include "backend_d3d12/d3d12.h"
#endif
#include "core/data_type.h"
#include "core/text.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/selection.h"
#include "tests/conformance/test_record.h"
#include "tests/expectations.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"
#include "tests/options.h"

namespace dimple::testing {
namespace {

constexpr size_t kPrintedFailures = 8;  // of an operator and data type
// Of as many cases of an operator and data type at most one in kVacuousShare may have constant or free results.
constexpr size_t kJudgedCases = 100;
constexpr size_t kVacuousShare = 5;

// Runs groups of cases, a thread a device, and fails the test case with the ones that fail.
class Session {
 public:
  explicit Session(std::vector<Gpu*> gpus, Expectations* expectations = nullptr)
      : gpus_(std::move(gpus)), expectations_(expectations) {}

  void run(const std::vector<CaseGroup>& groups) {
    std::vector<std::future<void>> threads;
    open_.clear();
    for (const CaseGroup& group : groups) open_[group.type].groups.push_back(&group);
    for (Gpu* gpu : gpus_) threads.push_back(std::async(std::launch::async, [this, gpu] { runSome(*gpu); }));
    for (auto& thread : threads) thread.get();
    for (Gpu* gpu : gpus_)
      for (const std::string& message : gpu->takeMessages()) FAIL_CHECK("A message was sent: ", message);
    for (const auto& entry : record_.counts()) {
      const auto& key = entry.first;
      const CaseCounts& counts = entry.second;
      INFO(key.first, " ", key.second, ": ", counts.passed, " cases passed, ", counts.failed, " failed");
      CHECK(counts.failed == 0);
      // Operators without inputs have one value to show.
      const OpSchema* schema = findSchema(key.first);
      const bool makesValues = schema && std::none_of(schema->fields.begin(), schema->fields.end(),
                                                      [](const Field& field) { return field.role == Role::Input; });
      // Of a sample, chance decides.
      if (makesValues || counts.passed < kJudgedCases || selection().sample > 1) continue;
      CHECK_MESSAGE(counts.vacuous * kVacuousShare <= counts.passed, counts.vacuous, " of the cases test little.");
    }
  }
  const TestRecord& record() const { return record_; }
  size_t expectedFailures() const { return expectedFailures_; }

 private:
  // Takes the next group until there is none.
  void runSome(Gpu& gpu) {
    CaseRunner runner(gpu, [this](const CaseOutcome& outcome) { receive(outcome); });
    if (const char* runs = std::getenv("DIMPLE_TEST_RUNS")) runner.setRuns(static_cast<size_t>(std::atoi(runs)));
    std::optional<DataType> type;
    while (const CaseGroup* group = take(type)) {
      const auto lines = group->lines();
      if (lines.empty()) {
        CaseOutcome outcome;
        outcome.type = group->schema->type;
        outcome.dataType = group->type;
        outcome.failure = cat(group->schema->name, " has no generator of cases.");
        receive(outcome);
      }
      for (const std::string& line : lines)
        if (!expectations_ || !expectations_->skips(line)) runner.add(line);
    }
    runner.flush();
  }
  // Operators of a data type share kernels, which every device compiles for itself: a device stays with its type as
  // long as there are groups of it, and then goes on where most is left for each.
  const CaseGroup* take(std::optional<DataType>& type) {
    const std::scoped_lock lock(mutex_);
    if (!type || open_[*type].groups.empty()) {
      if (type) --open_[*type].devices;
      const auto share = [](const auto& entry) { return entry.second.groups.size() / (entry.second.devices + 1); };
      const auto most = std::max_element(open_.begin(), open_.end(),
                                         [&](const auto& a, const auto& b) { return share(a) < share(b); });
      if (most == open_.end() || most->second.groups.empty()) return nullptr;
      type = most->first;
      ++most->second.devices;
    }
    const CaseGroup* group = open_[*type].groups.front();
    open_[*type].groups.pop_front();
    return group;
  }
  void receive(CaseOutcome outcome) {
    const std::scoped_lock lock(mutex_);
    if (expectations_ && expectations_->apply(outcome.line, outcome.failure)) {
      ++expectedFailures_;
      return;
    }
    record_.add(outcome);
    if (outcome.failure.empty()) return;
    auto& printed = printed_[{outcome.type, outcome.dataType}];
    if (printed++ < kPrintedFailures) std::printf("%s\n    %s\n", outcome.line.c_str(), outcome.failure.c_str());
    if (printed == kPrintedFailures) std::printf("    (further failures of this operator and type are not printed)\n");
    std::fflush(stdout);
  }

  const std::vector<Gpu*> gpus_;
  Expectations* const expectations_;
  // Of all that follows.
  std::mutex mutex_;
  struct Open {
    std::deque<const CaseGroup*> groups;
    size_t devices = 0;  // that run groups of the type
  };
  std::map<DataType, Open> open_;
  size_t expectedFailures_ = 0;
  TestRecord record_;
  std::map<std::pair<DML_OPERATOR_TYPE, DML_TENSOR_DATA_TYPE>, size_t> printed_;
};

std::vector<std::string> writtenCases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(DIMPLE_TEST_SOURCE_DIR "/conformance/cases"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> lines;
  for (const auto& file : files) {
    auto read = readCaseFile(file.string());
    REQUIRE_MESSAGE(read, file.string());
    lines.insert(lines.end(), read->begin(), read->end());
  }
  return lines;
}

void print(const char* what, const CaseCounts& total) {
  std::printf("%s: %llu cases passed, %llu failed\n", what, static_cast<unsigned long long>(total.passed),
              static_cast<unsigned long long>(total.failed));
}

GPU_TEST_CASE("ops: every operator, data type and layout agrees with the oracle" *
              leftOut(Run::D3d12, "the comparison judges a sample there")) {
  const Selection chosen = selection();
  Session session(sharedGpus());
  session.run(caseGroups(chosen, writtenCases()));
  print("ops", session.record().total());
  if (chosen.full()) CHECK(session.record().write(DIMPLE_TEST_RESULTS, gpu.backend(), gpu.adapter()));
}

// No sample may leave these out on Direct3D 12: libvkd3d compiles loops wrongly whose variables depend on each other,
// and sorting has many loops.
GPU_TEST_CASE("ops: what is written of sorting agrees with the oracle") {
  Selection sorts;
  sorts.filter = "TOP_K";
  std::vector<CaseGroup> groups = caseGroups(sorts, writtenCases());
  std::erase_if(groups, [](const CaseGroup& group) { return group.written.empty(); });
  REQUIRE(!groups.empty());
  for (CaseGroup& group : groups) group.generated = false;
  Session session(sharedGpus());
  session.run(groups);
  print("ops of sorting", session.record().total());
}

// Whether the option native-storage may change anything.
bool mayHaveNativeStorage([[maybe_unused]] Gpu& gpu) {
#ifdef DIMPLE_WITH_D3D12
  if (gpu.backend() == backendName(DIMPLE_BACKEND_D3D12)) {
    ComPtr<ID3D12Device> native;
    REQUIRE(gpu.device().GetParentDevice(IID_PPV_ARGS(&native)) == S_OK);
    D3D12_FEATURE_DATA_D3D12_OPTIONS4 options{};
    return SUCCEEDED(native->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS4, &options, sizeof options)) &&
           options.Native16BitShaderOpsSupported;
  }
#endif
  return true;
}

// Devices without 8- and 16-bit storage run kernels on words.
GPU_TEST_CASE("ops: narrow types agree with the oracle without native storage") {
  if (!mayHaveNativeStorage(gpu)) {
    std::printf("ops without native storage: the %s device has none, so every case runs without\n",
                std::string(gpu.backend()).c_str());
    return;
  }
  std::vector<CaseGroup> groups = caseGroups(selection(), {});
  std::erase_if(groups, [](const CaseGroup& group) { return bitWidth(group.type) > 16; });
  for (CaseGroup& group : groups) group.step *= 4;
  Session session(sharedGpus("native-storage=0"));
  session.run(groups);
  print("ops without native storage", session.record().total());
}

// Tiles that are cut at the ends of rows and columns, and rows that are read in vectors, of each width. Some have whole
// numbers of workgroups, so that an invocation takes two vectors.
constexpr std::string_view kSingleChains[] = {
    "ELEMENT_WISE_ADD ATensor=f32[72,1024] BTensor=f32[72,1024]{1,72} OutputTensor=f32[72,1024]",
    "ELEMENT_WISE_ADD ATensor=f16[72,1000]{1,72} BTensor=f16[72,1000]{1,72} OutputTensor=f16[72,1000]{1016,1}",
    "ELEMENT_WISE_ADD ATensor=u8[100,1032] BTensor=u8[100,1032]{1,100} OutputTensor=u8[100,1032]",
    "ELEMENT_WISE_ABS InputTensor=f16[3,72,1000]{72000,1,72} OutputTensor=f16[3,72,1000]",
    "ELEMENT_WISE_ABS InputTensor=f32[3,70,1004]{70280,1,70} OutputTensor=f32[3,70,1004]",
    "ELEMENT_WISE_ABS InputTensor=f16[64,64,64]{1,1,64} OutputTensor=f16[64,64,64]",
    "ELEMENT_WISE_NEGATE InputTensor=i8[2,64,30,40]{76800,1,2560,64} OutputTensor=i8[2,64,30,40]",
    "ELEMENT_WISE_ADD ATensor=f16[70,72,40] BTensor=f16[70,72,40]{0,1,72} OutputTensor=f16[70,72,40]",
    "CAST InputTensor=f32[130,1000]{1,130} OutputTensor=f16[130,1000]",
    "CAST InputTensor=u8[132,1000]{1,132} OutputTensor=f32[132,1000]",
    "CAST InputTensor=f16[999,77] OutputTensor=u8[999,77]",
    "ELEMENT_WISE_IF ConditionTensor=u8[96,1024]{0,1} ATensor=f16[96,1024]{1,96} BTensor=f16[96,1024]{0,0} "
    "OutputTensor=f16[96,1024]",
    "ELEMENT_WISE_POW InputTensor=f16[96,1024] ExponentTensor=f32[96,1024]{1,0} OutputTensor=f16[96,1024]",
    "QUANTIZE InputTensor=f16[64,1024] QuantizationType=SCALE QuantizationTensorCount=1 "
    "QuantizationTensors=(f16[64,32]) OutputTensor=u8[64,1024]",
    "ELEMENT_WISE_MULTIPLY ATensor=f32[3,72,1024]{73728,1,72} BTensor=f32[3,72,1024]{1,3,0} "
    "OutputTensor=f32[3,72,1024]",
    "ELEMENT_WISE_MULTIPLY ATensor=f16[3,72,1024]{73728,1,72} BTensor=f16[3,72,1024]{1,3,0} "
    "OutputTensor=f16[3,72,1024]",
    "ELEMENT_WISE_MAX ATensor=f32[2,3,60,8]{4,8,32,1} BTensor=f32[2,3,60,8]{1920,640,1,80} OutputTensor=f32[2,3,60,8]",
    "ELEMENT_WISE_SQRT InputTensor=f32[5,64,20]{64,1,320} OutputTensor=f32[5,64,20]{1920,28,1}",
    "ELEMENT_WISE_POW InputTensor=f32[96,1024]{1040,1} ExponentTensor=f32[96,1024]{1,0} OutputTensor=f32[96,1024]",
    "ELEMENT_WISE_IF ConditionTensor=u8[96,1024]{0,1} ATensor=f32[96,1024]{1,0} BTensor=f32[96,1024]{1040,1} "
    "OutputTensor=f32[96,1024]",
    "ELEMENT_WISE_IF ConditionTensor=u8[96,1024]{1,0} ATensor=f16[96,1024]{0,1} BTensor=f16[96,1024] "
    "OutputTensor=f16[96,1024]{1040,1}",
    "DEQUANTIZE InputTensor=u4[64,256] QuantizationType=SCALE_ZERO_POINT QuantizationTensorCount=2 "
    "QuantizationTensors=(f16[64,8],u4[64,8]) OutputTensor=f16[64,256]",
    "CAST InputTensor=f16[24,1024] OutputTensor=u8[24,1024]",
    "ELEMENT_WISE_IS_NAN InputTensor=f16[16,1024]{1040,1} OutputTensor=u8[16,1024]",
    "ELEMENT_WISE_ADD ATensor=u8[24,1024] BTensor=u8[24,1024]{0,1} OutputTensor=u8[24,1024] inplace=0",
    "ELEMENT_WISE_SUBTRACT ATensor=i32[24,1024]{1,0} BTensor=i32[24,1024]{1040,1} OutputTensor=i32[24,1024]",
    "ELEMENT_WISE_ADD ATensor=u8[24,1024] BTensor=u8[24,1024]{1,0} OutputTensor=u8[24,1024]{1040,1}",
    "ELEMENT_WISE_SUBTRACT ATensor=i16[24,1024]{1040,1} BTensor=i16[24,1024]{1,0} OutputTensor=i16[24,1024]{1032,1}",
    "ELEMENT_WISE_BIT_XOR ATensor=u16[24,1024]{1,0} BTensor=u16[24,1024] OutputTensor=u16[24,1024]",
    "ELEMENT_WISE_MAX ATensor=u32[24,1024]{1,0} BTensor=u32[24,1024]{0,1} OutputTensor=u32[24,1024]",
    "ELEMENT_WISE_MIN ATensor=i8[24,1024]{1,0} BTensor=i8[24,1024]{0,1} OutputTensor=i8[24,1024]{1056,1}",
    "ELEMENT_WISE_NEGATE InputTensor=i16[24,1024]{1032,1} OutputTensor=i16[24,1024]{1040,1}",
    "ELEMENT_WISE_ABS InputTensor=i8[24,1024]{1040,1} OutputTensor=i8[24,1024]",
    "ELEMENT_WISE_BIT_NOT InputTensor=u32[24,1024]{1028,1} OutputTensor=u32[24,1024]",
    "ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f16[24,1024] ScaleTensor=f16[24,1024]{0,1} "
    "ZeroPointTensor=i8[24,1024]{0,1} OutputTensor=i8[24,1024]",
    "DYNAMIC_QUANTIZE_LINEAR InputTensor=f16[24,1024] OutputTensor=u8[24,1024] OutputScaleTensor=f32[1,1] "
    "OutputZeroPointTensor=u8[1,1]",
};

GPU_TEST_CASE("ops: element-wise operators agree with the oracle as chains of one, and in rows and blocks" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const auto isElementWise = [](const CaseGroup& group) {
    const std::string_view name = group.schema->name;
    return name.starts_with("ELEMENT_WISE_") || name.starts_with("ACTIVATION_") || name.ends_with("QUANTIZE") ||
           name == "CAST";
  };
  std::vector<CaseGroup> groups = caseGroups(selection(), {});
  std::erase_if(groups, [&](const CaseGroup& group) { return !isElementWise(group); });
  for (CaseGroup& group : groups) group.step *= currentBackend() == DIMPLE_BACKEND_D3D12 ? 64 : 8;
  CaseGroup always;
  always.schema = findSchema(DML_OPERATOR_CAST);
  always.type = DML_TENSOR_DATA_TYPE_FLOAT32;
  always.generated = false;
  always.written.assign(std::begin(kSingleChains), std::end(kSingleChains));
  groups.push_back(std::move(always));
  Session session(sharedGpus("estimates=0"));
  session.run(groups);
  print("ops as chains", session.record().total());
}

constexpr std::string_view kParted[] = {
    "GEMM ATensor=f32[100,4] BTensor=f32[4,100] OutputTensor=f32[100,100] Alpha=1 fill=int",
    "GEMM ATensor=f32[130,33] BTensor=f32[33,131] OutputTensor=f32[130,131] Alpha=1 fill=int",
    "GEMM ATensor=f16[128,64] BTensor=f16[64,192] OutputTensor=f16[128,192] Alpha=1 fill=int",
    "GEMM ATensor=f32[64,1024] BTensor=f32[1024,64] OutputTensor=f32[64,64] Alpha=1 fill=int",
    "GEMM ATensor=f16[2,256] BTensor=f16[256,512] OutputTensor=f16[2,512] Alpha=1 fill=int",
    "GEMM ATensor=f32[2,64] BTensor=f32[64,511] OutputTensor=f32[2,511] Alpha=1 fill=int",
    "CONVOLUTION InputTensor=f32[2,16,14,14] FilterTensor=f32[70,16,3,3] OutputTensor=f32[2,70,14,14] Strides=[1,1] "
    "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "MATRIX_MULTIPLY_INTEGER ATensor=i8[130,33] BTensor=u8[33,70] OutputTensor=i32[130,70] fill=int",
    "MULTIHEAD_ATTENTION QueryTensor=f32[2,70,32] KeyTensor=f32[2,70,32] ValueTensor=f32[2,70,32] "
    "OutputTensor=f32[2,70,32] Scale=1 HeadCount=4 fill=int",
    "MULTIHEAD_ATTENTION QueryTensor=f32[1,4,64] KeyTensor=f32[1,70,64] ValueTensor=f32[1,70,64] "
    "OutputTensor=f32[1,4,64] Scale=1 HeadCount=4 fill=int",
    "NONZERO_COORDINATES InputTensor=u16[9000] OutputCountTensor=u32[1,1] OutputCoordinatesTensor=u32[9000,1] "
    "fill=special",
    "REDUCE Function=SUM InputTensor=f32[3,70000] OutputTensor=f32[3,1] Axes=[1] fill=int",
    "CUMULATIVE_SUMMATION InputTensor=f32[2,9000] OutputTensor=f32[2,9000] Axis=1 AxisDirection=INCREASING "
    "HasExclusiveSum=0 fill=int",
    "TOP_K InputTensor=f32[1,1,2,5000] OutputValueTensor=f32[1,1,2,3000] OutputIndexTensor=u32[1,1,2,3000] Axis=3 "
    "K=3000 fill=int",
    "DYNAMIC_QUANTIZE_LINEAR InputTensor=f32[9000] OutputTensor=u8[9000] OutputScaleTensor=f32[1] "
    "OutputZeroPointTensor=u8[1]",
    "AVERAGE_POOLING InputTensor=f32[1,2,40,40] OutputTensor=f32[1,2,33,33] Strides=[1,1] WindowSize=[8,8] "
    "StartPadding=[0,0] EndPadding=[0,0] IncludePadding=0 fill=int"};

// Dispatches come in parts, as those of many more elements do.
GPU_TEST_CASE("ops: operators agree with the oracle where each takes several dispatches" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const auto multiplies = [](const CaseGroup& group) {
    const std::string_view name = group.schema->name;
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"GEMM", "CONVOLUTION", "MATRIX_MULTIPLY", "ATTENTION"},
        [&](std::string_view part) { return name.find(part) != name.npos; });
  };
  std::vector<CaseGroup> groups = caseGroups(selection(), {});
  for (CaseGroup& group : groups) group.step *= multiplies(group) ? 4 : 60;
  // Of each kind of kernel at least one, whatever is sampled.
  CaseGroup always;
  always.schema = findSchema(DML_OPERATOR_GEMM);
  always.type = DML_TENSOR_DATA_TYPE_FLOAT32;
  always.generated = false;
  always.written.assign(std::begin(kParted), std::end(kParted));
  groups.push_back(std::move(always));
  Session session(sharedGpus("work=1024"));
  session.run(groups);
  print("ops in parts", session.record().total());
}

// One of each kernel that operators of a software driver leave to GPUs where modules are compiled whole.
constexpr std::string_view kUnshared[] = {
    "GEMM ATensor=f32[256,64] BTensor=f32[64,512] OutputTensor=f32[256,512] Alpha=1 fill=int",
    "GEMM ATensor=f32[128,36] BTensor=f32[36,128] OutputTensor=f32[128,128] Alpha=1 fill=int",
    "GEMM ATensor=f32[64,256] BTensor=f32[256,64] OutputTensor=f32[64,64] Alpha=1 fill=int",
    "GEMM ATensor=f32[16,256] BTensor=f32[256,64] OutputTensor=f32[16,64] Alpha=1 fill=int",
    "GEMM ATensor=f32[2,256] BTensor=f32[256,512] OutputTensor=f32[2,512] Alpha=1 fill=int",
    "GEMM ATensor=f32[3,254] BTensor=f32[254,511] OutputTensor=f32[3,511] Alpha=1 fill=int",
    "GEMM ATensor=f32[1,1030,9] BTensor=f32[1,2052,9] CTensor=f32[1,1030,2052]{0,0,1} OutputTensor=f32[1,1030,2052] "
    "TransB=TRANSPOSE Alpha=2 Beta=3 fill=int",
    "GEMM ATensor=f32[2,1024,5] BTensor=f32[2,2048,5]{10260,5,1}! OutputTensor=f32[2,1024,2048] TransB=TRANSPOSE "
    "Alpha=1 fill=int",
    "CONVOLUTION InputTensor=f32[1,64,14,14] FilterTensor=f32[64,64,3,3] OutputTensor=f32[1,64,14,14] Strides=[1,1] "
    "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "CONVOLUTION InputTensor=f32[1,256,28,28] FilterTensor=f32[64,256,3,3] OutputTensor=f32[1,64,14,14] Strides=[2,2] "
    "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "CONVOLUTION InputTensor=f32[1,8,14,14] FilterTensor=f32[6,8,3,3] OutputTensor=f32[1,6,14,14] Strides=[1,1] "
    "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "ACTIVATION_SOFTMAX1 InputTensor=f32[1,8,16,100] OutputTensor=f32[1,8,16,100] Axes=[3]",
    "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[1,128,1,256] OutputTensor=f32[1,128,1,256] Axes=[3] "
    "NormalizeVariance=1 Epsilon=0.00001",
    "ACTIVATION_SOFTMAX1 InputTensor=f32[1,1,3,8196] OutputTensor=f32[1,1,3,8196] Axes=[3]",
    "ACTIVATION_LOG_SOFTMAX1 InputTensor=f16[1,1,2,16392] OutputTensor=f16[1,1,2,16392] Axes=[3]",
    "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[1,1,64,4100] ScaleTensor=f32[1,1,1,4100] "
    "OutputTensor=f32[1,1,64,4100] Axes=[3] NormalizeVariance=1 Epsilon=0.00001",
    "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[1,1,64,16388] OutputTensor=f32[1,1,64,16388] Axes=[3] "
    "NormalizeVariance=1 Epsilon=0.00001",
};

GPU_TEST_CASE("ops: operators agree with the oracle on a CPU with the kernels that GPUs get" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const auto chooses = [](const CaseGroup& group) {
    const std::string_view name = group.schema->name;
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"GEMM", "CONVOLUTION", "SOFTMAX", "NORMALIZATION", "MATRIX_MULTIPLY"},
        [&](std::string_view part) { return name.find(part) != name.npos; });
  };
  std::vector<CaseGroup> groups = caseGroups(selection(), {});
  std::erase_if(groups, [&](const CaseGroup& group) { return !chooses(group); });
  for (CaseGroup& group : groups) group.step *= 4;
  CaseGroup always;
  always.schema = findSchema(DML_OPERATOR_GEMM);
  always.type = DML_TENSOR_DATA_TYPE_FLOAT32;
  always.generated = false;
  always.written.assign(std::begin(kUnshared), std::end(kUnshared));
  groups.push_back(std::move(always));
  Session session(sharedGpus("estimates=0"));
  session.run(groups);
  print("ops as on GPUs", session.record().total());
}

constexpr std::string_view kLongForms[] = {
    "GEMM ATensor=f32[256,64] BTensor=f32[64,512] OutputTensor=f32[256,512] Alpha=1 fill=int",
    "GEMM ATensor=f32[200,148] BTensor=f32[148,516] OutputTensor=f32[200,516] Alpha=1 FusedActivation=ACTIVATION_RELU",
    "GEMM ATensor=f32[256,64] BTensor=f32[512,64] CTensor=f32[256,512] OutputTensor=f32[256,512] TransB=TRANSPOSE "
    "Alpha=2 Beta=3 fill=int",
};
constexpr std::string_view kLongWindows[] = {
    "CONVOLUTION InputTensor=f32[4,12,14,14] FilterTensor=f32[12,64,4,4] OutputTensor=f32[4,64,28,28] "
    "Mode=CROSS_CORRELATION Direction=BACKWARD DimensionCount=2 Strides=[2,2] Dilations=[1,1] StartPadding=[1,1] "
    "EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "CONVOLUTION InputTensor=f32[2,9,40,40] FilterTensor=f32[60,9,5,5] BiasTensor=f32[1,60,1,1] "
    "OutputTensor=f32[2,60,20,20] Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[2,2] "
    "Dilations=[1,1] StartPadding=[2,2] EndPadding=[2,2] OutputPadding=[0,0] GroupCount=1 "
    "FusedActivation=ACTIVATION_RELU fill=int",
    "CONVOLUTION InputTensor=f32[1,20,30,30] FilterTensor=f32[40,20,3,3] OutputTensor=f32[1,40,30,30] "
    "Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] "
    "EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 fill=int",
    "CONVOLUTION InputTensor=f32[2,24,19,22] FilterTensor=f32[24,1,3,3] OutputTensor=f32[2,24,19,22] "
    "Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] "
    "EndPadding=[1,1] OutputPadding=[0,0] GroupCount=24 fill=int",
    "CONVOLUTION InputTensor=f32[1,24,19,23] FilterTensor=f32[24,1,3,3] OutputTensor=f32[1,24,9,11] "
    "Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[2,2] Dilations=[1,1] StartPadding=[0,0] "
    "EndPadding=[0,0] OutputPadding=[0,0] GroupCount=24 fill=int",
};

// Steps of 16, 8 and 4 sequences. The depth has whole parts and a rest, a rest alone, or whole parts alone.
constexpr std::string_view kLongLstm[] = {
    "LSTM InputTensor=f32[1,4,17,8] WeightTensor=f32[1,1,932,8] RecurrenceTensor=f32[1,1,932,233] "
    "OutputSequenceTensor=f32[4,1,17,233] OutputCellSingleTensor=f32[1,1,17,233] ActivationDescs=(SIGMOID,TANH,TANH) "
    "Direction=FORWARD UseClipThreshold=0 ClipThreshold=0 CoupleInputForget=0 fill=float",
    "LSTM InputTensor=f32[1,4,32,8] WeightTensor=f32[1,1,1024,8] RecurrenceTensor=f32[1,1,1024,256] "
    "OutputSequenceTensor=f32[4,1,32,256] OutputCellSingleTensor=f32[1,1,32,256] ActivationDescs=(SIGMOID,TANH,TANH) "
    "Direction=FORWARD UseClipThreshold=0 ClipThreshold=0 CoupleInputForget=0 fill=float",
};
constexpr std::string_view kLongGru[] = {
    "GRU InputTensor=f32[1,4,5,8] WeightTensor=f32[1,1,1392,8] RecurrenceTensor=f32[1,1,1392,464] "
    "OutputSequenceTensor=f32[4,1,5,464] ActivationDescs=(SIGMOID,TANH) Direction=BACKWARD LinearBeforeReset=1 "
    "fill=float",
    "GRU InputTensor=f32[1,4,3,8] WeightTensor=f32[1,1,150,8] RecurrenceTensor=f32[1,1,150,50] "
    "OutputSequenceTensor=f32[4,1,3,50] ActivationDescs=(SIGMOID,TANH) Direction=FORWARD LinearBeforeReset=0 "
    "fill=float",
    "GRU InputTensor=f32[1,4,8,8] WeightTensor=f32[1,2,768,8] RecurrenceTensor=f32[1,2,768,256] "
    "OutputSequenceTensor=f32[4,2,8,256] ActivationDescs=(SIGMOID,TANH,SIGMOID,TANH) Direction=BIDIRECTIONAL "
    "LinearBeforeReset=1 fill=float",
    "GRU InputTensor=f32[1,4,4,8] WeightTensor=f32[1,1,1536,8] RecurrenceTensor=f32[1,1,1536,512] "
    "OutputSequenceTensor=f32[4,1,4,512] ActivationDescs=(SIGMOID,TANH) Direction=FORWARD LinearBeforeReset=0 "
    "fill=float",
};
// Whole tiles, and one query whose keys are split.
constexpr std::string_view kLongAttention[] = {
    "MULTIHEAD_ATTENTION QueryTensor=f32[1,128,256] KeyTensor=f32[1,256,256] ValueTensor=f32[1,256,2048] "
    "OutputTensor=f32[1,128,2048] Scale=0.25 MaskFilterValue=-10000 HeadCount=16 MaskType=NONE fill=float",
    "MULTIHEAD_ATTENTION QueryTensor=f32[1,1,256] KeyTensor=f32[1,4096,256] ValueTensor=f32[1,4096,256] "
    "OutputTensor=f32[1,1,256] Scale=0.088 MaskFilterValue=0 HeadCount=2 MaskType=NONE fill=float",
};

// Modules of DXIL that processors get in no other way.
GPU_TEST_CASE("ops: tiles agree with the oracle in the long form of kernels on Direct3D 12" *
              leftOut(Run::QuickD3d12, "its kernels take processors seconds to compile")) {
  if (currentBackend() != DIMPLE_BACKEND_D3D12) return;
  const auto groupOf = [](DML_OPERATOR_TYPE type, std::span<const std::string_view> lines) {
    CaseGroup always;
    always.schema = findSchema(type);
    always.type = DML_TENSOR_DATA_TYPE_FLOAT32;
    always.generated = false;
    always.written.assign(lines.begin(), lines.end());
    return always;
  };
  Session session(sharedGpus("estimates=0,unroll=1"));
  session.run({groupOf(DML_OPERATOR_GEMM, kLongForms), groupOf(DML_OPERATOR_CONVOLUTION, kLongWindows),
               groupOf(DML_OPERATOR_LSTM, kLongLstm), groupOf(DML_OPERATOR_GRU, kLongGru),
               groupOf(DML_OPERATOR_MULTIHEAD_ATTENTION, kLongAttention)});
  print("ops in long forms", session.record().total());
}

#ifdef _WIN32
// The judge of the tests themselves: another DirectML.dll has to agree with the oracle too.
TEST_CASE("dll: every operator, data type and layout agrees with the oracle") {
  const TestOptions& options = testOptions();
  std::string error;
  Expectations expectations;
  if (!options.expectFailures.empty()) {
    auto read = Expectations::read(options.expectFailures, error);
    REQUIRE_MESSAGE(read, error);
    expectations = std::move(*read);
  }
  const auto gpu = Gpu::openDll(options.dll, error);
  REQUIRE_MESSAGE(gpu, error);
  std::printf("The cases run on %s.\n", gpu->adapter().c_str());
  const Selection chosen = selection();
  Session session({gpu.get()}, &expectations);
  session.run(caseGroups(chosen, writtenCases()));
  print("dll", session.record().total());
  std::printf("     %zu cases failed as listed\n", session.expectedFailures());
  if (chosen.full())
    for (const std::string& line : expectations.unused()) FAIL_CHECK("No case fails as listed: ", line);
}
#endif

}  // namespace
}  // namespace dimple::testing
