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

/// One of the kernels of check_kernels.cu, loaded.
class CheckKernel {
 public:
  static constexpr std::uint32_t kThreads = 256;
  /// Enough to fill any card, few enough to be added up by one CTA.
  static constexpr std::uint64_t kMostCtas = 1024;

  /// `device` must outlive it. Throws CudaError when it does not take the kernel or does not
  /// measure.
  CheckKernel(Device& device, const KernelImage& kernels, const std::string& entry);

  void enqueue(std::uint32_t ctas, const std::vector<KernelArgument>& arguments) const;

  /// CTAs for so many pieces of work, and for so many bytes.
  [[nodiscard]] static std::uint32_t ctas_for(std::uint64_t pieces);
  [[nodiscard]] static std::uint32_t ctas_for_bytes(std::size_t bytes);

 private:
  Measuring& measuring_;
  KernelId id_ = 0;
};

/// Contents in the device's memory, where kernels may reach: masked by evo_mask, so that none finds
/// what it is compared with, and sealed by a fingerprint.
class MaskedContents final : public KeptContents {
 public:
  struct Kept {
    std::string name;
    BufferId buffer = 0;
    std::size_t bytes = 0;
    std::uint64_t key = 0;  ///< of the mask
    std::optional<std::uint64_t> seal = {};
  };

  /// `device` must outlive it.
  MaskedContents(Device& device, const KernelImage& kernels);

  [[nodiscard]] KeptId reserve(const std::string& name, std::size_t bytes) override;
  void keep(KeptId to, std::span<const std::byte> content) override;
  void keep(KeptId to, BufferId from) override;
  void put_back(BufferId to, KeptId from) override;
  [[nodiscard]] std::vector<std::byte> content(KeptId id) override;
  void seal(KeptId id) override;

  [[nodiscard]] const Kept& at(KeptId kept) const { return kept_.at(kept); }
  /// Its fingerprint to a slot, when the queue comes to this.
  void enqueue_fingerprint(const Kept& kept, BufferId slots, std::uint32_t slot) const;

 private:
  /// Copies what is kept, or what is to be kept, and masks or unmasks it.
  void mask(BufferId to, BufferId from, const Kept& kept) const;
  [[nodiscard]] std::uint64_t new_key();

  DeviceMemory& memory_;
  Measuring& measuring_;
  CheckKernel fingerprint_;
  CheckKernel mask_;
  BufferId slot_;  ///< for one result
  std::random_device random_;
  std::vector<Kept> kept_;
};

}  // namespace evo
