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

/// For each part of some buffers: the CTA of a launch that writes it.
struct WriteMap {
  std::size_t granule = 1;  ///< bytes of a part
  /// owners[buffer][part]: the linear index (x fastest) of the CTA that writes the part, plus 1; 0
  /// if no CTA writes it.
  std::vector<std::vector<std::uint32_t>> owners;
};

/// The interface of a device that interprets kernels: it can run only a part of a grid, and it
/// tracks which bytes kernels write.
class Interpreting {
 public:
  virtual ~Interpreting() = default;

  /// Makes later launches of plans with one step run only the CTAs in `ctas` (linear indices, x
  /// fastest), so that the outputs of other CTAs stay unchanged. An empty list means that all CTAs
  /// run. Cooperative launches always run all CTAs.
  virtual void set_cta_sample(std::vector<std::uint64_t> ctas) = 0;
  /// The offset of the first byte that was not written since the buffer was poisoned; nullopt if
  /// all bytes were written.
  [[nodiscard]] virtual std::optional<std::size_t> first_unwritten(BufferId buffer) const = 0;
  /// True for each byte that was written since the buffer was poisoned.
  [[nodiscard]] virtual std::vector<bool> written(BufferId buffer) const = 0;
  /// Says where the last launch read a value that was already replaced, although the reader had
  /// seen a later store of the same CTA; empty if it did not. Nothing orders such a read, and a GPU
  /// may return either value.
  [[nodiscard]] virtual std::string unordered_read() const = 0;
  /// Finds the CTA of the whole grid that writes each part of `outputs`, without computing values
  /// or changing the outputs. Returns the reason as text if the CTAs cannot be determined, for
  /// example because the plan has several steps, the address of a write depends on computed values,
  /// several CTAs write the same bytes, or a CTA writes other memory than `outputs`.
  [[nodiscard]] virtual std::variant<WriteMap, std::string> write_map(
      KernelId kernel, const LaunchPlan& plan, std::span<const KernelArgument> arguments,
      std::span<const BufferId> outputs) = 0;
  /// Enables the checks for races and uninitialised data (the default) or disables them. Launches
  /// are faster without the checks.
  virtual void set_checks(bool on) = 0;
};

}  // namespace evo
