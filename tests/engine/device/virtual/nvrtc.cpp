#include "tests/engine/device/virtual/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <stdexcept>

namespace evo::test {
namespace {

struct Library {
  void* handle = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
};

template <typename F>
void find(void* handle, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  if (function == nullptr) throw std::runtime_error(std::string("libnvrtc has no ") + name);
}

Library open_library() {
  Library library;
  for (const char* name :
       {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so",
        "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12"}) {
    library.handle = dlopen(name, RTLD_NOW);
    if (library.handle != nullptr) break;
  }
  if (library.handle == nullptr) return library;
  find(library.handle, library.create, "nvrtcCreateProgram");
  find(library.handle, library.compile, "nvrtcCompileProgram");
  find(library.handle, library.ptx_size, "nvrtcGetPTXSize");
  find(library.handle, library.ptx, "nvrtcGetPTX");
  find(library.handle, library.log_size, "nvrtcGetProgramLogSize");
  find(library.handle, library.log, "nvrtcGetProgramLog");
  find(library.handle, library.destroy, "nvrtcDestroyProgram");
  return library;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

}  // namespace

bool has_nvrtc() { return library().handle != nullptr; }

std::string compile_to_ptx(const std::string& source, const std::string& arch,
                           std::vector<std::string> options) {
  const Library& nvrtc = library();
  options.push_back("-arch=" + arch);
  options.emplace_back("-lineinfo");
  options.emplace_back("-default-device");
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  nvrtcProgram program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    throw std::runtime_error("nvrtcCreateProgram failed");
  }
  const nvrtcResult result =
      nvrtc.compile(program, static_cast<int>(pointers.size()), pointers.data());
  std::size_t size = 0;
  std::string text;
  if (result == NVRTC_SUCCESS) {
    nvrtc.ptx_size(program, &size);
    text.resize(size);
    nvrtc.ptx(program, text.data());
    text.resize(size - 1);
  } else {
    nvrtc.log_size(program, &size);
    text.resize(size);
    nvrtc.log(program, text.data());
  }
  nvrtc.destroy(&program);
  if (result != NVRTC_SUCCESS) throw std::runtime_error(text);
  return text;
}

}  // namespace evo::test
