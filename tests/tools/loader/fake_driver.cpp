// A fake CUDA driver for tests. The driver executes no kernels. It records calls that load,
// allocate, wait or launch as lines of text. To set the current context of its thread, a test
// passes any address to fake_context().

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The structure DLTensor of DLPack.
struct Tensor {
  void* data;
  std::int32_t device_type, device;
  std::int32_t ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
/// The stream that fake_current_stream() has set as PyTorch's current stream.
std::atomic<std::uintptr_t> current_stream{0};
/// If true, no call is recorded, and no call fails.
std::atomic<bool> is_quiet{false};

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
  std::map<void*, Tensor> tensors;
};
State& state() {
  static State only;
  return only;
}
thread_local void* context = nullptr;
thread_local std::vector<void*> below;  ///< the stack of contexts below the current one
/// The number of the stream capture that fake_capture() has started; 0: no capture. Streams from
/// handle 0x100 on take part in the capture.
std::atomic<unsigned long long> capture_number{0};
/// The address of element i serves as the primary context of device i.
char primary_contexts[8];

/// Records a call as a line. Returns the error code that fake_fail() has set for this call, or 0.
int note(const char* call, const char* format, ...) {
  if (is_quiet) return 0;
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
void fake_capture(unsigned long long number) { capture_number = number; }
void* fake_primary(int device) { return &primary_contexts[device]; }
void fake_quiet(int quiet) { is_quiet = quiet != 0; }
/// Makes fake_read() return `tensor` for the Python object at the address `object`.
void fake_tensor(void* object, const Tensor* tensor) { state().tensors[object] = *tensor; }
void fake_current_stream(std::uintptr_t stream) { current_stream = stream; }
// Two functions of DLPackExchangeAPI, by which PyTorch exchanges tensors: fake_read() and
// fake_stream().
int fake_read(void* object, Tensor* tensor) {
  const auto found = state().tensors.find(object);
  if (found == state().tensors.end()) return -1;
  *tensor = found->second;
  return 0;
}
int fake_stream(std::int32_t, std::int32_t, void** stream) {
  *stream = reinterpret_cast<void*>(current_stream.load());
  return 0;
}
void fake_fail(const char* call, int result) { state().failing[call] = result; }
/// Copies the lines that were recorded since the last call of fake_log() or fake_reset() to `text`,
/// which has `size` bytes; drops what does not fit. Returns the number of copied bytes.
std::size_t fake_log(char* text, std::size_t size) {
  const std::lock_guard lock(state().mutex);
  const std::size_t length = std::min(size - 1, state().log.size());
  std::memcpy(text, state().log.data(), length);
  text[length] = '\0';
  state().log.clear();
  return length;
}

int cuCtxGetCurrent(void** its) { return *its = context, 0; }
int cuInit(unsigned) { return 0; }
int cuCtxPushCurrent_v2(void* its) {
  below.push_back(context);
  context = its;
  return 0;
}
int cuCtxPopCurrent_v2(void** its) {
  *its = context;
  context = below.back();
  below.pop_back();
  return 0;
}
/// Returns the device of the current context. A context that is not a primary context belongs to
/// device 0.
int cuCtxGetDevice(int* device) {
  *device = 0;
  for (int i = 0; i < 8; ++i) {
    if (context == &primary_contexts[i]) *device = i;
  }
  return 0;
}
int cuDevicePrimaryCtxRetain(void** its, int device) {
  *its = &primary_contexts[device];
  return note("retain", " %d", device);
}
/// Returns the device of an address. Addresses from 0x1000000 on belong to device 1, others to
/// device 0.
int cuPointerGetAttribute(void* value, int, unsigned long long address) {
  const int device = address >= 0x1000000 ? 1 : 0;
  std::memcpy(value, &device, sizeof device);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = reinterpret_cast<void*>(0x99);
  return 0;
}
int cuStreamSynchronize(void* stream) { return note("synchronize", " %p", stream); }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* number, void**,
                              const void**, std::size_t*) {
  const bool is_captured = capture_number != 0 && reinterpret_cast<std::uintptr_t>(stream) >= 0x100;
  *status = is_captured ? 1 : 0;
  *number = is_captured ? capture_number.load() : 0;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  std::swap(*mode, current);
  return note("mode", " %d", current);
}
int cuEventCreate(void** event, unsigned) {
  *event = reinterpret_cast<void*>(0x77);
  return 0;
}
int cuEventRecord(void*, void* stream) { return note("record", " on %p", stream); }
int cuStreamWaitEvent(void* stream, void*, unsigned) { return note("wait", " on %p", stream); }
int cuEventDestroy_v2(void*) { return 0; }
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
  if (is_quiet) return 0;
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
int cuLaunchKernelEx(const void* configuration, void* function, void** parameters, void** extra) {
  struct Attribute {  // as in cuda.h
    int id;
    int padding;
    int value[16];
  };
  struct {
    unsigned sizes[7];
    void* stream;
    const Attribute* attributes;
    unsigned count;
  } its;
  std::memcpy(&its, configuration, sizeof its);
  for (unsigned i = 0; i < its.count; ++i)
    note("with", " %d=%d", its.attributes[i].id, its.attributes[i].value[0]);
  const unsigned* size = its.sizes;
  return cuLaunchKernel(function, size[0], size[1], size[2], size[3], size[4], size[5], size[6],
                        its.stream, parameters, extra);
}
/// Writes the tensor's address to the start of the tensor map, so that tests see the address in the
/// parameters of a launch.
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, unsigned long long base,
                           const unsigned long long* dims, const unsigned long long* strides,
                           const unsigned* box, const unsigned* steps, int interleave, int swizzle,
                           int promotion, int fill) {
  std::memset(map, 0, 128);
  std::memcpy(map, &base, sizeof base);
  std::string text;
  for (unsigned i = 0; i < rank; ++i) {
    text += " " + std::to_string(dims[i]) + ":" + (i == 0 ? "" : std::to_string(strides[i - 1])) +
            ":" + std::to_string(box[i]) + ":" + std::to_string(steps[i]);
  }
  return note("encode", " type %d%s interleave %d swizzle %d promotion %d fill %d", type,
              text.c_str(), interleave, swizzle, promotion, fill);
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_OF_THE_FAKE", 0; }

}  // extern "C"
