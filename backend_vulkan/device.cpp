#include "backend_vulkan/device.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/pipeline.h"
#include "backend_vulkan/profiler.h"
#include "backend_vulkan/rounded_halves.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

constexpr uint32_t kNvidia = 0x10DE;  // VkPhysicalDeviceProperties::vendorID

uint32_t subgroupFeatures(const VkPhysicalDeviceSubgroupProperties& subgroup) {
  if (!(subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT)) return 0;
  constexpr std::pair<VkSubgroupFeatureFlagBits, Feature> kPairs[] = {
      {VK_SUBGROUP_FEATURE_BASIC_BIT, Feature::SubgroupBasic},
      {VK_SUBGROUP_FEATURE_VOTE_BIT, Feature::SubgroupVote},
      {VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, Feature::SubgroupArithmetic},
      {VK_SUBGROUP_FEATURE_BALLOT_BIT, Feature::SubgroupBallot},
      {VK_SUBGROUP_FEATURE_SHUFFLE_BIT, Feature::SubgroupShuffle}};
  uint32_t features = 0;
  for (const auto& [bit, feature] : kPairs)
    if (subgroup.supportedOperations & static_cast<uint32_t>(bit)) features |= static_cast<uint32_t>(feature);
  return features;
}

void set(EnabledFeatures& out, VkBool32 on, Feature feature) {
  if (on) out.features |= static_cast<uint32_t>(feature);
}

// Members of the same name mean the same in the structures of versions and of extensions.
template <class T>
void read(const VkBaseInStructure& structure, EnabledFeatures& out) {
  const auto& f = reinterpret_cast<const T&>(structure);
  if constexpr (requires { f.storageBuffer16BitAccess; }) set(out, f.storageBuffer16BitAccess, Feature::Storage16);
  if constexpr (requires { f.storageBuffer8BitAccess; }) set(out, f.storageBuffer8BitAccess, Feature::Storage8);
  if constexpr (requires { f.storagePushConstant16; }) set(out, f.storagePushConstant16, Feature::Push16);
  if constexpr (requires { f.storagePushConstant8; }) set(out, f.storagePushConstant8, Feature::Push8);
  if constexpr (requires { f.shaderInt8; }) set(out, f.shaderInt8, Feature::Int8);
  if constexpr (requires { f.shaderFloat16; }) set(out, f.shaderFloat16, Feature::Float16);
  if constexpr (requires { f.vulkanMemoryModel; })
    set(out, f.vulkanMemoryModel && f.vulkanMemoryModelDeviceScope, Feature::MemoryModel);
  if constexpr (requires { f.cooperativeMatrix; }) set(out, f.cooperativeMatrix, Feature::CooperativeMatrix);
  if constexpr (requires { f.shaderIntegerDotProduct; }) set(out, f.shaderIntegerDotProduct, Feature::DotProduct);
  if constexpr (requires { f.hostQueryReset; }) out.hostQueryReset = f.hostQueryReset != VK_FALSE;
  if constexpr (requires { f.descriptorBindingPartiallyBound; })
    out.updateAfterBind |= f.descriptorBindingStorageBufferUpdateAfterBind && f.descriptorBindingPartiallyBound;
  if constexpr (requires { f.subgroupSizeControl; })
    out.subgroupSizeControl |= f.subgroupSizeControl && f.computeFullSubgroups;
}

constexpr std::pair<VkStructureType, void (*)(const VkBaseInStructure&, EnabledFeatures&)> kReaders[] = {
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, read<VkPhysicalDeviceVulkan11Features>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, read<VkPhysicalDeviceVulkan12Features>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, read<VkPhysicalDeviceVulkan13Features>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, read<VkPhysicalDevice16BitStorageFeatures>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, read<VkPhysicalDevice8BitStorageFeatures>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, read<VkPhysicalDeviceShaderFloat16Int8Features>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES, read<VkPhysicalDeviceDescriptorIndexingFeatures>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, read<VkPhysicalDeviceVulkanMemoryModelFeatures>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
     read<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
     read<VkPhysicalDeviceSubgroupSizeControlFeatures>},
    {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
     read<VkPhysicalDeviceShaderIntegerDotProductFeatures>}};

// `option` names the wanted shape: none, or one of those that are offered.
Status chooseShape(std::span<const MatrixShape> offered, std::span<const MatrixShape> preferred,
                   const MatrixShape& wanted, std::string_view option, MatrixShape& chosen) {
  chosen = wanted ? wanted : bestShape(offered, preferred);
  if (!wanted || std::ranges::find(offered, wanted) != offered.end()) return {};
  std::string list;
  for (const MatrixShape& shape : offered) list += cat(list.empty() ? "one of " : ", ", shapeText(shape));
  return invalid(cat("Option ", option, " has value (", shapeText(wanted), "), expected ",
                     list.empty() ? "none: the device offers no shape" : list, "."));
}

}  // namespace

EnabledFeatures readFeatures(const VkPhysicalDeviceFeatures2& enabled) {
  EnabledFeatures out;
  set(out, enabled.features.shaderInt16, Feature::Int16);
  set(out, enabled.features.shaderInt64, Feature::Int64);
  set(out, enabled.features.shaderFloat64, Feature::Float64);
  for (auto* next = static_cast<const VkBaseInStructure*>(enabled.pNext); next; next = next->pNext)
    for (const auto& [type, read] : kReaders)
      if (next->sType == type) read(*next, out);
  return out;
}

Device::Device(const DeviceHandles& handles, const InstanceFunctions& functions, const EnabledFeatures& enabled,
               Options options, Warn warn)
    : handles_(handles),
      functions_(functions),
      enabled_(enabled),
      options_(std::move(options)),
      warn_(std::move(warn)) {
  if (!options_.nativeStorage)
    enabled_.features &= ~(static_cast<uint32_t>(Feature::Storage8) | static_cast<uint32_t>(Feature::Storage16));
  enabled_.updateAfterBind &= options_.updateAfterBind;
  functions_.getPhysicalDeviceMemoryProperties(handles_.physicalDevice, &memory_);
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceFloatControlsProperties controls{};
  controls.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  controls.pNext = &subgroup;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &controls;
  functions_.getPhysicalDeviceProperties2(handles_.physicalDevice, &properties);
  roundsHalves_ = options_.roundedHalves && vulkan::roundsHalves(controls);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  caps_.features = enabled_.features | subgroupFeatures(subgroup);
  std::copy_n(limits.maxComputeWorkGroupCount, 3, caps_.maxGroups.begin());
  // Offsets and lengths stay below 2^32 in kernels, whatever a device offers.
  caps_.maxBufferRange = std::min<uint64_t>(limits.maxStorageBufferRange, caps_.maxBufferRange) & ~uint64_t{3};
  caps_.bufferOffsetAlignment =
      std::max(caps_.bufferOffsetAlignment, static_cast<uint32_t>(limits.minStorageBufferOffsetAlignment));
  caps_.parameterAlignment =
      std::max(caps_.parameterAlignment, static_cast<uint32_t>(limits.minUniformBufferOffsetAlignment));
  caps_.sharedBytes = limits.maxComputeSharedMemorySize;
  constexpr uint32_t kMostInvocations = 1024;
  const uint32_t invocations = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  caps_.maxInvocations = std::bit_floor(std::clamp(invocations, 256u, kMostInvocations));
  isProcessor_ = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  caps_.isProcessor = isProcessor_;
  caps_.fixesParameters = true;
  caps_.coldCode = properties.properties.vendorID == kNvidia;
  if (isProcessor_) caps_.workgroups = kWorkgroupsOfProcessor;
  if (properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU) caps_.workLimit = kDiscreteWorkLimit;
}

Result<std::vector<VkCooperativeMatrixPropertiesKHR>> Device::offeredMatrices() {
  using Shapes = std::vector<VkCooperativeMatrixPropertiesKHR>;
  if (!caps_.has(Feature::CooperativeMatrix) || !caps_.has(Feature::MemoryModel) || !caps_.has(Feature::Float16) ||
      !caps_.has(Feature::Storage16) || !caps_.has(Feature::SubgroupBasic) || !enabled_.subgroupSizeControl ||
      !functions_.getPhysicalDeviceCooperativeMatrixProperties)
    return Shapes{};
  VkPhysicalDeviceCooperativeMatrixPropertiesKHR matrices{};
  matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  sizes.pNext = &matrices;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = &sizes;
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  subgroup.pNext = &driver;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &subgroup;
  functions_.getPhysicalDeviceProperties2(handles_.physicalDevice, &properties);
  if (!(matrices.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) ||
      !(sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) || !isUsableSubgroup(subgroup.subgroupSize))
    return Shapes{};
  caps_.subgroupSize = subgroup.subgroupSize;
  caps_.matrixPlaces =
      driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY || driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  VkCooperativeMatrixPropertiesKHR empty{};
  empty.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
  return enumerate<VkCooperativeMatrixPropertiesKHR>(
      [&](auto... list) {
        return functions_.getPhysicalDeviceCooperativeMatrixProperties(handles_.physicalDevice, list...);
      },
      empty);
}

Status Device::readMatrices() {
  const auto offered = offeredMatrices();
  TRY(offered);
  const auto shapesOf = [&](VkComponentTypeKHR factors, VkComponentTypeKHR sums, uint32_t maxDepth) {
    std::vector<MatrixShape> shapes;
    for (const auto& m : *offered) {
      const MatrixShape shape{m.MSize, m.NSize, m.KSize};
      if (m.AType == factors && m.BType == factors && m.CType == sums && m.ResultType == sums &&
          !m.saturatingAccumulation && m.scope == VK_SCOPE_SUBGROUP_KHR && isUsable(shape, maxDepth))
        shapes.push_back(shape);
    }
    return shapes;
  };
  const auto halves = shapesOf(VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT16_KHR, kMaxHalfDepth);
  const auto floats = shapesOf(VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT32_KHR, kMaxHalfDepth);
  auto integers = shapesOf(VK_COMPONENT_TYPE_SINT8_KHR, VK_COMPONENT_TYPE_SINT32_KHR, kMaxIntegerDepth);
  if (!caps_.has(Feature::Int8)) integers.clear();
  // Attention needs sums in FLOAT16.
  TRY(chooseShape(floats, halves, options_.matrices, "matrices", caps_.matrices));
  TRY(chooseShape(integers, {}, options_.integerMatrices, "integer-matrices", caps_.integerMatrices));
  caps_.matrixHalves = std::ranges::find(halves, caps_.matrices) != halves.end();
  caps_.matrixPlaces &= static_cast<bool>(caps_.matrices);
  const MatrixShape& shape = caps_.matrices;
  const MatrixShape narrow{shape.rows, shape.columns / 2, shape.depth};
  if (caps_.matrixPlaces && !options_.matrices && shape.rows == shape.columns &&
      std::ranges::find(floats, narrow) != floats.end())
    caps_.narrowMatrices = narrow;
  if (!caps_.matrices && !caps_.integerMatrices) caps_.subgroupSize = 0;
  return {};
}

Result<std::unique_ptr<Device>> Device::create(const DeviceHandles& handles, const InstanceFunctions& functions,
                                               const EnabledFeatures& enabled, std::string pipelineCachePath,
                                               Options options, Warn warn) {
  std::unique_ptr<Device> device(new Device(handles, functions, enabled, std::move(options), std::move(warn)));
  TRY(device->vk_.load(functions.getDeviceProcAddr, handles.device));
  TRY(device->readMatrices());
  auto layouts = DescriptorLayouts::create(*device);
  if (!layouts) return layouts.error();
  device->layouts_ = std::move(*layouts);
  device->parameterMemory_ = std::make_unique<ParameterMemory>(
      device->caps_.parameterAlignment,
      [&d = *device](uint64_t bytes) { return Buffer::create(d, bytes, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, true); });
  auto pipelines = PipelineCache::create(*device, std::move(pipelineCachePath));
  if (!pipelines) return pipelines.error();
  device->pipelines_ = std::move(*pipelines);
  return device;
}

Device::~Device() = default;

Status Device::setProfiling(bool enabled) {
  profiling_ = false;
  if (!enabled) return {};
  if (!profiler_) {
    auto profiler = Profiler::create(*this);
    if (!profiler) return profiler.error();
    profiler_ = std::move(*profiler);
  } else {
    profiler_->clear();
  }
  profiling_ = true;
  return {};
}

std::optional<uint32_t> Device::memoryType(uint32_t typeBits, VkMemoryPropertyFlags flags) const {
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i)
    if ((typeBits >> i & 1) && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return i;
  return std::nullopt;
}

}  // namespace dimple::vulkan
