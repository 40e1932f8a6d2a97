#include "backend_d3d12/device.h"

#include "backend_d3d12/descriptors.h"
#include "backend_d3d12/fault.h"
#include "backend_d3d12/half_rounding.h"
#include "backend_d3d12/pipeline.h"
#include "backend_d3d12/profiler.h"

namespace dimple::d3d12 {
namespace {

// `unknown`: for a device that does not know the structure.
template <class Data>
Result<Data> query(ID3D12Device& device, D3D12_FEATURE feature, Data unknown = {}) {
  Data data{};
  const Outcome asked("CheckFeatureSupport", device.CheckFeatureSupport(feature, &data, sizeof data));
  if (asked.isAccident()) return asked.error();
  return asked ? data : unknown;
}

// Asks for the newest first: an older runtime refuses models it has never heard of.
Result<bool> hasShaderModel6(ID3D12Device& device) {
  for (const D3D_SHADER_MODEL model :
       {D3D_SHADER_MODEL_6_6, D3D_SHADER_MODEL_6_5, D3D_SHADER_MODEL_6_2, D3D_SHADER_MODEL_6_1, D3D_SHADER_MODEL_6_0}) {
    D3D12_FEATURE_DATA_SHADER_MODEL data{model};
    const Outcome asked("CheckFeatureSupport",
                        device.CheckFeatureSupport(D3D12_FEATURE_SHADER_MODEL, &data, sizeof data));
    if (asked.isAccident()) return asked.error();
    if (asked) return data.HighestShaderModel >= D3D_SHADER_MODEL_6_0;
  }
  return false;
}

}  // namespace

Device::Device(ID3D12Device* device)
    : device_(device),
      descriptorIncrement_(device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV)) {}

Status Device::readCaps() {
  const auto shaderModel6 = hasShaderModel6(handle());
  if (!shaderModel6) return shaderModel6.error();
  if (!*shaderModel6)
    return Error{ErrorCode::Unsupported,
                 "The Direct3D 12 device has no shader model 6.0, which Dimple's kernels need."};
  const auto options = query<D3D12_FEATURE_DATA_D3D12_OPTIONS>(handle(), D3D12_FEATURE_D3D12_OPTIONS);
  const auto options1 = query<D3D12_FEATURE_DATA_D3D12_OPTIONS1>(handle(), D3D12_FEATURE_D3D12_OPTIONS1);
  const auto architecture =
      query<D3D12_FEATURE_DATA_ARCHITECTURE>(handle(), D3D12_FEATURE_ARCHITECTURE, {0, FALSE, TRUE, FALSE});
  TRY(options);
  TRY(options1);
  TRY(architecture);
  const auto set = [this](BOOL on, std::initializer_list<Feature> features) {
    for (const Feature feature : features)
      if (on) caps_.features |= static_cast<uint32_t>(feature);
  };
  set(options->DoublePrecisionFloatShaderOps, {Feature::Float64});
  set(options1->Int64ShaderOps, {Feature::Int64});
  set(options1->WaveOps, {Feature::SubgroupBasic, Feature::SubgroupVote, Feature::SubgroupArithmetic,
                          Feature::SubgroupBallot, Feature::SubgroupShuffle});
  caps_.maxGroups.fill(D3D12_CS_DISPATCH_MAX_THREAD_GROUPS_PER_DIMENSION);
  caps_.sharedBytes = D3D12_CS_TGSM_REGISTER_COUNT * 4;
  // Waves of which no shader can have larger ones than a CPU's vectors are those of a software driver.
  constexpr UINT kLanesOfProcessor = 8;
  caps_.isProcessor =
      architecture->UMA && options1->WaveLaneCountMax != 0 && options1->WaveLaneCountMax <= kLanesOfProcessor;
  if (caps_.isProcessor) caps_.workgroups = kWorkgroupsOfProcessor;
  // Only a discrete GPU has its own memory.
  if (!architecture->UMA) caps_.workLimit = kDiscreteWorkLimit;
  caps_.bufferOffsetAlignment = D3D12_RAW_UAV_SRV_BYTE_ALIGNMENT;
  caps_.parameterAlignment = D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT;
  return {};
}

Status Device::readHalves(const Options& options) {
  const auto options4 = query<D3D12_FEATURE_DATA_D3D12_OPTIONS4>(handle(), D3D12_FEATURE_D3D12_OPTIONS4);
  TRY(options4);
  if (!options4->Native16BitShaderOpsSupported || !options.roundedHalves) return {};
  moduleChoice_.convertsHalves = true;  // what is looked at
  moduleChoice_.convertsHalves = roundsHalves(*this);
  if (!moduleChoice_.convertsHalves || !options.nativeStorage) return {};
  for (const Feature feature : {Feature::Storage16, Feature::Int16, Feature::Float16})
    caps_.features |= static_cast<uint32_t>(feature);
  return {};
}

Result<std::unique_ptr<Device>> Device::create(ID3D12Device* native, const Options& options) {
  std::unique_ptr<Device> device(new Device(native));
  TRY(device->readCaps());
  device->moduleChoice_.isLong = (device->caps_.features & static_cast<uint32_t>(Feature::Int64)) != 0 &&
                                 (!device->caps_.isProcessor || (options.unroll && !options.estimates));
  auto layouts = DescriptorLayouts::create(*device);
  if (!layouts) return layouts.error();
  device->layouts_ = std::move(*layouts);
  device->parameterMemory_ = std::make_unique<ParameterMemory>(
      device->caps_.parameterAlignment,
      [&d = *native](uint64_t bytes) { return Buffer::create(d, bytes, D3D12_HEAP_TYPE_UPLOAD); });
  device->pipelines_ = std::make_unique<PipelineCache>(*device);
  TRY(device->readHalves(options));
  return device;
}

Status Device::setProfiling(ID3D12CommandQueue* queue) {
  profiling_ = false;
  if (!queue) return {};
  if (!profiler_) {
    auto profiler = Profiler::create(handle(), *queue);
    if (!profiler) return profiler.error();
    profiler_ = std::move(*profiler);
  } else {
    profiler_->clear();
  }
  profiling_ = true;
  return {};
}

Device::~Device() {
  if (settle()) return;
  static_cast<void>(profiler_.release());
  static_cast<void>(pipelines_.release());
  static_cast<void>(parameterMemory_.release());
  static_cast<void>(layouts_.release());
  device_->AddRef();
}

}  // namespace dimple::d3d12
