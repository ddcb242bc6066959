#include "cuda_driver.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

// cuda.h renames some functions to their newest version (cuMemAlloc to cuMemAlloc_v2) by macros:
// expanding the name first gives the symbol that belongs to the declared type.
#define SYMBOL_NAME(name) #name
#define SYMBOL(name) SYMBOL_NAME(name)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration takes no parentheses
#define DRIVER_FUNCTION(member, name) decltype(&name) member = find<decltype(&name)>(SYMBOL(name))
// NOLINTEND(bugprone-macro-parentheses)

struct DriverTable {
  DriverTable() : library_holder(dlopen("libcuda.so.1", RTLD_NOW)) {}
  ~DriverTable() {
    if (library_holder != nullptr) dlclose(library_holder);
  }
  DriverTable(const DriverTable&) = delete;
  DriverTable& operator=(const DriverTable&) = delete;

  /// Throws unless `result` is success.
  void check(CUresult result, const char* call) const {
    if (result == CUDA_SUCCESS) return;
    const char* name = nullptr;
    if (get_error_name(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
    throw std::runtime_error(std::string(call) + ": " + name);
  }

 private:
  void* library_holder;  // First: the functions below are looked up in it.

  template <typename Function>
  Function find(const char* symbol) const {
    if (library_holder == nullptr) {
      throw std::runtime_error("libcuda.so.1 cannot be opened: is an NVIDIA driver installed?");
    }
    void* address = dlsym(library_holder, symbol);
    if (address == nullptr) throw std::runtime_error(std::string("the driver lacks ") + symbol);
    return reinterpret_cast<Function>(address);
  }

 public:
  DRIVER_FUNCTION(get_error_name, cuGetErrorName);
  DRIVER_FUNCTION(init, cuInit);
  DRIVER_FUNCTION(device_get, cuDeviceGet);
  DRIVER_FUNCTION(device_get_attribute, cuDeviceGetAttribute);
  DRIVER_FUNCTION(primary_retain, cuDevicePrimaryCtxRetain);
  DRIVER_FUNCTION(primary_release, cuDevicePrimaryCtxRelease);
  DRIVER_FUNCTION(set_current, cuCtxSetCurrent);
  DRIVER_FUNCTION(synchronize, cuCtxSynchronize);
  DRIVER_FUNCTION(allocate, cuMemAlloc);
  DRIVER_FUNCTION(release, cuMemFree);
  DRIVER_FUNCTION(fill, cuMemsetD8);
  DRIVER_FUNCTION(upload, cuMemcpyHtoD);
  DRIVER_FUNCTION(download, cuMemcpyDtoH);
  DRIVER_FUNCTION(load_module, cuModuleLoadData);
  DRIVER_FUNCTION(unload_module, cuModuleUnload);
  DRIVER_FUNCTION(get_function, cuModuleGetFunction);
  DRIVER_FUNCTION(set_attribute, cuFuncSetAttribute);
  DRIVER_FUNCTION(launch, cuLaunchKernel);
  DRIVER_FUNCTION(create_stream, cuStreamCreate);
  DRIVER_FUNCTION(synchronize_stream, cuStreamSynchronize);
  DRIVER_FUNCTION(destroy_stream, cuStreamDestroy);
};

Gpu::Gpu() : driver_(std::make_unique<DriverTable>()) {
  driver_->check(driver_->init(0), "cuInit");
  driver_->check(driver_->device_get(&device_, 0), "cuDeviceGet");
  CUcontext context = nullptr;
  driver_->check(driver_->primary_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  driver_->check(driver_->set_current(context), "cuCtxSetCurrent");
}

Gpu::~Gpu() { driver_->primary_release(device_); }

int Gpu::compute_capability() const {
  int major = 0;
  int minor = 0;
  driver_->check(
      driver_->device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_),
      "cuDeviceGetAttribute");
  driver_->check(
      driver_->device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_),
      "cuDeviceGetAttribute");
  return major * 10 + minor;
}

void Gpu::synchronize() const { driver_->check(driver_->synchronize(), "cuCtxSynchronize"); }

Buffer::Buffer(const Gpu& gpu, std::size_t bytes) : gpu_(&gpu), bytes_(bytes) {
  // The driver refuses to allocate nothing.
  gpu.driver().check(gpu.driver().allocate(&address_, bytes == 0 ? 1 : bytes), "cuMemAlloc");
}

Buffer::~Buffer() {
  if (address_ != 0) gpu_->driver().release(address_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : gpu_(other.gpu_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

void Buffer::fill(std::uint8_t value) {
  gpu_->driver().check(gpu_->driver().fill(address_, value, bytes_), "cuMemsetD8");
}

void Buffer::upload(std::span<const std::byte> data) {
  if (data.size() != bytes_) throw std::runtime_error("upload of the wrong size");
  gpu_->driver().check(gpu_->driver().upload(address_, data.data(), data.size()), "cuMemcpyHtoD");
}

void Buffer::download(std::span<std::byte> data) const {
  if (data.size() != bytes_) throw std::runtime_error("download of the wrong size");
  gpu_->driver().check(gpu_->driver().download(data.data(), address_, data.size()), "cuMemcpyDtoH");
}

Stream::Stream(const Gpu& gpu) : gpu_(&gpu) {
  gpu.driver().check(gpu.driver().create_stream(&stream_, CU_STREAM_NON_BLOCKING),
                     "cuStreamCreate");
}

Stream::~Stream() { gpu_->driver().destroy_stream(stream_); }

void Stream::synchronize() const {
  gpu_->driver().check(gpu_->driver().synchronize_stream(stream_), "cuStreamSynchronize");
}

Module::Module(const Gpu& gpu, const std::string& cubin) : gpu_(&gpu) {
  gpu.driver().check(gpu.driver().load_module(&module_, cubin.data()), "cuModuleLoadData");
}

Module::~Module() { gpu_->driver().unload_module(module_); }

CUfunction Module::function(const std::string& entry, unsigned dynamic_shared_bytes) const {
  const DriverTable& driver = gpu_->driver();
  CUfunction function = nullptr;
  driver.check(driver.get_function(&function, module_, entry.c_str()), "cuModuleGetFunction");
  driver.check(driver.set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(dynamic_shared_bytes)),
               "cuFuncSetAttribute");
  return function;
}

void launch_kernel(const Gpu& gpu, CUfunction function, std::span<const unsigned> grid,
                   std::span<const unsigned> block, unsigned dynamic_shared_bytes,
                   std::span<void*> parameters, CUstream stream) {
  gpu.driver().check(
      gpu.driver().launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                          dynamic_shared_bytes, stream, parameters.data(), nullptr),
      "cuLaunchKernel");
}
