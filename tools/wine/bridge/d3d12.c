// The whole code of the forwarding d3d12.dll.
int __stdcall DllMainCRTStartup(void* module, unsigned reason, void* reserved) {
  (void)module, (void)reason, (void)reserved;
  return 1;
}
