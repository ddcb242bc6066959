#pragma once

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace evo {

/// The file of a library that dlopen() has opened, as the loader found it; empty where the loader
/// does not say.
[[nodiscard]] inline std::filesystem::path library_path(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

/// The same with links followed, for people: the name often ends with the version,
/// "libcuda.so.580.65.06".
[[nodiscard]] inline std::string library_file(void* library) {
  const std::filesystem::path path = library_path(library);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error ? path.string() : file.string();
}

}  // namespace evo
