# How kernelgen gets DXIL: with DXC's own program (DIMPLE_DXC), or with its DLL for Windows run in Wine, which
# tools/setup.sh --d3d12 provides. Without either, kernels have no DXIL and everything else is the same.
if(CMAKE_HOST_WIN32)
  find_program(DIMPLE_DXC dxc DOC "dxc, which compiles HLSL to DXIL; the Windows SDK has one")
endif()
set(DIMPLE_DXC "" CACHE FILEPATH "dxc, which compiles HLSL to DXIL; or leave it empty and give DIMPLE_DXC_DLL")
set(DIMPLE_WINE_PREFIX "${CMAKE_SOURCE_DIR}/build/wine_dxc" CACHE PATH "Wine's folder for running DXC; made when needed")

set(dimpleDxcOptions "")  # of kernelgen
set(dimpleDxcDepends "")
if(DIMPLE_DXC)
  if(NOT EXISTS "${DIMPLE_DXC}")
    message(FATAL_ERROR "DIMPLE_DXC names ${DIMPLE_DXC}, which does not exist.")
  endif()
  set(dimpleDxcOptions --dxc "${DIMPLE_DXC}")
elseif(DIMPLE_DXC_DLL)
  foreach(variable DIMPLE_DXC_DLL DIMPLE_WINE DIMPLE_MINGW_CXX)
    if(NOT EXISTS "${${variable}}")
      message(FATAL_ERROR "DXIL needs ${variable}, which names '${${variable}}'; run tools/setup.sh --d3d12 again.")
    endif()
  endforeach()
  set(folder "${CMAKE_BINARY_DIR}/dxc")
  set(dxcBatch "${folder}/dxc_batch.exe")
  set(dxcSources dxc_batch.cpp dxc_api.h memory_pool.h)
  list(TRANSFORM dxcSources PREPEND "${CMAKE_SOURCE_DIR}/tools/kernelgen/dxc/")
  configure_file("${CMAKE_SOURCE_DIR}/tools/kernelgen/dxc/dxc_batch.sh.in" "${folder}/dxc_batch" @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  # Not of the host, so CMake has no target for it.
  add_custom_command(OUTPUT "${dxcBatch}"
    COMMAND "${DIMPLE_MINGW_CXX}" -std=c++20 -O1 -s -static -Wall -Wextra -Wconversion -Wshadow
      $<$<BOOL:${DIMPLE_WARNINGS_AS_ERRORS}>:-Werror> -o "${dxcBatch}"
      "${CMAKE_SOURCE_DIR}/tools/kernelgen/dxc/dxc_batch.cpp"
    DEPENDS ${dxcSources}
    COMMENT "Compiling the driver of DXC"
    VERBATIM)
  add_custom_target(dimple_dxc_batch DEPENDS "${dxcBatch}")
  # The DLL stands for its version; asking it would start Wine in every build.
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DIMPLE_DXC_DLL}")
  file(SHA256 "${DIMPLE_DXC_DLL}" identity)
  set(dimpleDxcOptions --dxc-batch "${folder}/dxc_batch" --dxc-identity "${identity}")
  set(dimpleDxcDepends dimple_dxc_batch)
endif()
