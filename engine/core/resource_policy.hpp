#pragma once

#include <optional>

namespace evo {

/// The resources that the author of a space allows a kernel. A resource without an entry is limited
/// only by the device.
struct ResourcePolicy {
  std::optional<int> registers_per_thread = {};
  std::optional<int> shared_bytes_per_cta = {};  ///< static + dynamic
  std::optional<int> spill_bytes = {};           ///< per thread, loads + stores

  bool operator==(const ResourcePolicy&) const = default;
};

}  // namespace evo
