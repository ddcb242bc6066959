#include "engine/gate/correctness/masked_contents.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "engine/core/error.hpp"

namespace evo {

CheckKernel::CheckKernel(Device& device, const KernelImage& kernels, const std::string& entry)
    : measuring_(measuring(device)) {
  const auto loaded = device.load({kernels.ptx, kernels.cubin, {entry}});
  if (const auto* fault = std::get_if<Fault>(&loaded)) {
    throw CudaError("the check kernel " + entry + " cannot be loaded: " + fault->reason);
  }
  id_ = std::get<KernelId>(loaded);
}

void CheckKernel::enqueue(std::uint32_t ctas, const std::vector<KernelArgument>& arguments) const {
  const LaunchConfig config{{ctas, 1, 1}, {kThreads, 1, 1}, 0};
  if (const auto fault = measuring_.enqueue(id_, config, arguments)) {
    throw CudaError("a check kernel failed: " + fault->reason);
  }
}

std::uint32_t CheckKernel::ctas_for(std::uint64_t pieces) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pieces, 1, kMostCtas));
}

std::uint32_t CheckKernel::ctas_for_bytes(std::size_t bytes) {
  constexpr std::uint64_t kBytesPerCta = std::uint64_t{kThreads} * 8 * sizeof(std::uint64_t);
  return ctas_for((bytes + kBytesPerCta - 1) / kBytesPerCta);
}

MaskedContents::MaskedContents(Device& device, const KernelImage& kernels)
    : memory_(device.memory()),
      measuring_(measuring(device)),
      fingerprint_(device, kernels, "evo_fingerprint"),
      mask_(device, kernels, "evo_mask"),
      mask_late_(device, kernels, "evo_mask_late"),
      slot_(memory_.allocate({"a single result", kSlotBytes, true})) {}

KeptId MaskedContents::reserve(const std::string& name, std::size_t bytes) {
  kept_.push_back({name, memory_.allocate({"kept: " + name, bytes, true}), bytes, new_key()});
  return static_cast<KeptId>(kept_.size() - 1);
}

void MaskedContents::keep(KeptId to, const ContentParts& content) {
  const Kept& kept = kept_.at(to);
  std::size_t done = 0;
  content([&](std::span<const std::byte> part) {
    if (!part.empty()) memory_.upload(kept.buffer, part, done);
    done += part.size();
  });
  mask(kept.buffer, kept.buffer, kept);
}

void MaskedContents::keep(KeptId to, BufferId from) {
  mask(kept_.at(to).buffer, from, kept_.at(to));
}

void MaskedContents::put_back(BufferId to, KeptId from) {
  mask(to, kept_.at(from).buffer, kept_.at(from));
}

void MaskedContents::put_back_late(BufferId to, KeptId from) {
  // Uses few CTAs, so that the next kernel can run on the GPU at the same time.
  constexpr std::uint32_t kCtas = 16;
  const Kept& kept = kept_.at(from);
  if (kept.bytes == 0) return;
  mask_late_.enqueue(std::min(CheckKernel::ctas_for_bytes(kept.bytes), kCtas),
                     mask_arguments(to, kept.buffer, kept));
}

std::vector<std::byte> MaskedContents::first_bytes(KeptId id, std::size_t most) {
  const Kept& kept = kept_.at(id);
  std::vector<std::byte> bytes(std::min(kept.bytes, most));
  if (bytes.empty()) return bytes;
  mask(kept.buffer, kept.buffer, kept);
  memory_.download(kept.buffer, bytes);
  mask(kept.buffer, kept.buffer, kept);
  return bytes;
}

void MaskedContents::seal(KeptId id) {
  memory_.fill(slot_, kEmptySlot);
  enqueue_fingerprint(kept_.at(id), slot_, 0);
  if (const auto fault = measuring_.finish()) {
    throw CudaError("a check kernel failed: " + fault->reason);
  }
  std::array<std::uint64_t, kSlotWords> words{};
  memory_.download(slot_, std::as_writable_bytes(std::span(words)));
  kept_.at(id).seal = fingerprint_in(words);
}

void MaskedContents::enqueue_fingerprint(const Kept& kept, BufferId slots,
                                         std::uint32_t slot) const {
  fingerprint_.enqueue(CheckKernel::ctas_for_bytes(kept.bytes),
                       {kept.buffer, ScalarArgument::of(std::uint64_t{kept.bytes}), slots,
                        ScalarArgument::of(slot)});
}

void MaskedContents::mask(BufferId to, BufferId from, const Kept& kept) const {
  if (kept.bytes == 0) return;
  mask_.enqueue(CheckKernel::ctas_for_bytes(kept.bytes), mask_arguments(to, from, kept));
}

std::vector<KernelArgument> MaskedContents::mask_arguments(BufferId to, BufferId from,
                                                           const Kept& kept) {
  return {to, from, ScalarArgument::of(kept.key), ScalarArgument::of(std::uint64_t{kept.bytes})};
}

std::uint64_t MaskedContents::new_key() {
  return std::uint64_t{random_()} << 32 | std::uint64_t{random_()};
}

}  // namespace evo
