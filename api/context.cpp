#include "api/context.h"

#include "core/support/parallel.h"
#include "core/text.h"

namespace dimple::api {

HRESULT refuseContext(const DimpleContextDesc& desc, HRESULT code, const char* text) noexcept {
  setLastMessage(text);
  callCallback(desc.MessageCallback, desc.MessageContext, DIMPLE_MESSAGE_ERROR, code, text);
  return code;
}
HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error) noexcept {
  return refuseContext(desc, resultOf(error.code), error.text.c_str());
}

Context::Context(std::unique_ptr<NativeObjects> native, const DimpleContextDesc& desc, const Options& options)
    : device_(ComPtr<Device>::adopt(new Device(std::move(native), desc.DeviceFlags, options))) {
  device_->setCallback(desc.MessageCallback, desc.MessageContext);
}

template <class Body>
HRESULT Context::onDevice(const char* method, Body body) {
  return guarded(*device_, method, [&]() -> HRESULT {
    if (device_->removed()) return device_->refuseRemoved();
    return body();
  });
}

template <class Interface>
HRESULT Context::handOver(Result<ComPtr<Interface>> made, Interface** object) {
  if (!made) return device_->refuse(made.error());
  *object = made->detach();
  return S_OK;
}

HRESULT Context::GetAdapterDesc(DimpleAdapterDesc* desc) {
  return guarded(*device_, "GetAdapterDesc", [&]() -> HRESULT {
    if (!desc) return device_->refuse(E_POINTER, "desc is null, expected where to put the description.");
    describe(*desc);
    return S_OK;
  });
}

HRESULT Context::CreateBuffer(UINT64 sizeInBytes, ID3D12Resource** buffer) {
  if (buffer) *buffer = nullptr;
  return onDevice("CreateBuffer", [&] {
    if (!buffer) return device_->refuse(E_POINTER, "buffer is null, expected where to put the buffer.");
    if (sizeInBytes == 0) return device_->refuse(E_INVALIDARG, "sizeInBytes has value (0), expected at least 1.");
    return handOver(makeBuffer(sizeInBytes), buffer);
  });
}

HRESULT Context::CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) {
  if (heap) *heap = nullptr;
  return onDevice("CreateDescriptorHeap", [&] {
    if (!heap) return device_->refuse(E_POINTER, "heap is null, expected where to put the descriptor heap.");
    if (count == 0) return device_->refuse(E_INVALIDARG, "count has value (0), expected at least 1.");
    return handOver(makeDescriptorHeap(count), heap);
  });
}

template <class Copy>
HRESULT Context::transfer(const char* method, ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes,
                          Copy copy) {
  return onDevice(method, [&] {
    if (!buffer)
      return device_->refuse(E_INVALIDARG, cat(method, ": buffer is null, expected a buffer of this context."));
    const auto size = sizeOf(*buffer);
    if (!size) return device_->refuse(resultOf(size.error().code), cat(method, ": ", size.error().text));
    if (offset > *size || bytes > *size - offset)
      return device_->refuse(E_INVALIDARG, cat(method, " has offset (", offset, ") and sizeInBytes (", bytes,
                                               "), outside the buffer of ", *size, " bytes."));
    if (bytes == 0) return S_OK;
    if (!data) return device_->refuse(E_INVALIDARG, cat(method, ": data is null, expected ", bytes, " bytes."));
    return answer(copy());
  });
}

HRESULT Context::Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) {
  return transfer("Upload", buffer, offset, data, bytes, [&] { return upload(*buffer, offset, data, bytes); });
}

HRESULT Context::Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) {
  return transfer("Download", buffer, offset, data, bytes, [&] { return download(*buffer, offset, data, bytes); });
}

HRESULT Context::CreateCommandList(ID3D12GraphicsCommandList** list) {
  if (list) *list = nullptr;
  return onDevice("CreateCommandList", [&] {
    if (!list) return device_->refuse(E_POINTER, "list is null, expected where to put the command list.");
    return handOver(makeCommandList(), list);
  });
}

HRESULT Context::ResetCommandList(ID3D12GraphicsCommandList* list) {
  return onDevice("ResetCommandList", [&] {
    if (!list) return device_->refuse(E_INVALIDARG, "list is null, expected a closed command list.");
    return answer(resetList(*list));
  });
}

HRESULT Context::Execute(ID3D12GraphicsCommandList* list, UINT64* fence) {
  return onDevice("Execute", [&] {
    if (!list) return device_->refuse(E_INVALIDARG, "list is null, expected a closed command list.");
    const auto value = execute(*list);
    if (!value) return device_->refuse(value.error());
    for (UINT64 last = lastFence_; last < *value && !lastFence_.compare_exchange_weak(last, *value);) {
    }
    if (fence) *fence = *value;
    return S_OK;
  });
}

HRESULT Context::Wait(UINT64 fence) {
  return onDevice("Wait", [&] {
    if (const UINT64 last = lastFence_; fence > last)
      return device_->refuse(E_INVALIDARG,
                             cat("fence has value (", fence,
                                 "), expected a value that Execute returned, of which the highest is ", last, "."));
    return answer(waitFor(fence));
  });
}

HRESULT Context::SetProfiling(BOOL enabled) {
  return onDevice("SetProfiling", [&] { return answer(profile(enabled != FALSE)); });
}

template <class Report>
HRESULT Context::read(const char* method, Report report, const ReceiveTimes& receive) {
  return onDevice(method, [&] {
    if (!report) return device_->refuse(E_POINTER, "report is null, expected a function.");
    const auto wasRead = readProfile(receive);
    if (!wasRead) return device_->refuse(wasRead.error());
    if (!*wasRead) return device_->refuse(E_INVALIDARG, "Profiling is off, expected SetProfiling first.");
    return S_OK;
  });
}

HRESULT Context::ReadProfile(ReportKernel report, void* context) {
  return read("ReadProfile", report,
              [=](const char* kernel, double, double nanoseconds) { report(context, kernel, nanoseconds); });
}

HRESULT Context::ReadTimeline(ReportTimedKernel report, void* context) {
  return read("ReadTimeline", report, [=](const char* kernel, double begin, double nanoseconds) {
    report(context, kernel, begin, nanoseconds);
  });
}

void Context::GetCompileCounts(UINT* wanted, UINT* compiled) {
  const CompileCounts counts = compileCounts();
  if (wanted) *wanted = counts.wanted;
  if (compiled) *compiled = counts.compiled;
}

}  // namespace dimple::api
