// The Linux half: libvkd3d's objects have the Microsoft calling convention, so that Windows programs call them as they
// are; only creation passes through here.
#include "vkd3d.h"

#include <stdio.h>
#include <vkd3d.h>
#include <vkd3d_utils.h>

static struct vkd3d_instance* createInstance(const struct BridgeHost* host) {
  const struct vkd3d_application_info application = {
      .type = VKD3D_STRUCTURE_TYPE_APPLICATION_INFO,
      .api_version = VKD3D_API_VERSION_1_15,
  };
  const struct vkd3d_instance_create_info info = {
      .type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .next = &application,
      .pfn_signal_event = (PFN_vkd3d_signal_event)host->signalEvent,
      .pfn_create_thread = (PFN_vkd3d_create_thread)host->createThread,
      .pfn_join_thread = (PFN_vkd3d_join_thread)host->joinThread,
      .wchar_size = 2,
  };
  struct vkd3d_instance* instance = NULL;
  const HRESULT result = vkd3d_create_instance(&info, &instance);
  if (result < 0) fprintf(stderr, "dimpled3d12: vkd3d_create_instance failed with %08x\n", (unsigned)result);
  return instance;
}

int bridgeCreateDevice(const struct BridgeHost* host, int featureLevel, const void* iid, unsigned luidLow, int luidHigh,
                       void** device) {
  // One for the life of the process.
  static struct vkd3d_instance* instance;
  if (!instance) instance = createInstance(host);
  if (!instance) return E_FAIL;
  const struct vkd3d_device_create_info info = {
      .type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .minimum_feature_level = (D3D_FEATURE_LEVEL)featureLevel,
      .instance = instance,
      .adapter_luid = {luidLow, luidHigh},
  };
  return vkd3d_create_device(&info, (const GUID*)iid, device);
}

// Exported as they are: these take no objects of Wine.
#define EXPORTED __attribute__((ms_abi))

EXPORTED int bridgeSerialize(const void* desc, unsigned version, void** blob, void** error) {
  return D3D12SerializeRootSignature(desc, version, (ID3DBlob**)blob, (ID3DBlob**)error);
}

EXPORTED int bridgeSerializeVersioned(const void* desc, void** blob, void** error) {
  return D3D12SerializeVersionedRootSignature(desc, (ID3DBlob**)blob, (ID3DBlob**)error);
}

EXPORTED int bridgeDeserializer(const void* data, SIZE_T size, const GUID* iid, void** deserializer) {
  return D3D12CreateRootSignatureDeserializer(data, size, iid, deserializer);
}

EXPORTED int bridgeVersionedDeserializer(const void* data, SIZE_T size, const GUID* iid, void** deserializer) {
  return D3D12CreateVersionedRootSignatureDeserializer(data, size, iid, deserializer);
}
