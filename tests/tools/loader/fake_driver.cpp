// A CUDA driver of one GPU that runs nothing: it writes down what it is asked for, a line a call.
// A context is any address that fake_context() made current on this thread.

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

struct State {
  std::mutex mutex;
  std::string log;
  std::string name = "Fake 90";
  int capability = 90;
  int sm_count = 4;
  int parameters = 0;
  unsigned long long next_address = 0x1000;
  std::map<std::string, int> failing;
  std::map<void*, std::string> functions;
};
State& state() {
  static State only;
  return only;
}
thread_local void* context = nullptr;

/// Writes a line; the result that the call was told to have, or 0.
int note(const char* call, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard lock(state().mutex);
  state().log += std::string(call) + text + "\n";
  const auto found = state().failing.find(call);
  return found == state().failing.end() ? 0 : found->second;
}

}  // namespace

extern "C" {

void fake_reset(const char* name, int capability, int parameters) {
  const std::lock_guard lock(state().mutex);
  state().log.clear();
  state().failing.clear();
  state().name = name;
  state().capability = capability;
  state().parameters = parameters;
}
void fake_context(void* its) { context = its; }
void fake_fail(const char* call, int result) { state().failing[call] = result; }
/// What was written since the last time.
std::size_t fake_log(char* text, std::size_t size) {
  const std::lock_guard lock(state().mutex);
  const std::size_t length = std::min(size - 1, state().log.size());
  std::memcpy(text, state().log.data(), length);
  text[length] = '\0';
  state().log.clear();
  return length;
}

int cuCtxGetCurrent(void** its) { return *its = context, 0; }
int cuCtxPushCurrent_v2(void* its) { return context = its, 0; }
int cuCtxPopCurrent_v2(void** its) { return *its = context, 0; }
int cuCtxGetDevice(int* device) { return *device = 0, 0; }
int cuDeviceGetName(char* text, int size, int) {
  std::snprintf(text, static_cast<std::size_t>(size), "%s", state().name.c_str());
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kSmCount = 16, kMajor = 75, kMinor = 76;
  constexpr int kShared = 227 * 1024;
  *value = attribute == kSmCount ? state().sm_count
           : attribute == kMajor ? state().capability / 10
           : attribute == kMinor ? state().capability % 10
                                 : kShared;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  const int result = note("load", " %.8s", static_cast<const char*>(image));
  const std::lock_guard lock(state().mutex);
  *module = reinterpret_cast<void*>(state().next_address += 16);
  return result;
}
int cuModuleUnload(void*) { return note("unload", ""); }
int cuModuleGetFunction(void** function, void*, const char* name) {
  const int result = note("function", " %s", name);
  const std::lock_guard lock(state().mutex);
  *function = reinterpret_cast<void*>(state().next_address += 16);
  state().functions[*function] = name;
  return result;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
  return note("attribute", " %d=%d", attribute, value);
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  const int result = note("allocate", " %zu", bytes);
  const std::lock_guard lock(state().mutex);
  *address = state().next_address += 16;
  return result;
}
int cuMemFree_v2(unsigned long long) { return note("free", ""); }
int cuMemsetD8Async(unsigned long long, unsigned char value, std::size_t bytes, void* stream) {
  return note("fill", " %d x %zu on %p", value, bytes, stream);
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** parameters, void**) {
  std::string values;
  std::string entry;
  {
    const std::lock_guard lock(state().mutex);
    entry = state().functions[function];
    for (int i = 0; i < state().parameters; ++i) {
      std::uint32_t low = 0;
      std::memcpy(&low, parameters[i], sizeof low);
      values += " " + std::to_string(low);
    }
  }
  return note("launch", " %s %u,%u,%u %u,%u,%u %u on %p:%s", entry.c_str(), gx, gy, gz, bx, by, bz,
              shared, stream, values.c_str());
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_OF_THE_FAKE", 0; }

}  // extern "C"
