#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/virtual/virtual_device.hpp"
#include "engine/intake/draft.hpp"
#include "engine/intake/measured_extents.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The contents of buffers for a run that observes which elements a kernel accesses.
enum class ProbeContent {
  kZeros,
  kSmallNumbers,
  kAnyBits,  ///< random bits in integers; floating-point numbers from -1000 to 1000
};

/// The virtual GPU that runs code for `arch`: "virtual:h200" for "sm_90".
[[nodiscard]] std::string virtual_device_for(const std::string& arch);

/// Runs the kernels of a problem that evo-init drafts, on the virtual GPU.
class ProbeDevice {
 public:
  ProbeDevice(const std::vector<ProbeKernel>& kernels, const Draft& draft);

  /// Prepares launches: allocates buffers that are larger than necessary, and sets the values of
  /// names in expressions. `values`: sizes, and the macros of configuration number `kernel`.
  /// `needed`: a number of elements that suffices for every buffer; 0 if it is unknown.
  void prepare(std::size_t kernel, const Values& values, ProbeContent content,
               std::uint64_t needed = 0);

  /// Limits of a launch. `elements`: by argument, the number of elements of each limited buffer; a
  /// launch that accesses more fails. `shared_bytes`: the dynamic shared memory if the drafted
  /// problem does not give it.
  struct Bounds {
    std::map<std::size_t, std::uint64_t> elements = {};
    std::uint32_t shared_bytes = kAmpleSharedBytes;
  };
  static constexpr std::uint32_t kAmpleSharedBytes = 32768;
  static constexpr std::uint64_t kLeastAmple = 65536;  ///< fewest elements of prepare()'s buffers

  /// Launches the kernel and returns why it failed or could not run; nullopt if it ran without a
  /// fault.
  [[nodiscard]] std::optional<std::string> fault(const Bounds& bounds);

  /// True if a launch leaves an element unchanged in the output `argument`, which has the number of
  /// elements that the draft gives. False if the kernel does not run with this number.
  [[nodiscard]] bool leaves_elements(std::size_t argument);

  [[nodiscard]] std::uint64_t ample_elements() const { return ample_elements_; }

  /// The number of warp instructions of all launches so far.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// True if executed() exceeds a limit, so that no more runs should follow. Unlike a time limit, a
  /// limit of warp instructions has the same effect on every machine.
  [[nodiscard]] bool is_exhausted() const;

 private:
  [[nodiscard]] BufferId make(std::size_t argument, std::uint64_t elements);
  void fill(BufferId buffer, std::size_t argument, std::uint64_t elements);
  /// Fills the outputs among prepare()'s buffers again after a failed launch. Otherwise later
  /// launches could fail too: CTAs that had arrived at a barrier of the grid, for example, would
  /// still be counted. fault() also reloads the kernel, for the same reason.
  void restore_ample();
  [[nodiscard]] KernelArgument scalar(std::size_t argument) const;
  /// The launches of all kernels of the drafted problem, with the values from prepare().
  [[nodiscard]] LaunchPlan plan(const Bounds& bounds) const;
  [[nodiscard]] KernelId loaded(std::size_t kernel);
  void release_ample();

  const std::vector<ProbeKernel>& kernels_;
  const Draft& draft_;
  std::unique_ptr<VirtualDevice> device_;
  std::map<std::size_t, KernelId> loaded_;
  std::size_t kernel_ = 0;
  Values values_;
  ProbeContent content_ = ProbeContent::kZeros;
  std::uint64_t ample_elements_ = 0;
  std::map<std::size_t, BufferId> ample_;
  std::map<std::size_t, TextureId> textures_;
  bool has_failed_ = false;  ///< the last launch since prepare() failed
  std::uint64_t executed_ = 0;
};

}  // namespace evo
