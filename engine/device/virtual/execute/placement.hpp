#pragma once

#include <cstdint>

namespace evo::ptx {

/// What a launch shows a kernel of where and when it runs, and the order in which its CTAs start.
/// On a card that is nobody's to choose: it is drawn for each launch, so that a kernel whose
/// results depend on it gives other ones when it is run again.
class Placement {
 public:
  Placement() = default;
  /// `number`: of the launch on its device; `sm_count`, `warps_per_sm`: at least 1.
  Placement(std::uint64_t seed, std::uint64_t number, int sm_count, int warps_per_sm);

  /// %smid of a CTA. CTAs that are no more than SMs lie on different ones.
  [[nodiscard]] std::uint32_t sm_of(std::uint64_t cta) const;
  /// %warpid of the first warp of a CTA of `warps`, a multiple of 4; the others follow.
  [[nodiscard]] std::uint32_t first_warp_of(std::uint64_t cta, std::uint32_t warps) const;
  /// %nwarpid.
  [[nodiscard]] std::uint32_t warps_per_sm() const { return warps_per_sm_; }
  /// %gridid.
  [[nodiscard]] std::uint32_t grid() const;
  /// The CTA that starts as number `position` of `ctas`. Those of a window start in an order that
  /// is drawn, the windows one after the other, as a card hands out CTAs.
  [[nodiscard]] std::uint64_t cta_at(std::uint64_t position, std::uint64_t ctas,
                                     std::uint64_t window) const;

 private:
  [[nodiscard]] std::uint64_t draw(std::uint64_t what, std::uint64_t of) const;

  std::uint64_t seed_ = 0;
  std::uint32_t sm_count_ = 1;
  std::uint32_t warps_per_sm_ = 1;
};

/// The device's clocks. They begin anywhere, and between launches goes by a time that is drawn,
/// from a microsecond to a second.
class DeviceClocks {
 public:
  DeviceClocks() = default;
  explicit DeviceClocks(std::uint64_t seed);

  /// %clock64 and %globaltimer (nanoseconds, as of 1970) when a launch begins.
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  [[nodiscard]] std::uint64_t nanoseconds() const { return nanoseconds_; }
  /// After launch `number`, whose CTAs executed `instructions` at most.
  void pass(std::uint64_t number, std::uint64_t instructions);

 private:
  std::uint64_t seed_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t nanoseconds_ = 0;
};

}  // namespace evo::ptx
