// A fake libnvrtc that only reports its version (the environment variable EVO_FAKE_NVRTC, for
// example "12.4") and its architectures. Compiling a program aborts the process, because evo-tune
// must not compile on a machine that it rejects.

#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace {
constexpr std::array kArchs = {75, 80, 86, 89, 90, 100};
}

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
  const char* text = std::getenv("EVO_FAKE_NVRTC");
  if (text == nullptr || std::sscanf(text, "%d.%d", major, minor) != 2) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  return NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult) { return "fake error"; }

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(kArchs.size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  std::copy(kArchs.begin(), kArchs.end(), archs);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram*, const char*, const char*, int, const char* const*,
                               const char* const*) {
  std::fputs("fake NVRTC: asked to compile\n", stderr);
  std::abort();
}
}
