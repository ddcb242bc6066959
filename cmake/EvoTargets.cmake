# Defines evo_library, evo_tool and evo_test, which make the three kinds of targets in this project
# with common compile options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(EVO_CCACHE ccache)
if(EVO_CCACHE)
  # Without this sloppiness, ccache does not cache objects of tests, which use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${EVO_CCACHE})
endif()

if(EVO_SANITIZE)
  # Every report of a sanitizer, also of undefined behaviour, ends the program, so that the test
  # fails.
  add_compile_options(-fsanitize=${EVO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${EVO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND EVO_SANITIZE MATCHES "address.*undefined")
    add_library(evo_ubsan_report OBJECT ${CMAKE_CURRENT_LIST_DIR}/ubsan_report.cpp)
    set(EVO_PROGRAM_OBJECTS $<TARGET_OBJECTS:evo_ubsan_report>)
  endif()
endif()

add_library(evo_options INTERFACE)
target_compile_options(evo_options INTERFACE -Wall -Wextra -Wconversion -Wshadow
                                             $<$<BOOL:${EVO_WERROR}>:-Werror>)
target_include_directories(evo_options INTERFACE ${PROJECT_SOURCE_DIR})
# Without garbage collection below 0.6 GB, g++ takes a ninth less time for a full build, and a fifth
# more memory (0.9 to 1.2 GB for a large target).
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=600000>)

# evo_compile_lightly(): compiles the folder's later targets at -Og in a release, which takes much
# less time than -O3. Use it for code in which a run spends little time.
macro(evo_compile_lightly)
  # At -Og, g++ 12 wrongly reports uninitialised members of an empty std::optional.
  add_compile_options($<$<CONFIG:Release>:-Og> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endmacro()

# evo_library(name SOURCES a.cpp … [DEPENDS target …])
function(evo_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC evo_options ${ARG_DEPENDS})
  evo_unity(${name})
endfunction()

# evo_tool(name SOURCES a.cpp … [DEPENDS target …]): a command line program. The target foo_bar
# makes the program foo-bar.
function(evo_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} ${EVO_PROGRAM_OBJECTS})
  string(REPLACE "_" "-" output ${name})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output})
  target_link_libraries(${name} PRIVATE evo_options ${ARG_DEPENDS})
  evo_unity(${name})
endfunction()

# evo_benchmarks(target …): programs that measure or record, and that no test starts. With
# EVO_BENCHMARKS=OFF, as in the preset ci, only the target `benchmarks` builds them, so that tests
# start earlier.
option(EVO_BENCHMARKS "Build programs that measure or record by default" ON)
add_custom_target(benchmarks)
function(evo_benchmarks)
  add_dependencies(benchmarks ${ARGV})
  if(NOT EVO_BENCHMARKS)
    set_target_properties(${ARGV} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# evo_test(name LABEL unit|concurrent|nvrtc|cli|gpu SOURCES a_test.cpp … [DEPENDS target …]
#          [TOGETHER suite …] [ALONE suite …])
# CTest runs each test in its own process, but the tests of a suite in TOGETHER or ALONE share one
# process. TOGETHER is for tests that share a long preparation. While a suite in ALONE runs, CTest
# runs no other test, because the suite depends on how much processor time it gets.
function(evo_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS;TOGETHER;ALONE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} ${EVO_PROGRAM_OBJECTS})
  target_link_libraries(${name} PRIVATE evo_options ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  # g++ 12 wrongly reports overlapping copies in std::string's operator+ (GCC bug 105329).
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized>)
  target_compile_definitions(${name} PRIVATE EVO_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             EVO_BINARY_DIR="${PROJECT_BINARY_DIR}")
  evo_unity(${name})
  evo_reuse_headers(${name} evo_test_headers)
  set(together "")
  foreach(suite ${ARG_TOGETHER} ${ARG_ALONE})
    add_test(NAME ${suite} COMMAND ${name} --gtest_filter=${suite}.*)
    set_tests_properties(${suite} PROPERTIES LABELS ${ARG_LABEL})
    string(APPEND together ":${suite}.*")
  endforeach()
  foreach(suite ${ARG_ALONE})
    set_tests_properties(${suite} PROPERTIES RUN_SERIAL TRUE)
  endforeach()
  if(together)
    string(REGEX REPLACE "^:" "-" together "${together}")
    set(apart TEST_FILTER "${together}")
  endif()
  gtest_discover_tests(${name} ${apart} PROPERTIES LABELS ${ARG_LABEL} DISCOVERY_TIMEOUT 60)
endfunction()
