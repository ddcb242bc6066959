#pragma once

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace evo {

/// The file of a library that dlopen() has opened, links followed: its name often ends with the
/// version, "libcuda.so.580.65.06". Empty where the loader does not say.
[[nodiscard]] inline std::string library_path(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : file.string();
}

}  // namespace evo
