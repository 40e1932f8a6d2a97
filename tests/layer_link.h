// How the loader tells a Vulkan layer what lies below it.
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

namespace dimple::testing {

// The link that the loader left in the chain of a description for the layer that reads it next.
template <class Link>
Link* findLink(const void* chain, VkStructureType type) {
  for (auto* at = static_cast<const VkBaseInStructure*>(chain); at; at = at->pNext)
    if (at->sType == type)
      if (auto* link = reinterpret_cast<const Link*>(at); link->function == VK_LAYER_LINK_INFO)
        return const_cast<Link*>(link);
  return nullptr;
}

}  // namespace dimple::testing
