# docs/examples/directmlx as a Windows program, with Microsoft's DirectMLX.h: clang compiles it, since g++ 12 refuses the
# header, and the compiler of everything else links it. Elsewhere the example is built by itself.
set(DIMPLE_DIRECTMLX "" CACHE PATH "Folder of Microsoft's DirectMLX.h, for the example that needs it (mingw)")
if(NOT DIMPLE_DIRECTMLX OR NOT MINGW OR NOT TARGET dimple)
  return()
endif()
if(NOT EXISTS "${DIMPLE_DIRECTMLX}/DirectMLX.h")
  message(FATAL_ERROR "DIMPLE_DIRECTMLX is \"${DIMPLE_DIRECTMLX}\", expected the folder of DirectMLX.h.")
endif()
find_program(DIMPLE_CLANGXX clang++ DOC "clang++, for DirectMLX.h")
if(NOT DIMPLE_CLANGXX)
  message(FATAL_ERROR "DIMPLE_DIRECTMLX needs clang++, since g++ 12 refuses DirectMLX.h.")
endif()
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=include/c++
  OUTPUT_VARIABLE standardHeaders OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(source "${CMAKE_SOURCE_DIR}/docs/examples/directmlx/models.cpp")
set(object "${CMAKE_BINARY_DIR}/directmlx_models.obj")
add_custom_command(OUTPUT "${object}"
  COMMAND "${DIMPLE_CLANGXX}" --target=x86_64-w64-mingw32 -std=c++20 -O1 -DNOMINMAX -D_WIN32_WINNT=0x0A00
    -DDML_TARGET_VERSION=0x6400 -D_Maybenull_= -isystem "${standardHeaders}"
    -isystem "${standardHeaders}/x86_64-w64-mingw32" -isystem "${DIMPLE_DIRECTX_INCLUDE_DIR}"
    -isystem "${DIMPLE_DIRECTX_INCLUDE_DIR}/directx" -isystem "${DIMPLE_DIRECTMLX}" -I "${CMAKE_SOURCE_DIR}/api/include"
    -I "${CMAKE_BINARY_DIR}/generated/include" -c "${source}" -o "${object}"
  DEPENDS "${source}" "${CMAKE_SOURCE_DIR}/api/include/dimple.h" "${DIMPLE_DIRECTMLX}/DirectMLX.h"
  COMMENT "Compiling docs/examples/directmlx with clang++" VERBATIM)
add_executable(directmlx_models "${object}")
set_target_properties(directmlx_models PROPERTIES LINKER_LANGUAGE CXX)
# As programs find it that know DirectML alone.
if(TARGET dimple_directml)
  target_link_libraries(directmlx_models PRIVATE dimple_directml)
else()
  target_link_libraries(directmlx_models PRIVATE dimple)
endif()
