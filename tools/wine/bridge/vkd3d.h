// Between the two halves of dimpled3d12.dll: wine.c is compiled against Wine's headers, vkd3d.c against libvkd3d's.
#pragma once

// What libvkd3d asks of its host. Calling convention and types are those of the Linux side.
struct BridgeHost {
  int (*signalEvent)(void* event);  // 0, or an HRESULT
  void* (*createThread)(void* (*main)(void*), void* data);
  int (*joinThread)(void* thread);
};

int bridgeCreateDevice(const struct BridgeHost* host, int featureLevel, const void* iid, unsigned luidLow, int luidHigh,
                       void** device);
