#pragma once

#include <optional>

namespace evo {

/// What the space's author allows a kernel to use; an absent entry is no limit but the device's.
struct ResourcePolicy {
  std::optional<int> registers_per_thread = {};
  std::optional<int> shared_bytes_per_cta = {};  ///< static + dynamic
  std::optional<int> spill_bytes = {};           ///< per thread, loads + stores

  bool operator==(const ResourcePolicy&) const = default;
};

}  // namespace evo
