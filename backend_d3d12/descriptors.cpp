#include "backend_d3d12/descriptors.h"

#include <algorithm>

#include "backend_d3d12/device.h"
#include "backend_d3d12/fault.h"
#include "backend_d3d12/pipeline.h"
#include "core/text.h"

namespace dimple::d3d12 {
namespace {

D3D12_ROOT_PARAMETER constants(UINT shaderRegister, UINT count) {
  D3D12_ROOT_PARAMETER parameter{};
  parameter.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameter.Constants.ShaderRegister = shaderRegister;
  parameter.Constants.Num32BitValues = count;
  return parameter;
}

Result<ComPtr<ID3D12RootSignature>> createSignature(const Device& device, const Library& library, uint32_t count) {
  std::array<D3D12_ROOT_PARAMETER, 4> parameters{};
  parameters[kPushWords] = constants(0, device.caps().pushBytes / sizeof(uint32_t));
  parameters[kSpecialization] = constants(1, kMaxSpecializations);
  parameters[kParameters].ParameterType = D3D12_ROOT_PARAMETER_TYPE_CBV;
  parameters[kParameters].Descriptor.RegisterSpace = 1;
  D3D12_DESCRIPTOR_RANGE buffers{};
  buffers.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_UAV;
  buffers.NumDescriptors = count;
  parameters[kBuffers].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameters[kBuffers].DescriptorTable = {1, &buffers};
  D3D12_ROOT_SIGNATURE_DESC desc{};
  desc.NumParameters = count == 0 ? kBuffers : kBuffers + 1u;
  desc.pParameters = parameters.data();

  ComPtr<ID3DBlob> blob, message;
  TRY(Outcome("D3D12SerializeRootSignature",
              library.serializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1_0, &blob, &message)));
  ComPtr<ID3D12RootSignature> signature;
  TRY(Outcome("CreateRootSignature",
              device.handle().CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(),
                                                  IID_PPV_ARGS(&signature))));
  return signature;
}

D3D12_RESOURCE_BARRIER transition(ID3D12Resource& resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {&resource, 0, before, after};
  return barrier;
}

}  // namespace

Result<std::unique_ptr<DescriptorLayouts>> DescriptorLayouts::create(const Device& device) {
  const auto library = loadLibrary();
  if (!library) return library.error();
  auto layouts = std::make_unique<DescriptorLayouts>();
  for (uint32_t count = 0; count <= kMaxBindings; ++count) {
    auto signature = createSignature(device, *library, count);
    if (!signature) return signature.error();
    layouts->signatures_[count] = std::move(*signature);
  }
  return layouts;
}

HeapSets::HeapSets(const Device& device, const PlanExecutable& executable, const DescriptorRange& range)
    : device_(device), executable_(executable), cpuStart_(range.cpuStart), gpuStart_(range.gpuStart) {
  size_t first = 0, next = 0;
  for (const auto& item : executable.dispatches()) {
    if (!item.sharesDescriptors) {
      first = next;
      next += item.bufferCount;
    }
    first_.push_back(first);
  }
}

D3D12_GPU_DESCRIPTOR_HANDLE HeapSets::table(size_t dispatch) const {
  return {gpuStart_ + first_[dispatch] * device_.descriptorIncrement()};
}

Status HeapSets::write(std::span<const DescriptorWrite> writes) {
  for (const DescriptorWrite& each : writes) TRY(write(each));
  return {};
}

Status HeapSets::write(const DescriptorWrite& write) {
  auto* resource = reinterpret_cast<ID3D12Resource*>(write.buffer.handle);
  uint64_t offset = write.offset;
  const size_t descriptor = first_[write.dispatch] + write.binding;
  std::erase_if(copies_, [&](const Copy& copy) { return copy.descriptor == descriptor; });
  if (write.buffer.upload) {
    auto target = Buffer::create(device_.handle(), write.bytes, D3D12_HEAP_TYPE_DEFAULT);
    if (!target) return target.error();
    copies_.push_back({descriptor, resource, offset, write.bytes, std::move(*target)});
    // Recorded work outlives the binding table, not the executable.
    executable_.keep(copies_.back().target);
    resource = &copies_.back().target->handle();
    offset = 0;
  }
  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.FirstElement = offset / sizeof(uint32_t);
  view.Buffer.NumElements = static_cast<UINT>(write.bytes / sizeof(uint32_t));
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  device_.handle().CreateUnorderedAccessView(
      resource, nullptr, &view, {static_cast<SIZE_T>(cpuStart_ + descriptor * device_.descriptorIncrement())});
  return {};
}

void HeapSets::recordCopies(ID3D12GraphicsCommandList& list) const {
  if (copies_.empty()) return;
  std::vector<D3D12_RESOURCE_BARRIER> barriers;
  for (const Copy& copy : copies_)
    barriers.push_back(transition(copy.target->handle(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST));
  list.ResourceBarrier(static_cast<UINT>(barriers.size()), barriers.data());
  for (const Copy& copy : copies_)
    list.CopyBufferRegion(&copy.target->handle(), 0, copy.source.Get(), copy.offset, copy.bytes);
  // Back to COMMON, from which the dispatches promote them: recording again finds them as the first time.
  for (D3D12_RESOURCE_BARRIER& barrier : barriers)
    std::swap(barrier.Transition.StateBefore, barrier.Transition.StateAfter);
  list.ResourceBarrier(static_cast<UINT>(barriers.size()), barriers.data());
}

Result<std::unique_ptr<DescriptorSets>> Device::describe(const Executable& executable, const DescriptorRange& range) {
  if (lost_) return Error{ErrorCode::DeviceLost, "The device is removed."};
  return std::unique_ptr<DescriptorSets>(
      std::make_unique<HeapSets>(*this, static_cast<const PlanExecutable&>(executable), range));
}

}  // namespace dimple::d3d12
