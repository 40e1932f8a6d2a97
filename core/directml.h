// DirectML.h as the current platform provides it, with every operator of feature level 6.4.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <wsl/winadapter.h>
#endif

#include <directx/d3d12.h>

#include <directx/DirectML.h>
