// Included before everything else in builds with libvkd3d, whose objects have the Microsoft calling convention: the
// headers of Direct3D and DirectML then declare that convention for all interfaces, Dimple's own included.
#pragma once

#include <wsl/stubs/basetsd.h>

#undef __stdcall
#define __stdcall __attribute__((ms_abi))
#undef STDMETHODCALLTYPE
#define STDMETHODCALLTYPE __attribute__((ms_abi))
#undef WINAPI
#define WINAPI __attribute__((ms_abi))

#include <wsl/winadapter.h>

// Chooses the declarations that return structures through a pointer, as on Windows.
#define _WIN32 1
#include <directx/d3d12.h>
#undef _WIN32

#define DIMPLE_RETURNS_BY_POINTER
