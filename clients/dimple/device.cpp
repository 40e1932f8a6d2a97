#include "clients/dimple/device.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <optional>

#include "clients/files/failure.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#ifdef DIMPLE_WITH_CASES
#include "tests/conformance/d3d12_gpu.h"
#endif

namespace dimple::tool {
namespace {

std::string resultText(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08X", static_cast<unsigned>(result));
  return text;
}

}  // namespace

std::string backendName(DimpleBackend backend) { return backend == DIMPLE_BACKEND_D3D12 ? "d3d12" : "vulkan"; }

DimpleBackend parseBackend(std::string_view text) {
  for (const DimpleBackend backend : kBackends)
    if (backendName(backend) == text) return backend;
  throw InputError(cat("The back end is \"", text, "\", expected vulkan or d3d12."));
}

std::pair<std::string, std::string> parseBackendPair(const std::string& text) {
  const auto comma = text.find(',');
  if (comma == text.npos)
    throw InputError(cat("--compare has \"", text, "\", expected two back ends such as vulkan,d3d12."));
  std::pair pair{text.substr(0, comma), text.substr(comma + 1)};
  parseBackend(pair.first);
  parseBackend(pair.second);
  return pair;
}

void addDeviceOption(CLI::App& app, DeviceOptions& options) {
  app.add_option("--backend", options.backend, "Back end: vulkan or d3d12")->capture_default_str();
  app.add_option("--device", options.device, "Index, UUID or part of the name of the device")->capture_default_str();
  app.add_option(
      "--options", options.options,
      "NAME=VALUE,...: options of the library, which take precedence over DIMPLE_OPTIONS; dimple options lists "
      "them");
}

void addDeviceOptions(CLI::App& app, DeviceOptions& options) {
  addDeviceOption(app, options);
  app.add_flag("--validate", options.validate,
               "Enable the validation of Vulkan or Direct3D 12; any message makes the command fail");
}

void addDllOption([[maybe_unused]] CLI::App& app, [[maybe_unused]] DeviceOptions& options) {
#ifdef DIMPLE_WITH_CASES
  app.add_option("--dll", options.dll, "Run on another DirectML.dll, over Direct3D 12; on Windows");
#endif
}

std::optional<Uuid> parseUuid(std::string_view text) {
  std::string digits;
  for (const char c : text)
    if (std::isxdigit(static_cast<unsigned char>(c)))
      digits += c;
    else if (c != '-')
      return {};
  Uuid uuid{};
  if (digits.size() != 2 * uuid.size()) return {};
  for (size_t i = 0; i < uuid.size(); ++i)
    uuid[i] = static_cast<UINT8>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return uuid;
}

AdapterList listAdapters(DimpleBackend backend) {
  AdapterList list;
  for (UINT index = 0;; ++index) {
    DimpleAdapterDesc desc{};
    const HRESULT result = dimpleEnumerateBackendAdapters(backend, index, &desc);
    if (result == DXGI_ERROR_NOT_FOUND) return list;
    if (FAILED(result)) {
      list.refusal = dimpleGetLastMessage();
      return list;
    }
    list.adapters.push_back(desc);
  }
}

Device::Device(const DeviceOptions& options)
    : backend_(options.dll.empty() ? parseBackend(options.backend) : DIMPLE_BACKEND_D3D12) {
  if (!options.dll.empty()) {
    openDll(options.dll);
    return;
  }
  DimpleContextDesc desc{};
  desc.Backend = backend_;
  desc.Options = options.options.c_str();
  const auto uuid = parseUuid(options.device);
  if (uuid)
    desc.AdapterUuid = uuid->data();
  else if (const auto index = parseNumber<uint32_t>(options.device))
    desc.AdapterIndex = *index;
  else
    desc.AdapterName = options.device.c_str();
  if (options.validate) {
    desc.Flags = DIMPLE_CONTEXT_FLAG_VALIDATION;
    desc.DeviceFlags = DML_CREATE_DEVICE_FLAG_DEBUG;
  }
  desc.MessageCallback = receive;
  desc.MessageContext = this;
  const HRESULT result = dimpleCreateContext(&desc, IID_PPV_ARGS(context_.put()));
  if (result == DXGI_ERROR_NOT_FOUND)
    throw InputError(cat("No device is \"", options.device, "\"; dimple devices lists them."));
  check(result, "The device cannot be opened");
  check(context_->GetDevice(IID_PPV_ARGS(dml_.put())), "The device cannot be opened");
}

void Device::openDll([[maybe_unused]] const std::string& path) {
#if defined(_WIN32) && defined(DIMPLE_WITH_CASES)
  isDimple_ = false;
  std::string error;
  auto context = testing::openDllContext(path, error);
  if (!context) throw RunError(error);
  *context_.put() = context.Detach();
  check(context_->GetDevice(IID_PPV_ARGS(dml_.put())), "The device cannot be opened");
#else
  throw InputError("--dll works on Windows only.");
#endif
}

std::string Device::name() const {
  DimpleAdapterDesc desc{};
  check(context_->GetAdapterDesc(&desc), "The device has no description");
  return desc.Name;
}

void Device::check(HRESULT result, std::string_view what) const {
  if (SUCCEEDED(result)) return;
  std::string message = removal_;
  if (message.empty() && isDimple_) message = dimpleGetLastMessage();
  throw RunError(cat(what, ": ", message.empty() ? resultText(result) : message));
}

void Device::checkAlive() const {
  const HRESULT reason = dml_->GetDeviceRemovedReason();
  if (FAILED(reason)) throw RunError(cat("The device was removed: ", removal_.empty() ? resultText(reason) : removal_));
}

void Device::receive(void* self, DimpleMessageSeverity severity, HRESULT, const char* text) {
  auto& device = *static_cast<Device*>(self);
  if (severity == DIMPLE_MESSAGE_REMOVED) device.removal_ = text;
  if (severity == DIMPLE_MESSAGE_WARNING) {
    ++device.warnings_;
    std::fprintf(stderr, "dimple: %s\n", text);
  }
}

}  // namespace dimple::tool
