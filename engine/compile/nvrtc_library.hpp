#pragma once

#include <dlfcn.h>
#include <nvrtc.h>

#include <string>
#include <utility>

#include "engine/core/machine_facts.hpp"

namespace evo {

struct NvrtcVersion {
  int major = 0;
  int minor = 0;

  /// 1204 for 12.4.
  [[nodiscard]] int number() const { return major * 100 + minor; }
  /// "nvrtc 12.4".
  [[nodiscard]] std::string text() const;
};

/// Throws MissingError for a version that is too old for this project.
void require_new_enough(const NvrtcVersion& version, const std::string& library);

/// libnvrtc, opened at run time: it stays open for the life of the object.
class NvrtcLibrary {
 public:
  /// The first of nvrtc_libraries() that opens. Throws MissingError saying how to get it.
  [[nodiscard]] static NvrtcLibrary open();
  ~NvrtcLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  NvrtcLibrary(NvrtcLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  NvrtcLibrary& operator=(NvrtcLibrary&&) = delete;

  /// Throws NvrtcError where the library has no such function.
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

  /// Throws NvrtcError naming `what` unless `result` is NVRTC_SUCCESS.
  void require(nvrtcResult result, const char* what) const;
  [[nodiscard]] NvrtcVersion version() const;
  /// The file that was opened.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  NvrtcLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_;
  std::string path_;
};

/// Never throws for what the library does: `failure` says why it cannot be used.
[[nodiscard]] NvrtcFacts read_nvrtc_facts();

}  // namespace evo
