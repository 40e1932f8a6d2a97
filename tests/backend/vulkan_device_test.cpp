// A DirectML device over Vulkan objects that the program made: what it enabled is all that is used.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/api/fixture.h"
#include "tests/caller.h"

using namespace dimple::testing;

namespace {

// A plain Vulkan program: an instance, a device with `features`, one mapped buffer and one command buffer.
class Program {
  const Caller caller_;

 public:
  explicit Program(const VkPhysicalDeviceFeatures2* features = nullptr)
      : caller_(features), desc(caller_.desc()), vk(caller_.vk()) {
    REQUIRE(caller_.ready());
    vk.vkGetDeviceQueue(desc.Device, 0, 0, &queue_);

    VkBufferCreateInfo bufferInfo{};
    bufferInfo.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    bufferInfo.size = kBytes;
    bufferInfo.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    REQUIRE(vk.vkCreateBuffer(desc.Device, &bufferInfo, nullptr, &buffer) == VK_SUCCESS);
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(desc.Device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(desc.PhysicalDevice, &memory);
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.allocationSize = needs.size;
    constexpr VkMemoryPropertyFlags kFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags & kFlags) != kFlags)
      REQUIRE(++allocate.memoryTypeIndex < memory.memoryTypeCount);
    REQUIRE(vk.vkAllocateMemory(desc.Device, &allocate, nullptr, &memory_) == VK_SUCCESS);
    REQUIRE(vk.vkBindBufferMemory(desc.Device, buffer, memory_, 0) == VK_SUCCESS);
    REQUIRE(vk.vkMapMemory(desc.Device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS);

    VkCommandPoolCreateInfo poolInfo{};
    poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    REQUIRE(vk.vkCreateCommandPool(desc.Device, &poolInfo, nullptr, &pool_) == VK_SUCCESS);
    VkCommandBufferAllocateInfo commandInfo{};
    commandInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commandInfo.commandPool = pool_;
    commandInfo.commandBufferCount = 1;
    REQUIRE(vk.vkAllocateCommandBuffers(desc.Device, &commandInfo, &commands) == VK_SUCCESS);
  }
  ~Program() {
    vk.vkDestroyCommandPool(desc.Device, pool_, nullptr);
    vk.vkDestroyBuffer(desc.Device, buffer, nullptr);
    vk.vkFreeMemory(desc.Device, memory_, nullptr);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  ComPtr<IDMLDevice> device(HRESULT expected = S_OK, DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_1_0) const {
    ComPtr<IDMLDevice> made;
    CHECK(dimpleCreateVulkanDevice(&desc, DML_CREATE_DEVICE_FLAG_NONE, level, IID_PPV_ARGS(&made)) == expected);
    return made;
  }
  void begin() const {
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    REQUIRE(vk.vkBeginCommandBuffer(commands, &info) == VK_SUCCESS);
  }
  void finish() const {
    REQUIRE(vk.vkEndCommandBuffer(commands) == VK_SUCCESS);
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    REQUIRE(vk.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS);
    REQUIRE(vk.vkQueueWaitIdle(queue_) == VK_SUCCESS);
  }

  static constexpr VkDeviceSize kBytes = 1024;
  DimpleVulkanDeviceDesc desc;
  const VolkDeviceTable& vk;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  void* mapped = nullptr;

 private:
  VkQueue queue_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
};

ComPtr<IDMLCompiledOperator> compile(const ComPtr<IDMLDevice>& device, std::string_view line, HRESULT expected = S_OK) {
  auto parsed = dimple::parseCase(line);
  REQUIRE(parsed);
  const DML_OPERATOR_DESC desc = parsed->desc.desc();
  ComPtr<IDMLOperator> op;
  REQUIRE(device->CreateOperator(&desc, IID_PPV_ARGS(&op)) == S_OK);
  ComPtr<IDMLCompiledOperator> compiled;
  CHECK(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)) == expected);
  return compiled;
}

}  // namespace

TEST_CASE("an operator runs in the program's own buffer and command buffer") {
  Program program;  // no features at all: 8-bit elements go through 32-bit words
  const auto device = program.device();
  REQUIRE(device);
  const auto op = compile(device, "ELEMENT_WISE_ADD ATensor=u8[5]{3} BTensor=u8[5] OutputTensor=u8[5]{2}");
  auto* bytes = static_cast<uint8_t*>(program.mapped);
  std::memset(bytes, 0xcd, Program::kBytes);
  for (int i = 0; i < 5; ++i) {
    bytes[i * 3] = static_cast<uint8_t>(i);
    bytes[256 + i] = 100;
  }
  ComPtr<ID3D12Resource> buffer;
  REQUIRE(dimpleWrapBuffer(device.Get(), program.buffer, Program::kBytes, &buffer) == S_OK);
  CHECK(dimpleGetDesc(buffer.Get()).Width == Program::kBytes);
  ComPtr<ID3D12DescriptorHeap> heap;
  REQUIRE(dimpleCreateDescriptorHeap(device.Get(), 3, &heap) == S_OK);
  const DML_BINDING_TABLE_DESC tableDesc{op.Get(), dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()), 3};
  ComPtr<IDMLBindingTable> table;
  REQUIRE(device->CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)) == S_OK);
  const DML_BUFFER_BINDING parts[] = {{buffer.Get(), 0, 16}, {buffer.Get(), 256, 8}, {buffer.Get(), 512, 12}};
  const DML_BINDING_DESC descs[] = {
      {DML_BINDING_TYPE_BUFFER, parts}, {DML_BINDING_TYPE_BUFFER, parts + 1}, {DML_BINDING_TYPE_BUFFER, parts + 2}};
  table->BindInputs(2, descs);
  table->BindOutputs(1, descs + 2);
  program.begin();
  ComPtr<ID3D12GraphicsCommandList> list;
  REQUIRE(dimpleWrapCommandBuffer(device.Get(), program.commands, &list) == S_OK);
  CHECK(list->Close() == E_NOTIMPL);
  ComPtr<IDMLCommandRecorder> recorder;
  REQUIRE(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)) == S_OK);
  recorder->RecordDispatch(list.Get(), op.Get(), table.Get());
  program.finish();
  CHECK(device->GetDeviceRemovedReason() == S_OK);
  for (int i = 0; i < 10; ++i) CHECK(bytes[512 + i] == (i % 2 ? 0xcd : 100 + i / 2));
}

TEST_CASE("a kernel that needs a feature which was not enabled is refused by the feature's name") {
  Program program;
  const auto device = program.device();
  compile(device, "ELEMENT_WISE_ADD ATensor=i64[5] BTensor=i64[5] OutputTensor=i64[5]", DXGI_ERROR_UNSUPPORTED);
  CHECK(std::string(dimpleGetLastMessage()).find("shaderInt64") != std::string::npos);
  // Moving 64-bit elements takes no arithmetic.
  compile(device, "ELEMENT_WISE_IDENTITY InputTensor=i64[5] OutputTensor=i64[5]");
  const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{DML_TENSOR_DATA_TYPE_FLOAT32};
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
  CHECK(device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support,
                                    &support) == S_OK);
  CHECK(support.IsSupported);

  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.features.shaderInt64 = VK_TRUE;
  Program better(&features);
  compile(better.device(), "ELEMENT_WISE_ADD ATensor=i64[5] BTensor=i64[5] OutputTensor=i64[5]");
}

TEST_CASE("creation checks its arguments") {
  Program program;
  program.device(S_OK, DML_FEATURE_LEVEL_6_4);
  DML_FEATURE_LEVEL above{};
  const uint32_t value = 0x6500;
  std::memcpy(&above, &value, sizeof value);
  program.device(DXGI_ERROR_UNSUPPORTED, above);
  ComPtr<IDMLDevice> made;
  CHECK(dimpleCreateVulkanDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&made)) ==
        E_INVALIDARG);
  const auto device = program.device();
  ComPtr<ID3D12Resource> buffer;
  CHECK(dimpleWrapBuffer(device.Get(), VK_NULL_HANDLE, 16, &buffer) == E_INVALIDARG);
  CHECK(dimpleWrapBuffer(device.Get(), program.buffer, 0, &buffer) == E_INVALIDARG);
  CHECK(dimpleWrapBuffer(nullptr, program.buffer, 16, &buffer) == E_INVALIDARG);
  ComPtr<ID3D12GraphicsCommandList> list;
  CHECK(dimpleWrapCommandBuffer(device.Get(), nullptr, &list) == E_INVALIDARG);
  ComPtr<ID3D12DescriptorHeap> heap;
  CHECK(dimpleCreateDescriptorHeap(device.Get(), 0, &heap) == E_INVALIDARG);
}

TEST_CASE("two devices live side by side and do not mix") {
  Program one;
  Program two;
  const auto deviceOne = one.device();
  const auto deviceTwo = two.device();
  const auto op = compile(deviceOne, kAddLine);
  compile(deviceTwo, kAddLine);
  ComPtr<ID3D12DescriptorHeap> heap;
  REQUIRE(dimpleCreateDescriptorHeap(deviceTwo.Get(), 3, &heap) == S_OK);
  const DML_BINDING_TABLE_DESC desc{op.Get(), dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()), 3};
  ComPtr<IDMLBindingTable> table;
  CHECK(deviceOne->CreateBindingTable(&desc, IID_PPV_ARGS(&table)) == E_INVALIDARG);
  CHECK(deviceTwo->CreateBindingTable(&desc, IID_PPV_ARGS(&table)) == E_INVALIDARG);
}

TEST_CASE("adapters are chosen by index, name and UUID") {
  DimpleAdapterDesc adapter{};
  REQUIRE(dimpleEnumerateAdapters(0, &adapter) == S_OK);
  CHECK(dimpleEnumerateAdapters(1000, &adapter) == DXGI_ERROR_NOT_FOUND);
  CHECK(dimpleEnumerateAdapters(0, nullptr) == E_POINTER);
#ifdef DIMPLE_WITH_D3D12
  CHECK(dimpleEnumerateBackendAdapters(DIMPLE_BACKEND_D3D12, 1000, &adapter) == DXGI_ERROR_NOT_FOUND);
#else
  CHECK(dimpleEnumerateBackendAdapters(DIMPLE_BACKEND_D3D12, 0, &adapter) == DXGI_ERROR_UNSUPPORTED);
#endif
  REQUIRE(dimpleEnumerateAdapters(0, &adapter) == S_OK);
  const auto open = [](const DimpleContextDesc& desc) {
    ComPtr<IDimpleContext> context;
    return dimpleCreateContext(&desc, IID_PPV_ARGS(&context));
  };
  DimpleContextDesc desc{};
  desc.AdapterName = adapter.Name;
  CHECK(open(desc) == S_OK);
  desc.AdapterName = "no such device";
  CHECK(open(desc) == DXGI_ERROR_NOT_FOUND);
  CHECK(std::string(dimpleGetLastMessage()).find("a name that contains \"no such device\"") != std::string::npos);
  // A message that is too long ends with a whole character, wherever that is.
  std::string umlauts;
  for (int i = 0; i < 2000; ++i) umlauts += "\u00e4";
  for (const char* start : {"", "x"}) {
    const std::string name = start + umlauts;
    desc.AdapterName = name.c_str();
    CHECK(open(desc) == DXGI_ERROR_NOT_FOUND);
    const std::string text = dimpleGetLastMessage();
    CHECK((text.size() == 2046 || text.size() == 2047));
    CHECK(text.ends_with("\u00e4"));
  }
  desc.AdapterName = "no such device";
  desc.AdapterUuid = adapter.DeviceUuid;  // goes before the name
  CHECK(open(desc) == S_OK);
  const UINT8 noUuid[16] = {1};
  desc.AdapterUuid = noUuid;
  CHECK(open(desc) == DXGI_ERROR_NOT_FOUND);
  desc = {};
  desc.AdapterIndex = 1000;
  CHECK(open(desc) == DXGI_ERROR_NOT_FOUND);
}

TEST_CASE("pipelines are kept in a file, and a damaged file is ignored") {
  const auto path = (std::filesystem::temp_directory_path() / "dimple_pipeline_cache_test").string();
  std::filesystem::remove(path);
  const auto use = [&] {
    Program program;
    program.desc.PipelineCachePath = path.c_str();
    const auto device = program.device();
    compile(device, kAddLine);
  };
  use();
  REQUIRE(std::filesystem::exists(path));
  const auto size = std::filesystem::file_size(path);
  CHECK(size > 24);
  use();
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.write("\xff\xff\xff\xff", 4);
  }
  use();
  std::filesystem::resize_file(path, size / 2);
  use();
  CHECK(std::filesystem::file_size(path) > 24);
  std::ofstream(path, std::ios::trunc) << "short";
  use();
  std::filesystem::remove(path);
}
