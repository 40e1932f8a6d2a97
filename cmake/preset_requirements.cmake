# Presets for Windows name their compiler; without it CMake's own message does not say what to install.
set(DIMPLE_PRESET "" CACHE STRING "Name of the preset in use, for messages")

if(DIMPLE_PRESET STREQUAL "windows-msvc")
  if(NOT CMAKE_HOST_WIN32)
    message(FATAL_ERROR
      "The windows-msvc preset needs Windows with Visual Studio 2022 (run it from an x64 developer prompt). "
      "On Linux use linux-release, or mingw to cross-compile.")
  endif()
  find_program(DIMPLE_CL cl)
  if(NOT DIMPLE_CL)
    message(FATAL_ERROR
      "The windows-msvc preset found no cl.exe: run it from an x64 developer prompt of Visual Studio 2022.")
  endif()
elseif(DIMPLE_PRESET STREQUAL "mingw")
  find_program(DIMPLE_MINGW_CXX NAMES x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-g++)
  if(NOT DIMPLE_MINGW_CXX)
    message(FATAL_ERROR
      "The mingw preset needs the cross compiler x86_64-w64-mingw32-g++ with POSIX threads "
      "(Debian: apt-get install g++-mingw-w64-x86-64-posix).")
  endif()
elseif(DIMPLE_PRESET MATCHES "^linux-[at]san$")
  find_program(DIMPLE_CLANG clang++)
  if(NOT DIMPLE_CLANG)
    message(FATAL_ERROR "The ${DIMPLE_PRESET} preset needs clang++ (tools/setup.sh --sanitizers installs it).")
  endif()
endif()
