#include "api/vulkan/objects.h"

#include <new>

#include "core/text.h"

namespace dimple::api {

VulkanBuffer::VulkanBuffer(std::shared_ptr<vulkan::Device> backend, VkBuffer buffer, uint64_t bytes)
    : VulkanObject(std::move(backend)), handle_(buffer), bytes_(bytes) {}
VulkanBuffer::VulkanBuffer(std::shared_ptr<vulkan::Device> backend, std::unique_ptr<vulkan::Buffer> buffer)
    : VulkanObject(std::move(backend)), owned_(std::move(buffer)), handle_(owned_->handle()), bytes_(owned_->bytes()) {}

D3D12_RESOURCE_DESC VulkanBuffer::desc() const {
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes_;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return desc;
}

VulkanDescriptorHeap::VulkanDescriptorHeap(std::shared_ptr<vulkan::Device> backend, uint32_t count)
    : VulkanObject(std::move(backend)),
      heap_(std::make_shared<vulkan::DescriptorHeap>(*backend_, count)),
      handles_(new std::byte[size_t{count} * dimpleDescriptorIncrement]) {}
ComPtr<VulkanDescriptorHeap> VulkanDescriptorHeap::find(uint64_t handle, uint32_t& index) {
  auto heap = LiveRange<VulkanDescriptorHeap>::find(handle);
  if (!heap || (handle - heap->start()) % dimpleDescriptorIncrement != 0) return {};
  index = static_cast<uint32_t>((handle - heap->start()) / dimpleDescriptorIncrement);
  return heap;
}

D3D12_DESCRIPTOR_HEAP_DESC VulkanDescriptorHeap::desc() const {
  return {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, heap_->count(), D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
}

Result<ComPtr<ID3D12DescriptorHeap>> makeVulkanDescriptorHeap(std::shared_ptr<vulkan::Device> backend, UINT count) {
  try {
    return ComPtr<ID3D12DescriptorHeap>::adopt(new VulkanDescriptorHeap(std::move(backend), count));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::OutOfMemory, cat("There is not enough memory for ", count, " descriptors.")};
  }
}

HRESULT VulkanCommandList::refuse(HRESULT code, const char* text) noexcept { return device_->refuse(code, text); }

HRESULT VulkanCommandList::Close() {
  return refuse(E_NOTIMPL, "Close: the command buffer is the caller's, expected vkEndCommandBuffer.");
}
HRESULT VulkanCommandList::Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) {
  return refuse(E_NOTIMPL, "Reset: the command buffer is the caller's, expected vkBeginCommandBuffer.");
}

void recordHostRead(const vulkan::Device& backend, VkCommandBuffer commands) {
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                VK_ACCESS_HOST_READ_BIT};
  backend.vk().vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                    &barrier, 0, nullptr, 0, nullptr);
}

void VulkanCommandList::CopyBufferRegion(ID3D12Resource* target, UINT64 targetOffset, ID3D12Resource* source,
                                         UINT64 sourceOffset, UINT64 bytes) {
  removing(device(), "CopyBufferRegion", [&] {
    const auto to = Live<VulkanBuffer>::find(target);
    const auto from = Live<VulkanBuffer>::find(source);
    const auto inside = [&](const VulkanBuffer& b, UINT64 at) { return at <= b.bytes() && bytes <= b.bytes() - at; };
    if (!recording() || !to || !from || bytes == 0 || !inside(*to, targetOffset) || !inside(*from, sourceOffset))
      return;
    const VkBufferCopy region{sourceOffset, targetOffset, bytes};
    backend_->vk().vkCmdCopyBuffer(commands_, from->handle(), to->handle(), 1, &region);
    if (to->isForTransfers()) recordHostRead(*backend_, commands_);
  });
}

void VulkanCommandList::ResourceBarrier(UINT count, const D3D12_RESOURCE_BARRIER* barriers) {
  removing(device(), "ResourceBarrier", [&] {
    if (!recording() || count == 0 || !barriers) return;
    // Buffers have no layouts: every kind of barrier is one of memory.
    constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                  VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                                      VK_ACCESS_TRANSFER_WRITE_BIT};
    backend_->vk().vkCmdPipelineBarrier(commands_, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  });
}

Result<NativeBuffer> VulkanObjects::buffer(ID3D12Resource* resource) {
  const auto buffer = Live<VulkanBuffer>::find(resource);
  if (!buffer) return invalid("Buffer is not a live buffer that Dimple wraps (dimpleWrapBuffer).");
  if (&buffer->backend() != backend_.get()) return invalid("Buffer belongs to another device.");
  if (buffer->isForTransfers()) return invalid("Buffer is for transfers only (dimpleCreateTransferBuffer).");
  return NativeBuffer{reinterpret_cast<uint64_t>(buffer->handle()), buffer->bytes()};
}

Result<uint64_t> VulkanObjects::commandList(ID3D12CommandList* list) {
  const auto found = Live<VulkanCommandList>::find(list);
  if (!found) return invalid("commandList is not a live command list that Dimple wraps (dimpleWrapCommandBuffer).");
  if (&found->backend() != backend_.get()) return invalid("commandList belongs to another device.");
  if (!found->recording()) return invalid("commandList is closed, expected one that records.");
  return reinterpret_cast<uint64_t>(found->handle());
}

Result<DescriptorRange> VulkanObjects::descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                                   UINT count) {
  uint32_t cpuIndex = 0;
  uint32_t gpuIndex = 0;
  const auto heap = VulkanDescriptorHeap::find(cpu.ptr, cpuIndex);
  if (!heap)
    return invalid("CPUDescriptorHandle does not lie in a live Dimple descriptor heap (dimpleCreateDescriptorHeap).");
  if (VulkanDescriptorHeap::find(gpu.ptr, gpuIndex).get() != heap.get() || gpuIndex != cpuIndex)
    return invalid("GPUDescriptorHandle is not the same descriptor as CPUDescriptorHandle.");
  if (&heap->backend() != backend_.get()) return invalid("CPUDescriptorHandle lies in a heap of another device.");
  if (count > heap->heap().count() - cpuIndex)
    return invalid(cat("SizeInDescriptors has value (", count, "), but the heap has only ",
                       heap->heap().count() - cpuIndex, " descriptors from CPUDescriptorHandle on."));
  return DescriptorRange{&heap->heap(), cpuIndex, gpuIndex, count};
}

HRESULT VulkanObjects::parentDevice(REFIID, void**) {
  setLastMessage("GetParentDevice: a DirectML device over Vulkan has no Direct3D 12 device.");
  return E_NOINTERFACE;
}

}  // namespace dimple::api
