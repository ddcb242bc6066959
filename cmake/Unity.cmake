# Unity builds compile all sources of a target together, so that headers are read and templates
# instantiated once. This saves 40 % of the processor time of a full build. The presets release, ci,
# asan, tsan and fuzz use it. For incremental work, compiling files separately is faster: preset
# dev, or -DEVO_UNITY=tests.

set(EVO_UNITY "" CACHE STRING "Compile sources of a target together: 'tests' (only theirs) or 'all'")

# Sources that use a name differently from another source of their target. If a unity build reports
# "redefinition of …" or "shadows …", add the file here or choose a better name.
set(EVO_ALONE
  tests/engine/device/virtual/wgmma_defects_test.cpp
  tests/engine/gate/correctness/partial_evidence_test.cpp
  tests/engine/gate/correctness/reference_audit_test.cpp
  tests/engine/gate/correctness/sampled_check_test.cpp
  tests/engine/gate/correctness/state_test.cpp
)

# evo_unity(target source…): compiles the sources together if EVO_UNITY requests it.
function(evo_unity target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT EVO_UNITY STREQUAL "all" AND NOT (EVO_UNITY STREQUAL "tests" AND folder MATCHES "^tests"))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # g++ 12 warns wrongly about coroutines in an included file and about members of a std::variant.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
  foreach(source ${ARGN})
    if("${folder}/${source}" IN_LIST EVO_ALONE)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
