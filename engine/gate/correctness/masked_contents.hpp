#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/gate/correctness/check_slots.hpp"
#include "engine/gate/correctness/kept_contents.hpp"

namespace evo {

/// A loaded kernel of check_kernels.cu.
class CheckKernel {
 public:
  static constexpr std::uint32_t kThreads = 256;
  /// Limit of the number of CTAs, which is enough to occupy any GPU, and low enough for one CTA to
  /// combine the results of all CTAs.
  static constexpr std::uint64_t kMostCtas = 1024;

  /// `device` must outlive this object. Throws CudaError if the device cannot load the kernel, and
  /// std::logic_error if the device does not measure.
  CheckKernel(Device& device, const KernelImage& kernels, const std::string& entry);

  void enqueue(std::uint32_t ctas, const std::vector<KernelArgument>& arguments) const;

  /// The number of CTAs, 1 … kMostCtas, for `pieces` CTA-sized parts of the work, or for `bytes`
  /// bytes.
  [[nodiscard]] static std::uint32_t ctas_for(std::uint64_t pieces);
  [[nodiscard]] static std::uint32_t ctas_for_bytes(std::size_t bytes);

 private:
  Measuring& measuring_;
  KernelId id_ = 0;
};

/// Copies of data in device memory, where kernels under test can reach them. The copies are masked
/// by evo_mask, so that no kernel finds the expected output. seal() adds a fingerprint.
class MaskedContents final : public KeptContents {
 public:
  struct Kept {
    std::string name;
    BufferId buffer = 0;
    std::size_t bytes = 0;
    std::uint64_t key = 0;  ///< key of the mask
    std::optional<std::uint64_t> seal = {};
  };

  /// `device` must outlive this object.
  MaskedContents(Device& device, const KernelImage& kernels);

  [[nodiscard]] KeptId reserve(const std::string& name, std::size_t bytes) override;
  void keep(KeptId to, const ContentParts& content) override;
  void keep(KeptId to, BufferId from) override;
  void put_back(BufferId to, KeptId from) override;
  void put_back_late(BufferId to, KeptId from) override;
  [[nodiscard]] std::vector<std::byte> first_bytes(KeptId id, std::size_t most) override;
  void seal(KeptId id) override;

  [[nodiscard]] const Kept& at(KeptId kept) const { return kept_.at(kept); }
  /// Queues a kernel that writes the fingerprint of the copy `kept` to a slot (check_slots.hpp).
  void enqueue_fingerprint(const Kept& kept, BufferId slots, std::uint32_t slot) const;

 private:
  [[nodiscard]] static std::vector<KernelArgument> mask_arguments(BufferId to, BufferId from,
                                                                  const Kept& kept);
  /// Copies the bytes of `from` to `to`, and masks or unmasks them with the key of `kept`.
  void mask(BufferId to, BufferId from, const Kept& kept) const;
  [[nodiscard]] std::uint64_t new_key();

  DeviceMemory& memory_;
  Measuring& measuring_;
  CheckKernel fingerprint_;
  CheckKernel mask_;
  CheckKernel mask_late_;
  BufferId slot_;  ///< slot for one result
  std::random_device random_;
  std::vector<Kept> kept_;
};

}  // namespace evo
