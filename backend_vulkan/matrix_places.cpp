#include "backend_vulkan/matrix_places.h"

#include <cstring>
#include <memory>
#include <vector>

#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/opened_device.h"
#include "core/checked.h"
#include "core/plan/looks.h"

namespace dimple::vulkan {
namespace {

// Makes pipelines of several shapes at once, since their compilation takes longer than all else.
Result<bool> look(OpenedDevice& opened, const std::vector<MatrixShape>& shapes) {
  Device& device = opened.device();
  const uint64_t apart = alignUp(sizeof(uint32_t), device.caps().bufferOffsetAlignment);
  const auto all = static_cast<uint32_t>(shapes.size());
  auto buffer = Buffer::create(device, all * apart, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true);
  if (!buffer) return buffer.error();
  std::memset((*buffer)->mapped(), 0, all * apart);
  const NativeBuffer native{reinterpret_cast<uint64_t>((*buffer)->handle()), all * apart};
  std::vector<Dispatch> dispatches;
  std::vector<DescriptorWrite> writes;
  for (uint32_t i = 0; i < all; ++i) {
    const BufferRange range{SlotKind::Output, 0, i * apart, sizeof(uint32_t), true};
    dispatches.push_back(lookAtPlaces(shapes[i], device.caps().subgroupSize, range));
    writes.push_back({i, 0, native, range.offset, range.bytes});
  }
  const std::vector<uint32_t> parameters(kParameterBlockBytes / sizeof(uint32_t));
  auto executable = device.prepare(dispatches, parameters);
  if (!executable) return executable.error();
  const auto heap = std::make_shared<DescriptorHeap>(device, all);
  auto sets = device.describe(**executable, {heap.get(), 0, 0, all});
  if (!sets) return sets.error();
  TRY((*sets)->write(writes));
  TRY(opened.runOnce([&](VkCommandBuffer commands) {
    device.record(reinterpret_cast<uint64_t>(commands), **executable, **sets, "matrix places");
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                  VK_ACCESS_HOST_READ_BIT};
    device.vk().vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                     &barrier, 0, nullptr, 0, nullptr);
  }));
  for (uint32_t i = 0; i < all; ++i) {
    uint32_t known = 0;
    std::memcpy(&known, (*buffer)->mapped() + i * apart, sizeof(known));
    if (known != 1) return false;
  }
  return true;
}

}  // namespace

bool placesAreKnown(OpenedDevice& opened) {
  const Device& device = opened.device();
  const Caps& caps = device.caps();
  if (!caps.matrixPlaces || !device.options().places || !caps.has(Feature::SubgroupVote)) return false;
  std::vector<MatrixShape> shapes;
  for (const MatrixShape& shape : {caps.matrices, caps.narrowMatrices}) {
    if (!shape) continue;
    if (shape.rows != shape.depth || shape.rows < shape.columns) return false;
    shapes.push_back(shape);
  }
  const auto known = look(opened, shapes);
  return known && *known;
}

}  // namespace dimple::vulkan
