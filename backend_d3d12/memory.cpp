#include "backend_d3d12/memory.h"

#include "backend_d3d12/fault.h"
#include "core/text.h"

namespace dimple::d3d12 {

Result<std::unique_ptr<Buffer>> Buffer::create(ID3D12Device& device, uint64_t bytes, D3D12_HEAP_TYPE heap) {
  std::unique_ptr<Buffer> buffer(new Buffer(bytes));
  D3D12_HEAP_PROPERTIES properties{};
  properties.Type = heap;
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  // The states that these heaps prescribe; buffers elsewhere begin in COMMON and are promoted by their first use.
  D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COMMON;
  if (heap == D3D12_HEAP_TYPE_UPLOAD) state = D3D12_RESOURCE_STATE_GENERIC_READ;
  if (heap == D3D12_HEAP_TYPE_READBACK) state = D3D12_RESOURCE_STATE_COPY_DEST;
  if (heap == D3D12_HEAP_TYPE_DEFAULT) desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  const Outcome created("CreateCommittedResource",
                        device.CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                                       IID_PPV_ARGS(&buffer->resource_)));
  if (!created) return created.error(cat(" of ", bytes, " bytes"));
  if (heap != D3D12_HEAP_TYPE_DEFAULT) {
    void* address = nullptr;
    TRY(Outcome("Map", buffer->resource_->Map(0, nullptr, &address)));
    buffer->mapped_ = static_cast<std::byte*>(address);
  }
  return buffer;
}

Buffer::~Buffer() {
  if (mapped_) resource_->Unmap(0, nullptr);
}

}  // namespace dimple::d3d12
