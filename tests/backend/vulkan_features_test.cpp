// What programs enable on a Vulkan device, as Dimple reads it.
#include "backend_vulkan/device.h"

#include <doctest/doctest.h>

namespace dimple::vulkan {
namespace {

template <class T>
T structure(VkStructureType type, void* next = nullptr) {
  T made{};
  made.sType = type;
  made.pNext = next;
  return made;
}

EnabledFeatures read(void* chain) {
  return readFeatures(structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, chain));
}

uint32_t bits(std::initializer_list<Feature> features) {
  uint32_t all = 0;
  for (const Feature feature : features) all |= static_cast<uint32_t>(feature);
  return all;
}

TEST_CASE("features are read from the structures of Vulkan's versions") {
  auto of13 = structure<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  auto of12 = structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &of13);
  auto of11 = structure<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &of12);
  of11.storageBuffer16BitAccess = VK_TRUE;
  of12.shaderInt8 = of12.shaderFloat16 = of12.storageBuffer8BitAccess = VK_TRUE;
  of12.vulkanMemoryModel = of12.hostQueryReset = of12.descriptorBindingPartiallyBound = VK_TRUE;
  of13.subgroupSizeControl = VK_TRUE;
  const EnabledFeatures some = read(&of11);
  CHECK(some.features == bits({Feature::Storage16, Feature::Int8, Feature::Float16, Feature::Storage8}));
  CHECK(some.hostQueryReset);
  // Two features together make one of ours.
  CHECK_FALSE(some.updateAfterBind);
  CHECK_FALSE(some.subgroupSizeControl);
  of12.vulkanMemoryModelDeviceScope = of12.descriptorBindingStorageBufferUpdateAfterBind = VK_TRUE;
  of13.computeFullSubgroups = VK_TRUE;
  const EnabledFeatures all = read(&of11);
  CHECK(all.features == (some.features | bits({Feature::MemoryModel})));
  CHECK(all.updateAfterBind);
  CHECK(all.subgroupSizeControl);
}

TEST_CASE("features are read from the structures of extensions") {
  auto dots = structure<VkPhysicalDeviceShaderIntegerDotProductFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  auto sizes = structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, &dots);
  auto matrices = structure<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, &sizes);
  auto model = structure<VkPhysicalDeviceVulkanMemoryModelFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, &matrices);
  auto indexing = structure<VkPhysicalDeviceDescriptorIndexingFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES, &model);
  auto narrow = structure<VkPhysicalDeviceShaderFloat16Int8Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, &indexing);
  auto storage8 =
      structure<VkPhysicalDevice8BitStorageFeatures>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, &narrow);
  auto storage16 = structure<VkPhysicalDevice16BitStorageFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, &storage8);
  CHECK(read(&storage16).features == 0);
  sizes.subgroupSizeControl = sizes.computeFullSubgroups = matrices.cooperativeMatrix = VK_TRUE;
  dots.shaderIntegerDotProduct = VK_TRUE;
  model.vulkanMemoryModel = model.vulkanMemoryModelDeviceScope = VK_TRUE;
  indexing.descriptorBindingStorageBufferUpdateAfterBind = indexing.descriptorBindingPartiallyBound = VK_TRUE;
  narrow.shaderInt8 = narrow.shaderFloat16 = VK_TRUE;
  storage8.storageBuffer8BitAccess = storage16.storageBuffer16BitAccess = VK_TRUE;
  const EnabledFeatures all = read(&storage16);
  CHECK(all.features == bits({Feature::Storage16, Feature::Storage8, Feature::Int8, Feature::Float16,
                              Feature::MemoryModel, Feature::CooperativeMatrix, Feature::DotProduct}));
  CHECK(all.updateAfterBind);
  CHECK(all.subgroupSizeControl);
  CHECK_FALSE(all.hostQueryReset);
}

}  // namespace
}  // namespace dimple::vulkan
