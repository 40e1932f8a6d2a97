// Compiles kernels for AMD's GPUs without one: RADV makes a device of null hardware for the family that
// RADV_FORCE_FAMILY names, whose pipelines are compiled as for the real one and never execute. docs/limits.md says what
// that does and does not show.
//
//   DIMPLE_TEST_SAMPLE=N  of what plans of the cases ask for, every N-th pipeline only
//   DIMPLE_AMD_LIST=1     also prints a line for each pipeline: vector registers, bytes of code, milliseconds
#include <doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/device.h"
#include "backend_vulkan/specialize.h"
#include "core/plan/plan_builder.h"
#include "core/text.h"
#include "kernels/interfaces/ids.h"
#include "kernels/kernel_code.h"
#include "tests/conformance/case_plans.h"
#include "tests/conformance/selection.h"

namespace dimple::testing {
namespace {

using vulkan::Device;

// What a kernel may take. Of 1,536 vector registers a lane (RDNA 3), 96 leave room for 16 subgroups of 32, as many as
// there are. Kernels that hold tiles in registers are written for fewer subgroups, with more work in each.
struct Budget {
  std::string_view kernels;  // how their names begin
  uint64_t registers = 96;
  // Scalar registers that go to lanes of vector registers. Nothing may go to memory.
  uint64_t movedScalars = 0;
};

constexpr Budget kBudgets[] = {
    {"attention_cooperative", 256, 48},
    {"attention_large_tile", 256},
    {"attention_narrow_tile", 256},
    {"attention_split", 128},
    {"attention_step", 128},
    {"attention_tile", 192},
    {"attention_vector_tile", 192},
    {"convolution_cooperative_ahead", 256, 48},
    {"convolution_cooperative_chunks", 256, 48},
    {"convolution_cooperative_gathered", 256, 48},
    {"convolution_cooperative_patch", 256, 48},
    {"convolution_large_tile", 168},
    {"convolution_narrow_tile", 168},
    {"convolution_split_small_tile", 128},
    {"convolution_split_tile", 192},
    {"gemm_cooperative", 256, 48},
    {"gemm_few_rows", 128},
    {"gemm_large_tile", 128},
    {"gemm_split_small_tile", 128},
    {"gemm_split_tile", 192},
    {"integer_convolution_tile", 128},
    {"integer_gemm_tile", 128},
    {"product_block", 128},
    {"recurrent_step_tile", 128},
    {"softmax_columns", 128},
    {"weight_rows", 128},
    {"weight_few", 256, 48},
    {"weight_single", 256, 48},
    {"weight_split", 256, 48},
    {"weight_tiles", 256, 48},
    {"winograd_fused", 256},
};

Budget budgetOf(std::string_view kernel) {
  for (const Budget& budget : kBudgets)
    if (kernel.starts_with(budget.kernels)) return budget;
  return {};
}

// What the driver says of a pipeline, by its name for it.
using Statistics = std::map<std::string, uint64_t>;

// A device that compiles. It stays until the process ends: RADV's crashes where it is destroyed.
class Compiler {
 public:
  static Compiler& instance() {
    static Compiler* compiler = new Compiler;
    return *compiler;
  }

  Device& device() { return *device_; }
  const std::string& name() const { return name_; }

  bool runs(const KernelInfo& kernel) const { return (kernel.features & ~device_->caps().features) == 0; }

  // Compiles a kernel; no value if the driver refuses it.
  std::optional<Statistics> compile(const KernelInfo& kernel, std::span<const Specialization> specialization,
                                    std::span<const uint32_t> fixed) {
    std::vector<uint32_t> spirv = unpackSpirv(kernel);
    if (!fixed.empty() || kernel.pruned) spirv = vulkan::specialize(spirv, specialization, fixed);
    const VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                              spirv.size() * sizeof(uint32_t), spirv.data()};
    VkShaderModule module = VK_NULL_HANDLE;
    REQUIRE(vk_.vkCreateShaderModule(handles_.device, &moduleInfo, nullptr, &module) == VK_SUCCESS);
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<uint32_t> values;
    for (const Specialization& s : specialization) {
      entries.push_back({s.id, static_cast<uint32_t>(values.size() * 4), 4});
      values.push_back(s.value);
    }
    const VkSpecializationInfo info{static_cast<uint32_t>(entries.size()), entries.data(), values.size() * 4,
                                    values.data()};
    VkComputePipelineCreateInfo pipelineInfo{};
    pipelineInfo.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    pipelineInfo.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    pipelineInfo.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipelineInfo.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipelineInfo.stage.module = module;
    pipelineInfo.stage.pName = "main";
    pipelineInfo.stage.pSpecializationInfo = &info;
    pipelineInfo.layout = device_->layouts().pipeline(kernel.bindingCount);
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vk_.vkCreateComputePipelines(handles_.device, VK_NULL_HANDLE, 1, &pipelineInfo, nullptr, &pipeline);
    vk_.vkDestroyShaderModule(handles_.device, module, nullptr);
    if (result != VK_SUCCESS) return {};
    Statistics statistics = statisticsOf(pipeline);
    vk_.vkDestroyPipeline(handles_.device, pipeline, nullptr);
    return statistics;
  }

 private:
  Compiler() {
    REQUIRE(volkInitialize() == VK_SUCCESS);
    const VkApplicationInfo application{
        VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "amd_tests", 1, "dimple", 1, VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info{
        VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, nullptr, 0, &application, 0, nullptr, 0, nullptr};
    REQUIRE(vkCreateInstance(&info, nullptr, &handles_.instance) == VK_SUCCESS);
    auto functions = vulkan::loadInstanceFunctions(vkGetInstanceProcAddr, handles_.instance);
    REQUIRE(functions);
    functions_ = *functions;
    uint32_t count = 1;
    static_cast<void>(functions_.enumeratePhysicalDevices(handles_.instance, &count, &handles_.physicalDevice));
    REQUIRE_MESSAGE(count == 1, "There is no Vulkan device: VK_DRIVER_FILES has to name RADV's manifest.");
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    functions_.getPhysicalDeviceProperties2(handles_.physicalDevice, &properties);
    name_ = properties.properties.deviceName;
    REQUIRE_MESSAGE(name_.find("RADV") != name_.npos, name_);
    createDevice();
  }

  // With all features of the device that Dimple asks for.
  void createDevice() {
    std::vector<const char*> extensions{VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable{};
    executable.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrix{};
    matrix.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    matrix.pNext = &executable;
    VkPhysicalDeviceVulkan13Features v13{};
    v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    v13.pNext = &matrix;
    VkPhysicalDeviceVulkan12Features v12{};
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    v12.pNext = &v13;
    VkPhysicalDeviceVulkan11Features v11{};
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    v11.pNext = &v12;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &v11;
    functions_.getPhysicalDeviceFeatures2(handles_.physicalDevice, &features);
    features.features.robustBufferAccess = VK_FALSE;
    if (matrix.cooperativeMatrix) extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    constexpr float kPriority = 1;
    const VkDeviceQueueCreateInfo queue{
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, nullptr, 0, handles_.queueFamily, 1, &kPriority};
    const VkDeviceCreateInfo info{
        VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,     &features,         0,      1, &queue, 0, nullptr,
        static_cast<uint32_t>(extensions.size()), extensions.data(), nullptr};
    const auto made = functions_.createDevice(handles_.physicalDevice, &info, nullptr, &handles_.device);
    REQUIRE(made);
    volkLoadInstanceOnly(handles_.instance);
    volkLoadDeviceTable(&vk_, handles_.device);
    auto device = Device::create(handles_, functions_, vulkan::readFeatures(features), {}, {});
    REQUIRE_MESSAGE(device, device.error().text);
    device_ = std::move(*device);
  }

  Statistics statisticsOf(VkPipeline pipeline) {
    const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, 0};
    uint32_t count = 0;
    REQUIRE(vk_.vkGetPipelineExecutableStatisticsKHR(handles_.device, &info, &count, nullptr) == VK_SUCCESS);
    VkPipelineExecutableStatisticKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::vector<VkPipelineExecutableStatisticKHR> all(count, empty);
    REQUIRE(vk_.vkGetPipelineExecutableStatisticsKHR(handles_.device, &info, &count, all.data()) == VK_SUCCESS);
    Statistics statistics;
    for (const auto& statistic : all) statistics[statistic.name] = statistic.value.u64;
    return statistics;
  }

  vulkan::DeviceHandles handles_;
  vulkan::InstanceFunctions functions_;
  VolkDeviceTable vk_{};
  std::string name_;
  std::unique_ptr<Device> device_;
};

// Compiles a kernel and checks what becomes of it.
void check(const KernelInfo& kernel, std::span<const Specialization> specialization,
           std::span<const uint32_t> fixed = {}) {
  Compiler& compiler = Compiler::instance();
  std::string name(kernel.name);
  for (const Specialization& s : specialization) name += cat(" ", s.id, "=", s.value);
  CAPTURE(name);
  const auto start = std::chrono::steady_clock::now();
  const auto statistics = compiler.compile(kernel, specialization, fixed);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  CHECK(statistics);
  if (!statistics) return;
  const auto value = [&](const char* statistic) {
    REQUIRE_MESSAGE(statistics->contains(statistic), statistic);
    return statistics->at(statistic);
  };
  CHECK(value("Spilled VGPRs") == 0);
  const Budget budget = budgetOf(kernel.name);
  CHECK(value("Spilled SGPRs") <= budget.movedScalars);
  CHECK(value("Scratch size") == 0);
  CHECK(value("VGPRs") <= budget.registers);
  if (std::getenv("DIMPLE_AMD_LIST"))
    std::printf("%s: %s, %llu registers, %llu bytes, %.0f ms\n", compiler.name().c_str(), name.c_str(),
                static_cast<unsigned long long>(value("VGPRs")), static_cast<unsigned long long>(value("Code size")),
                time.count());
}

TEST_CASE("amd: kernels compile without spills, in the registers that they may take") {
  Compiler& compiler = Compiler::instance();
  size_t compiled = 0;
  for (const KernelInfo& kernel : kernelTable()) {
    // The interpreter of chains is compiled for their programs alone.
    if (!compiler.runs(kernel) || kernel.id.family == KernelFamily::Chain) continue;
    check(kernel, {});
    ++compiled;
  }
  std::printf("amd: %s, %zu of %zu kernels compiled\n", compiler.name().c_str(), compiled, kernelTable().size());
  // All but those of cooperative matrices, which not every family has.
  CHECK(compiled + 40 > kernelTable().size());
}

// A kernel with ids and values of its constants, and the words of its parameter block that are fixed.
using PlannedPipeline = std::tuple<KernelId, std::vector<std::pair<uint32_t, uint32_t>>, std::vector<uint32_t>>;

// Those of the dispatches that plans of cases have on this device.
std::set<PlannedPipeline> pipelinesOfPlans(const Caps& caps) {
  std::set<PlannedPipeline> pipelines;
  forEachCasePlan([&](const TestCase& test) { return Target(caps, {}, test.halfPrecision); },
                  [&](const Plan& plan) {
                    for (const auto* dispatches : {&plan.initialization, &plan.execution})
                      for (const Dispatch& dispatch : *dispatches) {
                        std::vector<std::pair<uint32_t, uint32_t>> constants;
                        for (const Specialization& s : dispatch.specialization) constants.emplace_back(s.id, s.value);
                        if (!constants.empty() || !dispatch.fixed.empty())
                          pipelines.emplace(dispatch.kernel, std::move(constants), dispatch.fixed);
                      }
                  });
  return pipelines;
}

TEST_CASE("amd: what plans ask for compiles without spills, in the registers that it may take") {
  Compiler& compiler = Compiler::instance();
  const auto pipelines = pipelinesOfPlans(compiler.device().caps());
  const size_t sample = selection().sample;
  size_t at = 0;
  size_t compiled = 0;
  for (const auto& [id, constants, fixed] : pipelines) {
    if (at++ % sample != 0) continue;
    const KernelInfo* kernel = findKernel(id);
    REQUIRE(kernel);
    std::vector<Specialization> specialization;
    for (const auto& [constant, value] : constants) specialization.push_back({constant, value});
    check(*kernel, specialization, fixed);
    ++compiled;
  }
  std::printf("amd: %s, %zu of %zu pipelines of plans compiled\n", compiler.name().c_str(), compiled, pipelines.size());
  CHECK(compiled > 0);
}

}  // namespace
}  // namespace dimple::testing
