# What CTest runs: programs, or groups of their test cases, with labels and the environment that they need. CMakePresets
# name the runs; CONTRIBUTING.md lists them. Test cases that a run leaves out say so themselves (tests/left_out.h).

# dimple_register(NAME PROGRAM target [WRAPPER command...] [CASES patterns] [WITHOUT patterns] [COST seconds]
#                 [LABELS label...] [ENVIRONMENT variable=value...])
function(dimple_register name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;CASES;WITHOUT;COST" "WRAPPER;LABELS;ENVIRONMENT;ARGUMENTS")
  if(NOT TARGET ${arg_PROGRAM})
    return()
  endif()
  set(arguments ${arg_ARGUMENTS})
  if(arg_CASES)
    list(APPEND arguments "--test-case=${arg_CASES}")
  endif()
  if(arg_WITHOUT)
    list(APPEND arguments "--test-case-exclude=${arg_WITHOUT}")
  endif()
  add_test(NAME ${name} COMMAND ${arg_WRAPPER} "$<TARGET_FILE:${arg_PROGRAM}>" ${arguments}
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 2400
    ENVIRONMENT "${dimpleTestEnvironment};${arg_ENVIRONMENT}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# A test that is a script.
function(dimple_register_script name labels)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 2400 SKIP_RETURN_CODE 77
    ENVIRONMENT "${dimpleTestEnvironment}")
endfunction()

# A test that this machine cannot run.
function(dimple_register_skipped name labels reason)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SKIPPED: ${name}: ${reason}")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_REGULAR_EXPRESSION "^SKIPPED: ")
endfunction()

# The test cases on a device: the long ones by themselves, so that several run at once. What operators take is compiled
# once by AFTER, the test that runs most of them, and lies in the driver's cache for the others. Graphs on Direct3D 12
# take few of these, and would leave a processor idle if they waited. SMALL_SETS: the environment of all but objects.
function(dimple_register_device_tests suffix)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AFTER" "LABELS;ENVIRONMENT;SMALL_SETS")
  set(objects PROGRAM dimple_tests${suffix} LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
  set(common ${objects} ${arg_SMALL_SETS})
  dimple_register(operators${suffix} ${common} CASES "ops: every*" COST 400)
  dimple_register(operator_kernels${suffix} ${common} CASES "ops:*" WITHOUT "ops: every*,ops: Vulkan and*" COST 100)
  dimple_register(graphs${suffix} ${common} CASES "graphs:*,models:*" COST 300)
  dimple_register(objects${suffix} ${objects} WITHOUT "ops:*,graphs:*,models:*" COST 60)
  set_tests_properties(operator_kernels${suffix} PROPERTIES DEPENDS ${arg_AFTER})
  if(NOT suffix)
    set_tests_properties(graphs PROPERTIES DEPENDS ${arg_AFTER})
  endif()
  dimple_register(tool_tests${suffix} PROGRAM tool_tests${suffix} LABELS ${arg_LABELS}
    ENVIRONMENT ${arg_ENVIRONMENT} ${arg_SMALL_SETS} COST 60)
endfunction()

# libvkd3d makes a set of a million descriptors of each heap, which costs lavapipe most of the time of small tests, unless
# it is told to make sets for kernels. These hold what was bound when a command list was recorded, which is too early for
# some test cases.
set(smallSets VKD3D_CONFIG=virtual_heaps)

set(dimpleTestEnvironment "")
set(deps "${CMAKE_SOURCE_DIR}/build/deps")
# The newest ONNX Runtime, by its file, and as the tests' environment names it.
set(newestLibrary "")
set(newestRuntime "")
if(DIMPLE_ONNXRUNTIME_LIBRARIES)
  list(GET DIMPLE_ONNXRUNTIME_LIBRARIES 0 newestLibrary)
  string(REGEX REPLACE "^[^=]+=" "" newestLibrary "${newestLibrary}")
  set(newestRuntime "DIMPLE_ONNXRUNTIME=${newestLibrary}")
endif()

if(WIN32)
  # Wine has no validation layers. It takes a sample of the cases, since they are the same on every machine.
  set(wine ENVIRONMENT DIMPLE_TEST_SAMPLE=120 DIMPLE_TEST_NO_VALIDATION=1 DIMPLE_WINE_SECONDS=1200
    DIMPLE_WINE_MEMORY=14000000 GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128
    DIMPLE_OPTIONS=unroll=0 LABELS wine)
  if(NOT CMAKE_CROSSCOMPILING)
    set(run "")
  elseif(EXISTS "${deps}/wine/stamp")
    set(run WRAPPER "${CMAKE_SOURCE_DIR}/tools/wine/run.sh")
  else()
    dimple_register_skipped(windows_programs wine "tools/setup.sh --d3d12 could not make the bridge to libvkd3d")
    return()
  endif()
  dimple_register(core_tests PROGRAM core_tests ${run} ${wine})
  dimple_register(conformance_tests PROGRAM conformance_tests ${run} ${wine})
  set(withSmallSets ${run} ${wine} ENVIRONMENT ${smallSets})
  dimple_register(dimple_tests PROGRAM dimple_tests ${withSmallSets} WITHOUT "*bound later*" COST 200)
  dimple_register(bound_later PROGRAM dimple_tests ${run} ${wine} CASES "*bound later*")
  if(TARGET dimple_directml)
    # The drop-in, of which only DirectML's own exports are used.
    dimple_register(directml_dll PROGRAM dimple_tests ${withSmallSets}
      ARGUMENTS --dll "$<TARGET_FILE:dimple_directml>")
    # What programs look at beside operators, there and, where it was fetched, on the original.
    set(answers "${CMAKE_CURRENT_SOURCE_DIR}/data/microsoft_answers.txt")
    dimple_register(answers PROGRAM directml_answers ${withSmallSets}
      ARGUMENTS "$<TARGET_FILE:dimple_directml>" "${answers}")
    if(EXISTS "${deps}/microsoft/DirectML.dll")
      dimple_register(answers_microsoft PROGRAM directml_answers ${withSmallSets}
        ARGUMENTS "${deps}/microsoft/DirectML.dll" "${answers}")
    endif()
  endif()
  if(TARGET dimple_directml AND CMAKE_CROSSCOMPILING)
    dimple_register_script(import_libraries wine "${CMAKE_CURRENT_SOURCE_DIR}/install/import_library.sh"
      "${CMAKE_BINARY_DIR}")
    dimple_register_script(nuget wine "${CMAKE_CURRENT_SOURCE_DIR}/install/nuget.sh" "${CMAKE_BINARY_DIR}")
  endif()
  if(TARGET directmlx_models)
    foreach(backend IN ITEMS vulkan d3d12)
      dimple_register(directmlx_${backend} PROGRAM directmlx_models ${run} LABELS wine ARGUMENTS ${backend})
      dimple_register(directmlx_${backend}_as_it_is PROGRAM directmlx_models ${run} LABELS wine ARGUMENTS ${backend}
        ENVIRONMENT DIMPLE_OPTIONS=passes=0,unroll=0)
    endforeach()
  endif()
  return()
endif()

if(DIMPLE_SANITIZE STREQUAL "thread")
  # Threads, on a device that executes nothing and on one that does, without the validation layers, whose locks would
  # order what Dimple has to order itself. The sanitizer wants the address space where older kernels put it.
  cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
  dimple_register(thread_tests PROGRAM thread_tests WRAPPER setarch ${machine} -R LABELS tsan
    CASES "null: *,parallel: *" ENVIRONMENT TSAN_OPTIONS=halt_on_error=1)
  dimple_register(device_thread_tests PROGRAM device_thread_tests WRAPPER setarch ${machine} -R LABELS tsan
    ENVIRONMENT DIMPLE_TEST_LONG=1 DIMPLE_TEST_NO_VALIDATION=1 TSAN_OPTIONS=halt_on_error=1)
  dimple_register(provider_thread_tests PROGRAM provider_thread_tests WRAPPER setarch ${machine} -R LABELS tsan
    ENVIRONMENT ${newestRuntime} TSAN_OPTIONS=halt_on_error=1)
  return()
endif()

if(DIMPLE_SANITIZE STREQUAL "address")
  # Instrumented code is several times slower: every hundredth case, and without the validation layers, which look at the
  # same calls in the other builds. Drivers leak, and are unloaded before leaks are named: only what has no device looks
  # for leaks.
  set(dimpleTestEnvironment DIMPLE_TEST_SAMPLE=100 DIMPLE_TEST_NO_VALIDATION=1 UBSAN_OPTIONS=print_stacktrace=1)
  set(options ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=10)
  dimple_register(core_tests PROGRAM core_tests LABELS asan COST 100 ENVIRONMENT ${options})
  dimple_register(boundary_tests PROGRAM boundary_tests LABELS asan COST 30 ENVIRONMENT ${options}:detect_leaks=0)
  dimple_register_device_tests("" AFTER operators LABELS asan ENVIRONMENT ${options}:detect_leaks=0)
  dimple_register(onnx_models PROGRAM onnx_tests LABELS asan COST 100 ENVIRONMENT ${options}:detect_leaks=0)
  if(TARGET onnxruntime_provider_tests)
    dimple_register(onnxruntime_provider PROGRAM onnxruntime_provider_tests LABELS asan COST 60
      ENVIRONMENT ${newestRuntime} ${options}:detect_leaks=0)
  endif()
  dimple_register(driver_faults PROGRAM vulkan_fault_tests LABELS asan COST 60
    ENVIRONMENT ${newestRuntime} ${options}:detect_leaks=0)
  if(DIMPLE_FUZZ)
    foreach(target seconds IN ZIP_LISTS fuzzTargets fuzzSeconds)
      dimple_register_script(fuzz_${target} fuzz "${CMAKE_SOURCE_DIR}/tools/fuzz.sh" ${target} ${seconds})
    endforeach()
  endif()
  return()
endif()

dimple_register(kernelgen_tests PROGRAM kernelgen_tests LABELS quick kernels)
dimple_register(core_tests PROGRAM core_tests LABELS quick core)
dimple_register(boundary_tests PROGRAM boundary_tests LABELS quick vulkan COST 10)
dimple_register(conformance_tests PROGRAM conformance_tests LABELS quick conformance COST 30)
dimple_register_device_tests("" AFTER operators LABELS quick vulkan)
dimple_register(driver_faults PROGRAM vulkan_fault_tests LABELS quick vulkan COST 40 ENVIRONMENT ${newestRuntime})
set(models "")
if(EXISTS "${deps}/ocr")
  set(models "DIMPLE_OCR=${deps}/ocr")
endif()
if(TARGET onnx_tests)
  dimple_register(onnx_models PROGRAM onnx_tests LABELS quick onnx WITHOUT "ocr:*" COST 110)
  dimple_register(onnx_ocr PROGRAM onnx_tests LABELS onnx CASES "ocr:*" COST 60 ENVIRONMENT ${models})
else()
  dimple_register_skipped(onnx_models "quick;onnx" "libonnx or libprotobuf was not found")
endif()

# The execution provider, in the newest ONNX Runtime and in the oldest that it works with.
if(TARGET onnxruntime_provider_tests)
  set(semaphoreLayer "VK_ADD_LAYER_PATH=${CMAKE_BINARY_DIR}/tests/semaphore_layer"
    VK_INSTANCE_LAYERS=VK_LAYER_DIMPLE_semaphores)
  dimple_register(semaphores PROGRAM dimple_tests CASES "*semaphore*" LABELS quick vulkan ENVIRONMENT ${semaphoreLayer})
  foreach(runtime IN LISTS DIMPLE_ONNXRUNTIME_LIBRARIES)
    string(REGEX MATCH "^([^=]+)=(.*)$" runtime "${runtime}")
    dimple_register(onnxruntime_provider_${CMAKE_MATCH_1} PROGRAM onnxruntime_provider_tests LABELS quick onnx COST 20
      ENVIRONMENT "DIMPLE_ONNXRUNTIME=${CMAKE_MATCH_2}" ${models})
    dimple_register(onnxruntime_provider_semaphores_${CMAKE_MATCH_1} PROGRAM onnxruntime_provider_tests
      LABELS quick onnx CASES "provider semaphores:*"
      ENVIRONMENT "DIMPLE_ONNXRUNTIME=${CMAKE_MATCH_2}" ${semaphoreLayer})
  endforeach()
else()
  dimple_register_skipped(onnxruntime_provider "quick;onnx" "tools/setup.sh --onnx-provider was not run, or failed")
endif()

# On a lavapipe that has cooperative matrices, with its own C library.
if(EXISTS "${deps}/matrices/stamp")
  dimple_register(matrices PROGRAM dimple_tests WRAPPER "${deps}/matrices/run.sh" LABELS vulkan COST 250
    CASES "ops: products of subgroups' matrices*,graphs: epilogues of products*,graphs: attention*,graphs: quantized*,models: a small one of FLOAT16*,decoders: *"
    ENVIRONMENT DIMPLE_TEST_MATRICES=1 DIMPLE_TEST_SAMPLE=60 GALLIVM_PERF=nopt DIMPLE_OPTIONS=unroll=0)
else()
  dimple_register_skipped(matrices vulkan "tools/setup.sh --matrices was not run, or could not fetch the driver")
endif()

# What AMD's compiler makes of kernels, for one family of each generation.
if(DIMPLE_RADV_ICD AND EXISTS "${DIMPLE_RADV_ICD}")
  foreach(family IN ITEMS vega10 navi21 navi31 gfx1201)
    dimple_register(amd_${family} PROGRAM amd_tests LABELS vulkan COST 20
      ENVIRONMENT "RADV_FORCE_FAMILY=${family}" "VK_DRIVER_FILES=${DIMPLE_RADV_ICD}" MESA_SHADER_CACHE_DISABLE=true
        DIMPLE_TEST_SAMPLE=40)
  endforeach()
else()
  dimple_register_skipped(amd_kernels vulkan "RADV was not found: DIMPLE_RADV_ICD names its manifest")
endif()

dimple_register_script(install install "${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh" "${CMAKE_BINARY_DIR}")
dimple_register_script(directmlx install "${CMAKE_CURRENT_SOURCE_DIR}/install/directmlx.sh" "${CMAKE_BINARY_DIR}")
set_tests_properties(directmlx PROPERTIES DEPENDS install)
# The packages, and the provider in them in the newest ONNX Runtime.
set(runtime "")
if(TARGET dimple_onnxruntime AND newestLibrary)
  set(runtime "${DIMPLE_ONNXRUNTIME_INCLUDE_DIR}" "${newestLibrary}")
endif()
dimple_register_script(packages install "${CMAKE_CURRENT_SOURCE_DIR}/install/packages.sh" "${CMAKE_BINARY_DIR}"
  ${runtime})
dimple_register_script(packages_python install "${CMAKE_CURRENT_SOURCE_DIR}/install/python.sh")
set_tests_properties(packages_python PROPERTIES DEPENDS packages)

if(DIMPLE_VKD3D)
  dimple_register_device_tests(_d3d12 AFTER comparison LABELS d3d12 ENVIRONMENT DIMPLE_TEST_BACKEND=d3d12
    SMALL_SETS ${smallSets})
  dimple_register(boundary_tests_d3d12 PROGRAM boundary_tests_d3d12 CASES "*contexts*" LABELS d3d12 COST 60
    ENVIRONMENT DIMPLE_TEST_BACKEND=d3d12 ${smallSets})
  dimple_register(driver_faults_d3d12 PROGRAM d3d12_fault_tests LABELS d3d12 COST 30)
  dimple_register(comparison PROGRAM dimple_tests_d3d12 CASES "ops: Vulkan and Direct3D 12 agree" LABELS d3d12 COST 400
    ENVIRONMENT ${smallSets})
endif()
