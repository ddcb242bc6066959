# The project's dependencies. All except the CUDA headers come from the distribution's packages
# (quickstart.sh installs them by name).

option(EVO_STATIC_LIBRARIES "Link SQLite, xxHash, zstd and zlib as static libraries" OFF)
if(EVO_STATIC_LIBRARIES)
  list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(utf8cpp REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(xxhash INTERFACE)
target_include_directories(xxhash INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(xxhash INTERFACE ${XXHASH_LIBRARY})

find_path(DTL_INCLUDE_DIR dtl/dtl.hpp REQUIRED)
add_library(dtl INTERFACE)
target_include_directories(dtl SYSTEM INTERFACE ${DTL_INCLUDE_DIR})

find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
add_library(zstd INTERFACE)
target_include_directories(zstd INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(zstd INTERFACE ${ZSTD_LIBRARY})

find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(asio INTERFACE)
target_include_directories(asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
# clang 16 supports coroutines, but Asio's headers do not detect that.
target_compile_definitions(asio INTERFACE ASIO_STANDALONE $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT;ASIO_HAS_STD_COROUTINE>)
# g++ 12 wrongly warns about the operator new of a coroutine's frame.
target_compile_options(asio INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)

# The build needs only headers of CUDA, because programs open libnvrtc and libcuda at run time.
find_path(EVO_CUDA_INCLUDE_DIR nvrtc.h
          HINTS ${EVO_CUDA_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda /opt/cuda
          PATH_SUFFIXES include targets/x86_64-linux/include REQUIRED
          DOC "Folder of nvrtc.h and cuda.h of a CUDA Toolkit >= 12.4")
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${EVO_CUDA_INCLUDE_DIR})

# The first place where programs look for libnvrtc, unless the environment variable EVO_NVRTC is set
# (engine/compile/toolkit.hpp).
find_library(EVO_NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12
             HINTS ${EVO_CUDA_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda /opt/cuda
             PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
if(NOT EVO_NVRTC_LIBRARY)
  set(EVO_NVRTC_LIBRARY "")
endif()
