#pragma once

#include <string>

namespace evo {

/// A file that a compilation looked for in an include path.
struct Dependency {
  std::string path;     ///< absolute
  std::string content;  ///< content key of the file; empty if the file did not exist

  bool operator==(const Dependency&) const = default;
};

}  // namespace evo
