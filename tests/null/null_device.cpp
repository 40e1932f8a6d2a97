#include "tests/null/null_device.h"

#include "api/device.h"
#include "core/plan/plan.h"

namespace dimple::testing {
namespace {

class NullExecutable final : public Executable {};

class NullDescriptors final : public DescriptorSets {
 public:
  Status write(std::span<const DescriptorWrite>) override { return {}; }
};

class NullBackend final : public Backend {
 public:
  explicit NullBackend(const Caps& caps) : caps_(caps) {}

  const Caps& caps() const override { return caps_; }
  bool supportsVolatileDescriptors() const override { return true; }
  Result<std::unique_ptr<Executable>> prepare(std::span<const Dispatch> dispatches,
                                              std::span<const uint32_t> parameters) override {
    for (const Dispatch& dispatch : dispatches)
      if (!isPossible(dispatch)) return Error{ErrorCode::Internal, "A dispatch is beyond the limits of the device."};
    if (parameters.size() % (caps_.parameterAlignment / 4) != 0)
      return Error{ErrorCode::Internal, "The parameters are not padded."};
    return std::unique_ptr<Executable>(new NullExecutable);
  }
  Result<std::unique_ptr<DescriptorSets>> describe(const Executable&, const DescriptorRange&) override {
    return std::unique_ptr<DescriptorSets>(new NullDescriptors);
  }
  void record(uint64_t, const Executable&, const DescriptorSets&, std::string_view) override {}
  void setLost() override {}

 private:
  bool isPossible(const Dispatch& dispatch) const {
    for (size_t i = 0; i < 3; ++i)
      if (dispatch.groups[i] == 0 || dispatch.groups[i] > caps_.maxGroups[i]) return false;
    for (const BufferRange& range : dispatch.buffers)
      if (range.bytes == 0 || range.bytes % 4 != 0 || range.bytes > caps_.maxBufferRange ||
          range.offset % caps_.bufferOffsetAlignment != 0)
        return false;
    return dispatch.push.size() * 4 <= caps_.pushBytes;
  }

  const Caps caps_;
};

class NullObjects final : public api::NativeObjects {
 public:
  explicit NullObjects(const Caps& caps) : backend_(caps) {}

  Backend& backend() override { return backend_; }
  Result<NativeBuffer> buffer(ID3D12Resource* resource) override {
    if (!resource) return invalid("Buffer is null, expected an ID3D12Resource.");
    return NativeBuffer{reinterpret_cast<uintptr_t>(resource), ~uint64_t{0} / 2};
  }
  Result<uint64_t> commandList(ID3D12CommandList* list) override {
    if (!list) return invalid("commandList is null, expected an ID3D12GraphicsCommandList.");
    return reinterpret_cast<uintptr_t>(list);
  }
  Result<DescriptorRange> descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                      UINT count) override {
    return DescriptorRange{nullptr, cpu.ptr, gpu.ptr, count};
  }
  HRESULT parentDevice(REFIID, void**) override { return E_NOINTERFACE; }

 private:
  NullBackend backend_;
};

}  // namespace

Microsoft::WRL::ComPtr<IDMLDevice> createNullDevice(const Caps& caps, DML_CREATE_DEVICE_FLAGS flags) {
  Microsoft::WRL::ComPtr<IDMLDevice> device;
  device.Attach(new api::Device(std::make_unique<NullObjects>(caps), flags));
  return device;
}

Microsoft::WRL::ComPtr<IDMLDevice> createNullDevice(DML_CREATE_DEVICE_FLAGS flags) {
  Caps caps;
  caps.features = ~uint32_t{0};
  return createNullDevice(caps, flags);
}

static void STDMETHODCALLTYPE hear(void* context, DimpleMessageSeverity, HRESULT, const char* text) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(text);
}

void hearMessages(IDMLDevice& device, std::vector<std::string>& heard) {
  api::Live<api::Device>::find(&device)->setCallback(hear, &heard);
}

}  // namespace dimple::testing
