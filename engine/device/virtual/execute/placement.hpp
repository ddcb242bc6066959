#pragma once

#include <cstdint>

namespace evo::ptx {

/// The order in which CTAs start, and the values of the special registers that tell a kernel where
/// and when it runs. On a GPU, the order of CTAs and the values of registers such as %smid are
/// arbitrary. The virtual GPU draws the registers' values and, from a device's second launch on,
/// the CTAs' order at random for each launch, so that a kernel whose results depend on them gives
/// different results in each launch. Predictions use the values and the order of the first launch.
class Placement {
 public:
  Placement() = default;
  /// `number`: the number of the launch on its device; `sm_count` and `warps_per_sm`: at least 1.
  Placement(std::uint64_t seed, std::uint64_t number, int sm_count, int warps_per_sm);

  /// %smid of a CTA. If there are no more CTAs than SMs, each CTA gets its own SM.
  [[nodiscard]] std::uint32_t sm_of(std::uint64_t cta) const;
  /// %warpid of the first warp of a CTA with `warps` warps: a multiple of 4. The other warps of the
  /// CTA have the following values of %warpid.
  [[nodiscard]] std::uint32_t first_warp_of(std::uint64_t cta, std::uint32_t warps) const;
  /// %nwarpid.
  [[nodiscard]] std::uint32_t warps_per_sm() const { return warps_per_sm_; }
  /// %gridid.
  [[nodiscard]] std::uint32_t grid() const;
  /// The index of the CTA that starts as number `position` of `ctas` CTAs. The grid is divided into
  /// groups of `window` CTAs; the groups start in the order of the grid, as on a GPU, and within a
  /// group the order is random.
  [[nodiscard]] std::uint64_t cta_at(std::uint64_t position, std::uint64_t ctas,
                                     std::uint64_t window) const;

 private:
  [[nodiscard]] std::uint64_t draw(std::uint64_t what, std::uint64_t of) const;

  std::uint64_t seed_ = 0;
  std::uint32_t sm_count_ = 1;
  std::uint32_t warps_per_sm_ = 1;
};

/// The clocks of a virtual GPU, which begin at arbitrary values. Between two launches, the clocks
/// advance by a random time from a microsecond to about two seconds.
class DeviceClocks {
 public:
  DeviceClocks() = default;
  explicit DeviceClocks(std::uint64_t seed);

  /// %clock64 and %globaltimer (nanoseconds since 1970) when a launch begins.
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  [[nodiscard]] std::uint64_t nanoseconds() const { return nanoseconds_; }
  /// Advances the clocks after launch number `number`, in which the warps executed `instructions`
  /// instructions.
  void pass(std::uint64_t number, std::uint64_t instructions);

 private:
  std::uint64_t seed_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t nanoseconds_ = 0;
};

}  // namespace evo::ptx
