#include "engine/compile/standard_headers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/compile/standard_names.hpp"
#include "engine/cxx/directives.hpp"

namespace evo {
namespace {

/// Headers of CUDA's samples, headers of libraries and interfaces that only the host calls, and
/// toolkit headers whose device declarations NVRTC provides itself.
constexpr auto kOfTheHost = std::to_array<std::string_view>({"helper_cuda.h",
                                                             "helper_functions.h",
                                                             "helper_timer.h",
                                                             "helper_string.h",
                                                             "helper_image.h",
                                                             "helper_gl.h",
                                                             "helper_multiprocess.h",
                                                             "helper_cuda_drvapi.h",
                                                             "helper_cusolver.h",
                                                             "exception.h",
                                                             "cublas_v2.h",
                                                             "cublas.h",
                                                             "cublasLt.h",
                                                             "cublasXt.h",
                                                             "cublas_api.h",
                                                             "cufft.h",
                                                             "cufftXt.h",
                                                             "curand.h",
                                                             "cusparse.h",
                                                             "cusparse_v2.h",
                                                             "cusparseLt.h",
                                                             "cusolverDn.h",
                                                             "cusolverSp.h",
                                                             "cusolverMg.h",
                                                             "cusolver_common.h",
                                                             "cudnn.h",
                                                             "cudnn_frontend.h",
                                                             "cutensor.h",
                                                             "nccl.h",
                                                             "nvrtc.h",
                                                             "nvml.h",
                                                             "nvjpeg.h",
                                                             "npp.h",
                                                             "mpi.h",
                                                             "cuda.h",
                                                             "cuda_profiler_api.h",
                                                             "cudaProfiler.h",
                                                             "cuda_gl_interop.h",
                                                             "cuda_egl_interop.h",
                                                             "cuda_vdpau_interop.h",
                                                             "cudaEGL.h",
                                                             "nvToolsExt.h",
                                                             "device_launch_parameters.h",
                                                             "device_functions.h"});

/// Include folders of libraries that only the host calls, except for thrust/complex.h.
constexpr auto kFoldersOfTheHost = std::to_array<std::string_view>(
    {"nvtx3/", "thrust/", "GL/", "EGL/", "X11/", "vulkan/", "boost/", "opencv2/", "omp/"});
constexpr std::string_view kThrustComplex = "thrust/complex.h";

bool is_of_the_host(std::string_view name) {
  if (name == kThrustComplex) return false;
  return std::ranges::find(kOfTheHost, name) != kOfTheHost.end() ||
         std::ranges::any_of(kFoldersOfTheHost,
                             [&](std::string_view folder) { return name.starts_with(folder); });
}

constexpr std::string_view kStd =
    "namespace std { namespace chrono {} namespace filesystem {} namespace placeholders {}\n"
    "inline namespace literals {} }\n";

/// Defines min, max and swap. With --expt-relaxed-constexpr, nvcc allows the standard library's
/// constexpr functions in device code, but NVRTC has no standard library.
constexpr std::string_view kAlgorithm =
    "#pragma once\n"
    "namespace std {\n"
    "template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) "
    "{ return b < a ? b : a; }\n"
    "template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) "
    "{ return a < b ? b : a; }\n"
    "template <class T> __host__ __device__ constexpr void swap(T& a, T& b) "
    "{ T c = a; a = b; b = c; }\n"
    "}\n";

template <std::size_t N>
void add_types(const std::array<Known, N>& list, std::string& text) {
  for (const auto& [name, type] : list) {
    text.append("typedef ").append(type).append(" ").append(name).append(";\n");
  }
}

template <std::size_t N>
void add_macros(const std::array<Known, N>& list, std::string& text) {
  for (const auto& [name, value] : list) {
    text.append("#define ").append(name).append(" ").append(value).append("\n");
  }
}

std::string forwarded(std::string_view header, std::string_view names) {
  std::string text = "#pragma once\n#include <cuda/std/";
  text.append(header).append(">\nnamespace std {\n").append(names).append("}\n");
  return text;
}

/// The parts of CUB that device code can call; algorithms that the host launches are omitted.
std::string block_and_warp_primitives() {
  std::string text = "#pragma once\n";
  for (const char* name :
       {"block/block_adjacent_difference", "block/block_discontinuity", "block/block_exchange",
        "block/block_histogram", "block/block_load", "block/block_merge_sort",
        "block/block_radix_sort", "block/block_reduce", "block/block_scan", "block/block_shuffle",
        "block/block_store", "warp/warp_exchange", "warp/warp_load", "warp/warp_merge_sort",
        "warp/warp_reduce", "warp/warp_scan", "warp/warp_store"}) {
    text.append("#include <cub/").append(name).append(".cuh>\n");
  }
  return text;
}

std::map<std::string, std::string, std::less<>> all_headers() {
  std::map<std::string, std::string, std::less<>> headers;
  std::string types;
  add_types(kTypes, types);
  add_macros(kFixedLimits, types);
  std::string integers;
  add_macros(kIntegerLimits, integers);
  std::string reals;
  add_macros(kRealLimits, reals);
  std::string math;
  add_macros(kMathConstants, math);
  const std::string names =
      "namespace std {\nusing ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;\n"
      "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;\n"
      "using ::intptr_t; using ::uintptr_t;\n}\n";
  for (const char* name : {"stdint.h", "inttypes.h", "sys/types.h"}) headers[name] = types;
  for (const char* name : {"cstdint", "cinttypes"}) headers[name] = types + names;
  for (const char* name : {"limits.h", "climits"}) headers[name] = integers;
  for (const char* name : {"float.h", "cfloat"}) headers[name] = reals;
  headers["math.h"] = math;
  headers["cmath"] = math +
                     "namespace std {\nusing ::sqrt; using ::exp; using ::log; using ::pow; using "
                     "::sin; using ::cos;\nusing ::tan; using ::tanh; using ::fabs; using ::floor; "
                     "using ::ceil; using ::abs;\nusing ::fmax; using ::fmin; using ::fma; using "
                     "::erf; using ::isnan; using ::isinf;\n}\n";
  headers["algorithm"] = kAlgorithm;
  headers["limits"] = forwarded("limits", "using ::cuda::std::numeric_limits;\n");
  headers["type_traits"] = forwarded("type_traits", "using namespace ::cuda::std;\n");
  headers["utility"] = forwarded("utility", "using namespace ::cuda::std;\n");
  headers["array"] = forwarded("array", "using ::cuda::std::array;\n");
  headers["tuple"] = forwarded("tuple", "using namespace ::cuda::std;\n");
  headers["complex"] = forwarded("complex", "using ::cuda::std::complex;\n");
  for (const char* name :
       {"stdio.h",       "stdlib.h",    "string.h",     "time.h",     "errno.h",
        "ctype.h",       "stdarg.h",    "stddef.h",     "stdbool.h",  "signal.h",
        "memory.h",      "malloc.h",    "strings.h",    "unistd.h",   "getopt.h",
        "omp.h",         "pthread.h",   "semaphore.h",  "sched.h",    "fcntl.h",
        "dirent.h",      "dlfcn.h",     "libgen.h",     "poll.h",     "pwd.h",
        "termios.h",     "sys/time.h",  "sys/times.h",  "sys/stat.h", "sys/mman.h",
        "sys/utsname.h", "sys/wait.h",  "sys/socket.h", "sys/un.h",   "sys/resource.h",
        "sys/sysinfo.h", "sys/ioctl.h", "sys/param.h",  "sys/ipc.h",  "sys/shm.h"}) {
    headers[name];
  }
  // The compiler provides assert(). If a source defines NDEBUG, its assert() has no effect.
  for (const char* name : {"assert.h", "cassert"}) {
    headers[name] =
        "#ifdef NDEBUG\n#undef assert\n#define assert(...) static_cast<void>(0)\n#endif\n";
  }
  for (const char* name : {"cstdio",
                           "cstdlib",
                           "cstring",
                           "ctime",
                           "cerrno",
                           "cstdarg",
                           "cstddef",
                           "iostream",
                           "iomanip",
                           "fstream",
                           "sstream",
                           "ostream",
                           "istream",
                           "string",
                           "vector",
                           "list",
                           "map",
                           "set",
                           "deque",
                           "queue",
                           "stack",
                           "memory",
                           "unordered_map",
                           "unordered_set",
                           "chrono",
                           "random",
                           "numeric",
                           "functional",
                           "iterator",
                           "thread",
                           "mutex",
                           "atomic",
                           "future",
                           "stdexcept",
                           "exception",
                           "bitset",
                           "optional",
                           "variant",
                           "filesystem",
                           "regex",
                           "string_view",
                           "cctype",
                           "csignal",
                           "initializer_list",
                           "tgmath.h",
                           "typeinfo",
                           "cstdbool",
                           "execution",
                           "charconv",
                           "compare",
                           "condition_variable",
                           "any",
                           "valarray",
                           "locale",
                           "codecvt",
                           "complex.h",
                           "fenv.h",
                           "cfenv",
                           "clocale",
                           "cwchar",
                           "csetjmp",
                           "shared_mutex",
                           "scoped_allocator",
                           "forward_list",
                           "typeindex",
                           "system_error",
                           "new"}) {
    headers.try_emplace(name, kStd);
  }
  // CUtensorMap is the only structure of the driver's interface that kernels take as a parameter.
  headers["cuda.h"] =
      "#pragma once\ntypedef struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; } "
      "CUtensorMap;\n";
  headers["cub/cub.cuh"] = block_and_warp_primitives();
  return headers;
}

using NameSet = std::set<std::string, std::less<>>;

/// Collects the names that a text uses, and the names that it defines by #define, typedef or `using
/// X =`.
void read_names(const std::string& text, NameSet& used, NameSet& defined) {
  const CppText cpp = tokenize(text);
  for (const Directive& directive : cpp.directives) {
    if (directive.name == "define") defined.insert(macro_in(directive).name);
    for (std::string& word : cpp_words(directive.argument)) used.insert(std::move(word));
  }
  const std::vector<CppWord>& words = cpp.words;
  bool is_typedef = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    used.insert(words[i].text);
    if (words[i].text == "typedef") is_typedef = true;
    if (words[i].text == "using" && i + 1 < words.size()) defined.insert(words[i + 1].text);
    if (words[i].text != ";") continue;
    if (is_typedef && i > 0) defined.insert(words[i - 1].text);
    is_typedef = false;
  }
}

}  // namespace

const std::string* stand_in_header(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> headers = all_headers();
  static const std::string nothing;
  const auto found = headers.find(name);
  if (found != headers.end()) return &found->second;
  return is_of_the_host(name) ? &nothing : nullptr;
}

bool replaces_toolkit_header(std::string_view name) {
  return name == "cub/cub.cuh" || is_of_the_host(name);
}

std::string implied_definitions(const KernelSource& source) {
  NameSet used;
  NameSet defined;
  read_names(source.text, used, defined);
  for (const auto& [name, text] : source.headers) read_names(text, used, defined);
  std::string text;
  const auto add_used_types = [&](const auto& types) {
    for (const auto& [name, type] : types) {
      if (used.contains(name) && !defined.contains(name)) {
        text.append("typedef ").append(type).append(" ").append(name).append(";\n");
      }
    }
  };
  add_used_types(kTypes);
  add_used_types(kHostTypes);
  const auto add = [&](const auto& macros) {
    for (const auto& [name, value] : macros) {
      if (used.contains(name) && !defined.contains(name)) {
        text.append("#define ").append(name).append(" ").append(value).append("\n");
      }
    }
  };
  add(kIntegerLimits);
  add(kFixedLimits);
  add(kRealLimits);
  add(kMathConstants);
  for (const auto& [name, value] : kFixedConstants) {
    if (used.contains(name) && !defined.contains(name)) {
      text.append("#define ").append(name).append(value).append("\n");
    }
  }
  return text;
}

}  // namespace evo
