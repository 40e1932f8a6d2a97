// DirectML.h with the declarations it takes for granted: Windows supplies them itself, elsewhere the stubs of
// DirectX-Headers do. The folder `include/` of DirectX-Headers and its `directx/` and `wsl/stubs/` are on the path.
#pragma once

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <wsl/winadapter.h>
#endif

#include <directx/d3d12.h>

#include <DirectML.h>
