// dimple devices
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "tools/dimple/command.h"
#include "tools/dimple/device.h"
#include "tools/dimple/table.h"

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

int listDevices(bool asJson) {
  const auto adapters = listAdapters();
  if (asJson) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (size_t i = 0; i < adapters.size(); ++i)
      devices.push_back({{"index", i},
                         {"name", adapters[i].Name},
                         {"type", deviceTypeText(adapters[i].DeviceType)},
                         {"vulkan", versionText(adapters[i].VulkanVersion)},
                         {"memory", adapters[i].DeviceLocalBytes},
                         {"uuid", uuidText(adapters[i].DeviceUuid)}});
    std::printf("%s\n", nlohmann::ordered_json{{"devices", devices}}.dump(2).c_str());
    return 0;
  }
  if (adapters.empty()) {
    std::printf("There is no Vulkan device.\n");
    return 0;
  }
  Table table({">index", "name", "type", "Vulkan", ">memory", "UUID"});
  for (size_t i = 0; i < adapters.size(); ++i) {
    const double gibibytes = static_cast<double>(adapters[i].DeviceLocalBytes) / (1u << 30);
    table.add({std::to_string(i), adapters[i].Name, deviceTypeText(adapters[i].DeviceType),
               versionText(adapters[i].VulkanVersion), fixedText(gibibytes, 1) + " GiB",
               uuidText(adapters[i].DeviceUuid)});
  }
  table.print();
  return 0;
}

}  // namespace

Action setUpDevices(CLI::App& options) {
  auto asJson = std::make_shared<bool>(false);
  options.add_flag("--json", *asJson, "Print JSON");
  return [asJson] { return listDevices(*asJson); };
}

}  // namespace dimple::tool
