#include "api/device.h"

#include <cstdio>

#include "api/binding_table.h"
#include "api/dispatchable.h"
#include "api/guard.h"
#include "api/recorder.h"
#include "core/compile.h"
#include "core/support/parallel.h"
#include "core/text.h"

namespace dimple::api {
namespace {

// Combined as integers: operator| of the enumeration is constexpr in some platforms' headers only.
constexpr uint32_t kExecutionFlags = uint32_t{DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION} |
                                     uint32_t{DML_EXECUTION_FLAG_DISABLE_META_COMMANDS} |
                                     uint32_t{DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE};

}  // namespace

Status checkCreation(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL minimumFeatureLevel) {
  if (static_cast<uint32_t>(flags) & ~static_cast<uint32_t>(DML_CREATE_DEVICE_FLAG_DEBUG))
    return Error{ErrorCode::InvalidArgument,
                 cat("flags has value (", static_cast<uint32_t>(flags), "), expected NONE (0) or DEBUG (1).")};
  if (minimumFeatureLevel > DML_FEATURE_LEVEL_6_4)
    return Error{ErrorCode::Unsupported,
                 cat("minimumFeatureLevel has value (", static_cast<uint32_t>(minimumFeatureLevel),
                     "), above DML_FEATURE_LEVEL_6_4 (", static_cast<uint32_t>(DML_FEATURE_LEVEL_6_4), ").")};
  return {};
}

HRESULT notOurs() noexcept { return refuseEarly(E_INVALIDARG, "device is not a live Dimple device."); }

Device::Device(std::unique_ptr<NativeObjects> native, DML_CREATE_DEVICE_FLAGS flags, Options options)
    : native_(std::move(native)), debug_((flags & DML_CREATE_DEVICE_FLAG_DEBUG) != 0), options_(std::move(options)) {}

void* Device::queryOther(REFIID riid) {
  if (riid == __uuidof(IDMLDebugDevice)) return static_cast<IDMLDebugDevice*>(&debugDevice_);
  return nullptr;
}

HRESULT Device::refuse(const Error& error) noexcept {
  if (error.code == ErrorCode::DeviceLost) removeDevice(error);
  return refuse(resultOf(error.code), error.text);
}

HRESULT Device::refuse(HRESULT code, const char* text) noexcept {
  setLastMessage(text);
  report(DIMPLE_MESSAGE_ERROR, code, text);
  return code;
}

HRESULT Device::refuseRemoved() noexcept {
  char text[sizeof removedText_ + 32];
  std::snprintf(text, sizeof text, "The device was removed: %s", removedText_);
  return refuse(DXGI_ERROR_DEVICE_REMOVED, text);
}

void Device::removeDevice(const Error& error) noexcept {
  removeDevice(error.code == ErrorCode::DeviceLost ? DXGI_ERROR_DEVICE_HUNG : resultOf(error.code), error.text);
}

void Device::removeDevice(HRESULT reason, const char* text) noexcept {
  setLastMessage(text);
  {
    std::lock_guard lock(removalMutex_);
    if (removedReason_ != S_OK) return;
    copyText(removedText_, sizeof removedText_, text);
    removedReason_ = reason;
  }
  backend().setLost();
  report(DIMPLE_MESSAGE_REMOVED, reason, text);
}

bool Device::removed() noexcept {
  if (removedReason_ != S_OK) return true;
  if (const HRESULT reason = native_->removedReason(); FAILED(reason))
    removeDevice(reason, "The underlying device was removed.");
  return removedReason_ != S_OK;
}

HRESULT Device::GetDeviceRemovedReason() {
  removed();
  return removedReason_;
}

void Device::setCallback(DimpleMessageCallback callback, void* context) {
  std::lock_guard lock(callbackMutex_);
  callback_ = callback;
  callbackContext_ = context;
}

void Device::report(DimpleMessageSeverity severity, HRESULT code, const char* text) noexcept {
  DimpleMessageCallback callback = nullptr;
  void* context = nullptr;
  {
    std::lock_guard lock(callbackMutex_);
    callback = callback_;
    context = callbackContext_;
  }
  const bool shown = !muted_ && native_->report(severity, text);
  if (callback)
    callCallback(callback, context, severity, code, text);
  else if (debug_ && !muted_ && !shown)
    std::fprintf(stderr, "dimple: %s\n", text);
}

HRESULT Device::CheckFeatureSupport(DML_FEATURE feature, UINT queryDataSize, const void* queryData,
                                    UINT supportDataSize, void* supportData) {
  return guarded(*this, "CheckFeatureSupport", [&] {
    if (removed()) return refuseRemoved();
    return checkFeature(feature, queryDataSize, queryData, supportDataSize, supportData);
  });
}

HRESULT Device::checkFeature(DML_FEATURE feature, UINT queryDataSize, const void* queryData, UINT supportDataSize,
                             void* supportData) {
  const auto are = [&]<class Query, class Support>(const Query*, const Support*) {
    return queryDataSize >= sizeof(Query) && queryData && supportDataSize >= sizeof(Support) && supportData;
  };
  switch (feature) {
    case DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: {
      const auto* query = static_cast<const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT*>(queryData);
      auto* support = static_cast<DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT*>(supportData);
      if (!are(query, support)) break;
      return checkDataType(*query, *support);
    }
    case DML_FEATURE_FEATURE_LEVELS: {
      const auto* query = static_cast<const DML_FEATURE_QUERY_FEATURE_LEVELS*>(queryData);
      auto* support = static_cast<DML_FEATURE_DATA_FEATURE_LEVELS*>(supportData);
      if (!are(query, support)) break;
      return checkLevels(*query, *support);
    }
    default:
      return refuse(DXGI_ERROR_UNSUPPORTED,
                    cat("feature has value (", static_cast<int>(feature), "), which is not a DML_FEATURE."));
  }
  return refuse(E_INVALIDARG,
                cat("CheckFeatureSupport has query data of ", queryDataSize, " and support data of ", supportDataSize,
                    " bytes, of which one is null or smaller than feature ", static_cast<int>(feature), " takes."));
}

HRESULT Device::checkDataType(const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT& query,
                              DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT& support) {
  const auto type = query.DataType;
  const Caps& caps = backend().caps();
  bool supported = bitWidth(type) != 0;
  if (type == DML_TENSOR_DATA_TYPE_FLOAT64) supported = caps.has(Feature::Float64);
  if (type == DML_TENSOR_DATA_TYPE_INT64 || type == DML_TENSOR_DATA_TYPE_UINT64) supported = caps.has(Feature::Int64);
  support.IsSupported = supported;
  return S_OK;
}

HRESULT Device::checkLevels(const DML_FEATURE_QUERY_FEATURE_LEVELS& query, DML_FEATURE_DATA_FEATURE_LEVELS& support) {
  if (query.RequestedFeatureLevelCount != 0 && !query.RequestedFeatureLevels)
    return refuse(E_INVALIDARG,
                  cat("RequestedFeatureLevels is null, expected ", query.RequestedFeatureLevelCount, " levels."));
  DML_FEATURE_LEVEL best{};
  support.MaxSupportedFeatureLevel = best;
  for (UINT i = 0; i < query.RequestedFeatureLevelCount; ++i) {
    const DML_FEATURE_LEVEL level = query.RequestedFeatureLevels[i];
    if (level <= DML_FEATURE_LEVEL_6_4 && level > best) best = level;
  }
  if (best == DML_FEATURE_LEVEL{})
    return refuse(DXGI_ERROR_UNSUPPORTED, "None of RequestedFeatureLevels is at most DML_FEATURE_LEVEL_6_4.");
  support.MaxSupportedFeatureLevel = best;
  return S_OK;
}

HRESULT Device::CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** ppv) {
  return guarded(*this, "CreateOperator", [&]() -> HRESULT {
    if (ppv) *ppv = nullptr;
    if (removed()) return refuseRemoved();
    if (!desc) return refuse(E_INVALIDARG, "desc is null, expected a DML_OPERATOR_DESC.");
    auto operation = Operation::parse(*desc);
    if (!operation) return refuse(operation.error());
    if (!ppv) return S_OK;
    return handOut(static_cast<IDMLOperator*>(new Operator(*this, std::move(*operation))), riid, ppv);
  });
}

HRESULT Device::CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid, void** ppv) {
  return guarded(*this, "CompileOperator", [&]() -> HRESULT {
    if (ppv) *ppv = nullptr;
    if (removed()) return refuseRemoved();
    const auto own = Live<Operator>::find(op);
    if (!own) return refuse(E_INVALIDARG, "op is not a live Dimple operator.");
    if (&own->device() != this) return refuse(E_INVALIDARG, "op belongs to another device.");
    if (const HRESULT result = checkFlags(flags); FAILED(result)) return result;
    return handOutCompiled(compileOperator(*own->operation(), targetOf(flags)), own.get(), flags, riid, ppv);
  });
}

HRESULT Device::CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid, void** ppv) {
  return guarded(*this, "CompileGraph", [&]() -> HRESULT {
    if (ppv) *ppv = nullptr;
    if (removed()) return refuseRemoved();
    if (!desc) return refuse(E_INVALIDARG, "desc is null, expected a DML_GRAPH_DESC.");
    if (const HRESULT result = checkFlags(flags); FAILED(result)) return result;
    const auto find = [&](UINT, IDMLOperator* op) -> Result<std::shared_ptr<const Operation>> {
      const auto own = Live<Operator>::find(op);
      if (!own) return invalid("Operator is not a live Dimple operator.");
      if (&own->device() != this) return invalid("Operator belongs to another device.");
      return own->operation();
    };
    return handOutCompiled(compileGraph(*desc, find, targetOf(flags)), nullptr, flags, riid, ppv);
  });
}

HRESULT Device::checkFlags(DML_EXECUTION_FLAGS flags) {
  if (static_cast<uint32_t>(flags) & ~kExecutionFlags)
    return refuse(E_INVALIDARG,
                  cat("flags has value (", static_cast<uint32_t>(flags), "), expected a set of DML_EXECUTION_FLAGS."));
  if ((flags & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE) && !backend().supportsVolatileDescriptors())
    return refuse(DXGI_ERROR_UNSUPPORTED,
                  "flags has DESCRIPTORS_VOLATILE, but this device cannot update descriptors after recording "
                  "(descriptorBindingStorageBufferUpdateAfterBind).");
  return S_OK;
}

Target Device::targetOf(DML_EXECUTION_FLAGS flags) {
  return {backend().caps(), options_, (flags & DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION) != 0};
}

HRESULT Device::handOutCompiled(Result<Compiled> compiled, Operator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                void** ppv) {
  if (!compiled) return refuse(compiled.error());
  const Plan& plan = compiled->plan;
  // Pipelines of both compile at once: each waits for its slowest one.
  using Prepared = Result<std::unique_ptr<Executable>>;
  const std::span<const Dispatch> parts[] = {plan.initialization, plan.execution};
  std::optional<Prepared> prepared[2];
  const auto prepare = [&](size_t i) { prepared[i] = backend().prepare(parts[i], plan.parameters); };
  if (parts[0].empty() || parts[1].empty()) {
    prepare(0);
    prepare(1);
  } else {
    forEachInParallel(2, prepare);
  }
  for (const auto& part : prepared)
    if (!*part) return refuse(part->error());
  if (!ppv) return S_OK;
  return handOut(static_cast<IDMLDispatchable*>(new CompiledOperator(
                     *this, op, std::move(*compiled), flags, std::move(**prepared[0]), std::move(**prepared[1]))),
                 riid, ppv);
}

HRESULT Device::CreateOperatorInitializer(UINT operatorCount, IDMLCompiledOperator* const* operators, REFIID riid,
                                          void** ppv) {
  return guarded(*this, "CreateOperatorInitializer", [&]() -> HRESULT {
    if (!ppv) return refuse(E_POINTER, "ppv is null, expected where to put the initializer.");
    *ppv = nullptr;
    if (removed()) return refuseRemoved();
    auto initializer = ComPtr<Initializer>::adopt(new Initializer(*this));
    if (const HRESULT result = initializer->reset(operatorCount, operators); FAILED(result)) return result;
    return handOut(static_cast<IDMLOperatorInitializer*>(initializer.detach()), riid, ppv);
  });
}

HRESULT Device::CreateCommandRecorder(REFIID riid, void** ppv) {
  return guarded(*this, "CreateCommandRecorder", [&]() -> HRESULT {
    if (!ppv) return refuse(E_POINTER, "ppv is null, expected where to put the command recorder.");
    *ppv = nullptr;
    if (removed()) return refuseRemoved();
    return handOut(static_cast<IDMLCommandRecorder*>(new CommandRecorder(*this)), riid, ppv);
  });
}

HRESULT Device::CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid, void** ppv) {
  return guarded(*this, "CreateBindingTable", [&]() -> HRESULT {
    if (!ppv) return refuse(E_POINTER, "ppv is null, expected where to put the binding table.");
    *ppv = nullptr;
    if (removed()) return refuseRemoved();
    auto table = ComPtr<BindingTable>::adopt(new BindingTable(*this));
    if (const HRESULT result = table->reset(desc); FAILED(result)) return result;
    return handOut(static_cast<IDMLBindingTable*>(table.detach()), riid, ppv);
  });
}

HRESULT Device::checkPageables(UINT count, IDMLPageable* const* objects) {
  if (removed()) return refuseRemoved();
  if (count == 0 || !objects)
    return refuse(E_INVALIDARG,
                  cat("ppObjects has ", count, " objects", objects ? "" : " and is null", ", expected at least one."));
  for (UINT i = 0; i < count; ++i) {
    const auto op = Live<CompiledOperator>::find(objects[i]);
    const auto initializer = Live<Initializer>::find(objects[i]);
    if (!op && !initializer) return refuse(E_INVALIDARG, cat("ppObjects[", i, "] is not a live pageable of Dimple."));
    if ((op ? &op->device() : &initializer->device()) != this)
      return refuse(E_INVALIDARG, cat("ppObjects[", i, "] belongs to another device."));
  }
  return S_OK;
}

// Vulkan pages device memory by itself, and an operator holds little: both only check.
HRESULT Device::Evict(UINT count, IDMLPageable* const* objects) {
  return guarded(*this, "Evict", [&] { return checkPageables(count, objects); });
}
HRESULT Device::MakeResident(UINT count, IDMLPageable* const* objects) {
  return guarded(*this, "MakeResident", [&] { return checkPageables(count, objects); });
}

HRESULT Device::GetParentDevice(REFIID riid, void** ppv) {
  return guarded(*this, "GetParentDevice", [&] {
    if (!ppv) return refuse(E_POINTER, "ppv is null, expected where to put the device.");
    *ppv = nullptr;
    return native_->parentDevice(riid, ppv);
  });
}

}  // namespace dimple::api
