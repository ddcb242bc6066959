# Unity builds compile all sources of a target together, so that headers are read and templates
# instantiated once. This saves much of the processor time of a full build. The presets release,
# asan, tsan and fuzz make unity builds; the preset ci takes EVO_UNITY from the environment, which
# test.sh sets to "all". For incremental work, compiling files separately is faster: preset dev, or
# -DEVO_UNITY=tests.

set(EVO_UNITY "" CACHE STRING "Compile sources of a target together: 'tests' (only theirs) or 'all'")

# evo_unity(target): compiles the sources together if EVO_UNITY requests it. If g++ then reports
# "redefinition of …" or "shadows …", choose another name, or give the source its own namespace.
function(evo_unity target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT EVO_UNITY STREQUAL "all" AND NOT (EVO_UNITY STREQUAL "tests" AND folder MATCHES "^tests"))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # g++ 12 warns wrongly about coroutines in an included file and about members of a std::variant.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
endfunction()

# evo_precompile(name HEADERS <header> … DEPENDS target …): makes the target `name`, whose
# precompiled headers the executables of evo_reuse_headers(executable name) share. Only builds with
# EVO_UNITY=all use them, so that the other builds show which source forgets to include a header.
function(evo_precompile name)
  if(NOT EVO_UNITY STREQUAL "all")
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS" ${ARGN})
  file(CONFIGURE OUTPUT ${name}.cpp CONTENT "int main() {}\n")
  # An executable, because libraries are compiled with other options (-fPIC instead of -fPIE).
  add_executable(${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE evo_options ${ARG_DEPENDS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(evo_reuse_headers target name)
  if(NOT TARGET ${name})
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
endfunction()
