// IDMLDevice and what its children share: removal, messages, liveness.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "api/com_object.h"
#include "api/native_objects.h"
#include "core/result.h"
#include "core/target.h"

namespace dimple {
struct Compiled;
}

namespace dimple::api {

class Operator;

// What a device may be created with, on every back end.
Status checkCreation(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL minimumFeatureLevel);

// Refuses an IDMLDevice that is not one of Dimple's.
HRESULT notOurs() noexcept;

class Device final : public WithPrivateData<ComObject<IDMLDevice1, IDMLDevice1, IDMLDevice, IDMLObject>, IUnknown*> {
 public:
  Device(std::unique_ptr<NativeObjects> native, DML_CREATE_DEVICE_FLAGS flags, Options options = {});

  NativeObjects& native() { return *native_; }
  Backend& backend() { return native_->backend(); }
  bool debug() const { return debug_; }

  // None of these five allocates memory.
  // Reports a refused call and returns its HRESULT. A lost device is removed first.
  HRESULT refuse(const Error& error) noexcept;
  HRESULT refuse(HRESULT code, const char* text) noexcept override;
  // Refuses every call once the device is removed, and says why it was.
  HRESULT refuseRemoved() noexcept;
  // Removes the device, once, after misuse of a method that cannot return an error, or when it is lost.
  void removeDevice(const Error& error) noexcept;
  void removeDevice(HRESULT reason, const char* text) noexcept;

  HRESULT refuse(HRESULT code, const std::string& text) noexcept { return refuse(code, text.c_str()); }
  void removeDevice(HRESULT reason, const std::string& text) noexcept { removeDevice(reason, text.c_str()); }
  // Also true if the underlying device turns out to be removed.
  bool removed() noexcept;
  void setCallback(DimpleMessageCallback callback, void* context);
  // Delivers a message to the debugger of the underlying API and to the callback, or to standard error on a debug
  // device that has neither. An exception of the callback is discarded.
  void report(DimpleMessageSeverity severity, HRESULT code, const char* text) noexcept;

  // IDMLDevice
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE feature, UINT queryDataSize, const void* queryData,
                                                UINT supportDataSize, void* supportData) override;
  HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** ppv) override;
  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                            void** ppv) override;
  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT operatorCount, IDMLCompiledOperator* const* operators,
                                                      REFIID riid, void** ppv) override;
  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** ppv) override;
  HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid, void** ppv) override;
  HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) override;
  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) override;
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override;
  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** ppv) override;
  // IDMLDevice1
  HRESULT STDMETHODCALLTYPE CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid,
                                         void** ppv) override;

 private:
  // IDMLDebugDevice, which the original gives without DML_CREATE_DEVICE_FLAG_DEBUG, too; shares the device's reference
  // count.
  class Debug final : public IDMLDebugDevice {
   public:
    explicit Debug(Device& device) : device_(device) {}
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppv) override {
      return device_.QueryInterface(riid, ppv);
    }
    ULONG STDMETHODCALLTYPE AddRef() override { return device_.AddRef(); }
    ULONG STDMETHODCALLTYPE Release() override { return device_.Release(); }
    void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) override { device_.muted_ = mute != FALSE; }

   private:
    Device& device_;
  };

  ~Device() override = default;
  void* queryOther(REFIID riid) override;
  // Checks the flags of everything that is compiled.
  HRESULT checkFlags(DML_EXECUTION_FLAGS flags);
  HRESULT checkFeature(DML_FEATURE feature, UINT queryDataSize, const void* queryData, UINT supportDataSize,
                       void* supportData);
  HRESULT checkDataType(const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT& query,
                        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT& support);
  HRESULT checkLevels(const DML_FEATURE_QUERY_FEATURE_LEVELS& query, DML_FEATURE_DATA_FEATURE_LEVELS& support);
  Target targetOf(DML_EXECUTION_FLAGS flags);
  // Returns the compiled form of `op`, or of a graph if `op` is null; does nothing if `ppv` is null.
  HRESULT handOutCompiled(Result<Compiled> compiled, Operator* op, DML_EXECUTION_FLAGS flags, REFIID riid, void** ppv);
  HRESULT checkPageables(UINT count, IDMLPageable* const* objects);

  const std::unique_ptr<NativeObjects> native_;
  const bool debug_;
  const Options options_;
  Debug debugDevice_{*this};
  std::atomic<bool> muted_ = false;
  std::mutex removalMutex_;
  std::atomic<HRESULT> removedReason_ = S_OK;
  char removedText_[1024] = {};  // written before the reason is
  std::mutex callbackMutex_;
  DimpleMessageCallback callback_ = nullptr;
  void* callbackContext_ = nullptr;
  const Live<Device> live_{this};
};

// Base of the device's children.
template <class Interface, class... Bases>
class DeviceChild
    : public WithPrivateData<ComObject<Interface, Interface, Bases..., IDMLDeviceChild, IDMLObject>, IUnknown*> {
 public:
  explicit DeviceChild(Device& device) : device_(&device) {}
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) override { return device_->QueryInterface(riid, ppv); }
  Device& device() const { return *device_; }
  HRESULT refuse(HRESULT code, const char* text) noexcept override { return device_->refuse(code, text); }

 private:
  const ComPtr<Device> device_;
};

}  // namespace dimple::api
