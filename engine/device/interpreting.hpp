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

/// Maps each part of some buffers to the CTA of a launch that writes it.
struct WriteMap {
  std::size_t granule = 1;  ///< bytes of a part
  /// owners[buffer][part]: the linear index of the writing CTA (x fastest) plus 1; 0 for nobody.
  std::vector<std::vector<std::uint32_t>> owners;
};

/// Abilities of a device that interprets: running a part of a grid, telling which bytes were
/// written.
class Interpreting {
 public:
  virtual ~Interpreting() = default;

  /// Later launches of one step run only these CTAs (linear indices, x fastest) and leave the
  /// output of the others untouched; an empty list runs all.
  virtual void set_cta_sample(std::vector<std::uint64_t> ctas) = 0;
  /// The first byte that no kernel wrote since the buffer was poisoned; nothing when all of them
  /// were written.
  [[nodiscard]] virtual std::optional<std::size_t> first_unwritten(BufferId buffer) const = 0;
  /// For each byte, whether anyone wrote it since it was poisoned.
  [[nodiscard]] virtual std::vector<bool> written(BufferId buffer) const = 0;
  /// Maps each part of `outputs` to the CTA of the whole grid that writes it, without computing it;
  /// their content stays. Or why that cannot be told: where a CTA writes depends on what is
  /// computed, several CTAs write the same place, or they write something besides `outputs`.
  [[nodiscard]] virtual std::variant<WriteMap, std::string> write_map(
      KernelId kernel, const LaunchPlan& plan, std::span<const KernelArgument> arguments,
      std::span<const BufferId> outputs) = 0;
  /// Without checks for races and uninitialised data launches are faster; they are on at first.
  virtual void set_checks(bool on) = 0;
};

}  // namespace evo
