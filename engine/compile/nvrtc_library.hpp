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

  /// The version as one number, such as 1204 for 12.4.
  [[nodiscard]] int number() const { return major * 100 + minor; }
  /// The version as text, such as "nvrtc 12.4".
  [[nodiscard]] std::string text() const;
};

/// Throws MissingError if `version` is older than 12.4. The message names the file `library`.
void require_new_enough(const NvrtcVersion& version, const std::string& library);

/// libnvrtc, opened at run time.
class NvrtcLibrary {
 public:
  /// Opens the first library of nvrtc_libraries() that dlopen() can open. Throws MissingError with
  /// instructions if dlopen() can open none.
  [[nodiscard]] static NvrtcLibrary open();
  ~NvrtcLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  NvrtcLibrary(NvrtcLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  NvrtcLibrary& operator=(NvrtcLibrary&&) = delete;

  /// Returns a function of the library. Throws NvrtcError if the library lacks the function.
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

  /// Throws NvrtcError with the name `what` of the call unless `result` is NVRTC_SUCCESS.
  void require(nvrtcResult result, const char* what) const;
  [[nodiscard]] NvrtcVersion version() const;
  /// The path of the opened library.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  NvrtcLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_;
  std::string path_;
};

/// Reads the path, the version and the architectures of libnvrtc. Does not throw if libnvrtc cannot
/// be used: NvrtcFacts::failure then says why.
[[nodiscard]] NvrtcFacts read_nvrtc_facts();

}  // namespace evo
