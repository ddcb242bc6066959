#pragma once

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace evo {

/// The file from which dlopen() loaded a library; empty if the dynamic loader does not know the
/// file.
[[nodiscard]] inline std::filesystem::path library_path(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

/// The path of a library with links followed, for display, because the name of the linked file
/// often contains the version, as in "libcuda.so.580.65.06".
[[nodiscard]] inline std::string library_file(void* library) {
  const std::filesystem::path path = library_path(library);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error ? path.string() : file.string();
}

}  // namespace evo
