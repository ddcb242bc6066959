#include "engine/compile/nvrtc_library.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/library_path.hpp"

namespace evo {
namespace {

/// Loads libnvrtc-builtins from the folder of libnvrtc, because libnvrtc opens it by its name only,
/// and the dynamic loader may not search this folder.
void preload_builtins(const std::filesystem::path& nvrtc) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(nvrtc.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with("libnvrtc-builtins.so")) {
      dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
      return;
    }
  }
}

std::vector<std::string> archs_of(const NvrtcLibrary& library) {
  int count = 0;
  library.require(
      library.find<decltype(nvrtcGetNumSupportedArchs)>("nvrtcGetNumSupportedArchs")(&count),
      "nvrtcGetNumSupportedArchs");
  std::vector<int> numbers(static_cast<std::size_t>(count));
  library.require(
      library.find<decltype(nvrtcGetSupportedArchs)>("nvrtcGetSupportedArchs")(numbers.data()),
      "nvrtcGetSupportedArchs");
  std::vector<std::string> archs;
  for (const int number : numbers) archs.push_back(fmt::format("sm_{}", number));
  return archs;
}

}  // namespace

std::string NvrtcVersion::text() const { return fmt::format("nvrtc {}.{}", major, minor); }

void require_new_enough(const NvrtcVersion& version, const std::string& library) {
  constexpr int kOldest = 1204;
  if (version.number() >= kOldest) return;
  throw MissingError(
      fmt::format("NVRTC {}.{} ({}) is too old\nnext step: install a CUDA Toolkit >= 12.4, or name "
                  "another libnvrtc in EVO_NVRTC",
                  version.major, version.minor, library));
}

NvrtcLibrary NvrtcLibrary::open() {
  std::string tried;
  for (const std::string& name : nvrtc_libraries()) {
    // The library is never unloaded, because each unloading leaks memory.
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      preload_builtins(library_path(handle));
      return NvrtcLibrary(handle, library_file(handle));
    }
    tried += (tried.empty() ? "" : ", ") + name;
  }
  throw MissingError("NVRTC is missing (tried " + tried +
                     ")\nnext step: install a CUDA Toolkit >= 12.4, run ./quickstart.sh, which "
                     "fetches it, or name the library in EVO_NVRTC");
}

void* NvrtcLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw NvrtcError(fmt::format(
        "{} has no function {}, so it is no usable NVRTC; name another libnvrtc in EVO_NVRTC",
        path_, name));
  }
  return found;
}

void NvrtcLibrary::require(nvrtcResult result, const char* what) const {
  if (result == NVRTC_SUCCESS) return;
  const auto describe = find<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString");
  throw NvrtcError(std::string(what) + " failed: " + describe(result));
}

NvrtcVersion NvrtcLibrary::version() const {
  NvrtcVersion found;
  require(find<decltype(nvrtcVersion)>("nvrtcVersion")(&found.major, &found.minor), "nvrtcVersion");
  return found;
}

NvrtcFacts read_nvrtc_facts() {
  NvrtcFacts facts;
  try {
    const NvrtcLibrary library = NvrtcLibrary::open();
    facts.library = library.path();
    const NvrtcVersion version = library.version();
    facts.version = version.text();
    facts.archs = archs_of(library);
    require_new_enough(version, library.path());
  } catch (const Error& error) {
    facts.failure = error.what();
  }
  return facts;
}

}  // namespace evo
