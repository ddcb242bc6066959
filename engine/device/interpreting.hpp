#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"

namespace evo {

/// For each part of some buffers, the CTA of a launch that writes it.
struct WriteMap {
  std::size_t granule = 1;  ///< bytes per part
  /// owners[buffer][part]: the linear index (x fastest) of the writing CTA plus 1; 0 if none writes
  /// it.
  std::vector<std::vector<std::uint32_t>> owners;
};

/// Abilities of a device that interprets: it runs a part of a grid and tracks written bytes.
class Interpreting {
 public:
  virtual ~Interpreting() = default;

  /// Later launches of one step run only these CTAs (linear indices, x fastest) and leave the
  /// outputs of the others unchanged. An empty list runs all CTAs.
  virtual void set_cta_sample(std::vector<std::uint64_t> ctas) = 0;
  /// The first byte that no kernel has written since the buffer was poisoned; nullopt if all were
  /// written.
  [[nodiscard]] virtual std::optional<std::size_t> first_unwritten(BufferId buffer) const = 0;
  /// For each byte, whether it was written since the buffer was poisoned.
  [[nodiscard]] virtual std::vector<bool> written(BufferId buffer) const = 0;
  /// For each part of `outputs`, the CTA of the whole grid that writes it, without computing the
  /// values; the content does not change. Returns the reason as text if this cannot be determined:
  /// the address of a write depends on computed values, several CTAs write the same place, or they
  /// write something besides `outputs`.
  [[nodiscard]] virtual std::variant<WriteMap, std::string> write_map(
      KernelId kernel, const LaunchPlan& plan, std::span<const KernelArgument> arguments,
      std::span<const BufferId> outputs) = 0;
  /// Switches the checks for races and uninitialised data. They are on by default; launches are
  /// faster without them.
  virtual void set_checks(bool on) = 0;
};

}  // namespace evo
