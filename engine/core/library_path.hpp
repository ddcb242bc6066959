#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string>

namespace evo {

/// The file of a library that dlopen() has opened; empty where the loader does not say.
[[nodiscard]] inline std::string library_path(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr) return {};
  return map->l_name;
}

}  // namespace evo
