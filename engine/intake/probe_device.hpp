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

/// What the buffers hold when a kernel is run to see what it touches.
enum class ProbeContent {
  kZeros,
  kSmallNumbers,
  kAnyBits,  ///< of integers; floating numbers from -1000 to 1000
};

/// The kernel of a draft on the virtual GPU.
class ProbeDevice {
 public:
  ProbeDevice(const std::vector<ProbeKernel>& kernels, const Draft& draft);

  /// Buffers of ample size for later launches, and the values that those have. `values`: sizes, and
  /// the macros of that kernel. `needed`: what is more than enough, where something is known.
  void prepare(std::size_t kernel, const Values& values, ProbeContent content,
               std::uint64_t needed = 0);

  /// Elements by argument, where not ample; and bytes of dynamic shared memory where the draft does
  /// not know them.
  struct Bounds {
    std::map<std::size_t, std::uint64_t> elements = {};
    std::uint32_t shared_bytes = kAmpleSharedBytes;
  };
  static constexpr std::uint32_t kAmpleSharedBytes = 32768;
  static constexpr std::uint64_t kLeastAmple = 65536;  ///< elements, whatever the sizes are

  /// Why the launch goes wrong, or nothing.
  [[nodiscard]] std::optional<std::string> fault(const Bounds& bounds);

  /// Whether some element of an output of that many elements is not written.
  [[nodiscard]] bool leaves_elements(std::size_t argument, std::uint64_t elements);

  [[nodiscard]] std::uint64_t ample_elements() const { return ample_elements_; }

  /// Warp instructions of all launches so far.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  /// So much was executed that it should end: the same on every machine.
  [[nodiscard]] bool is_exhausted() const;

 private:
  [[nodiscard]] BufferId make(std::size_t argument, std::uint64_t elements);
  [[nodiscard]] KernelArgument scalar(std::size_t argument) const;
  /// All steps with the values that are prepared.
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
  std::uint64_t executed_ = 0;
};

}  // namespace evo
