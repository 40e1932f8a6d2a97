set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(CMAKE_C_COMPILER NAMES x86_64-w64-mingw32-gcc-posix x86_64-w64-mingw32-gcc)
find_program(CMAKE_CXX_COMPILER NAMES x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-g++)
find_program(CMAKE_RC_COMPILER NAMES x86_64-w64-mingw32-windres)
# Programs are the host's; libraries and headers come only from the folders that are named.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# No DLLs of the compiler beside ours.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static")
# zlib, which Debian and Fedora have for Windows in these places.
set(ZLIB_ROOT /usr/x86_64-w64-mingw32 /usr/x86_64-w64-mingw32/sys-root/mingw)
set(ZLIB_USE_STATIC_LIBS ON)
