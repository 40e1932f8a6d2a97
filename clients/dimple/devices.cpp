// dimple devices
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "clients/dimple/command.h"
#include "clients/dimple/device.h"
#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "clients/uuid.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// VkPhysicalDeviceType
const char* deviceTypeText(UINT32 type) {
  static constexpr const char* kNames[] = {"other", "integrated GPU", "discrete GPU", "virtual GPU", "CPU"};
  return type < std::size(kNames) ? kNames[type] : "unknown";
}

// VK_MAKE_API_VERSION
std::string versionText(UINT32 version) {
  return cat((version >> 22) & 0x7f, ".", (version >> 12) & 0x3ff, ".", version & 0xfff);
}

struct Row {
  DimpleBackend backend;
  size_t index;
  DimpleAdapterDesc adapter;
};

struct ListOptions {
  std::string backend;  // empty: both
  bool asJson = false;
};

std::vector<Row> listRows(const ListOptions& options) {
  std::vector<Row> rows;
  std::string refusals;
  for (const DimpleBackend backend : kBackends) {
    if (!options.backend.empty() && parseBackend(options.backend) != backend) continue;
    const AdapterList list = listAdapters(backend);
    for (size_t i = 0; i < list.adapters.size(); ++i) rows.push_back({backend, i, list.adapters[i]});
    if (!list.refusal.empty()) refusals += cat(" ", list.refusal);
  }
  // A back end that is missing is no failure while there is another.
  if (rows.empty() && !refusals.empty()) throw RunError(cat("The devices cannot be listed:", refusals));
  return rows;
}

int listDevices(const ListOptions& options) {
  if (!options.backend.empty()) parseBackend(options.backend);
  const auto rows = listRows(options);
  if (options.asJson) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (const auto& [backend, index, adapter] : rows) {
      nlohmann::ordered_json device{{"backend", backendName(backend)}, {"index", index}, {"name", adapter.Name}};
      if (backend == DIMPLE_BACKEND_VULKAN) {
        device["type"] = deviceTypeText(adapter.DeviceType);
        device["vulkan"] = versionText(adapter.VulkanVersion);
      }
      device["memory"] = adapter.DeviceLocalBytes;
      if (backend == DIMPLE_BACKEND_VULKAN) device["uuid"] = uuidText(adapter.DeviceUuid);
      devices.push_back(std::move(device));
    }
    std::printf("%s\n", nlohmann::ordered_json{{"devices", devices}}.dump(2).c_str());
    return 0;
  }
  if (rows.empty()) {
    std::printf("There is no device.\n");
    return 0;
  }
  Table table({"backend", ">index", "name", "type", "Vulkan", ">memory", "UUID"});
  for (const auto& [backend, index, adapter] : rows) {
    const bool vulkan = backend == DIMPLE_BACKEND_VULKAN;
    const double gibibytes = static_cast<double>(adapter.DeviceLocalBytes) / (1u << 30);
    table.add({backendName(backend), std::to_string(index), adapter.Name,
               vulkan ? deviceTypeText(adapter.DeviceType) : "-", vulkan ? versionText(adapter.VulkanVersion) : "-",
               adapter.DeviceLocalBytes ? fixedText(gibibytes, 1) + " GiB" : "-",
               vulkan ? uuidText(adapter.DeviceUuid) : "-"});
  }
  table.print();
  return 0;
}

}  // namespace

Action setUpDevices(CLI::App& options) {
  auto values = std::make_shared<ListOptions>();
  options.add_option("--backend", values->backend, "List only the devices of this back end: vulkan or d3d12");
  options.add_flag("--json", values->asJson, "Print JSON");
  return [values] { return listDevices(*values); };
}

}  // namespace dimple::tool
