#include <algorithm>
#include <array>
#include <cstring>
#include <variant>

#include "engine/core/error.hpp"
#include "engine/device/guard.hpp"
#include "engine/gate/correctness/buffer_work.hpp"
#include "engine/gate/correctness/check_slots.hpp"
#include "engine/gate/correctness/masked_contents.hpp"

namespace evo {
namespace {

constexpr std::size_t kSlots = 4096;
constexpr std::uint32_t kWarps = CheckKernel::kThreads / 32;
/// Number of elements in a segment, which one warp compares; longer rows are split into segments.
constexpr std::uint64_t kSegment = 4096;
// Sizes of the structures Figures and Row in check_numbers.cu, in bytes.
constexpr std::size_t kFiguresBytes = 104;
constexpr std::size_t kRowBytes = 48;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

template <typename T>
KernelArgument scalar(T value) {
  return ScalarArgument::of(value);
}

/// Packs a description of a data type for the check kernels; Format in check_numbers.cu unpacks it.
std::uint32_t format_word(Dtype dtype) {
  const DtypeRow& row = row_of(dtype);
  return static_cast<std::uint32_t>(row.bytes) | static_cast<std::uint32_t>(row.kind) << 4 |
         static_cast<std::uint32_t>(row.has_infinity()) << 6 |
         static_cast<std::uint32_t>(row.exponent_bits) << 8 |
         static_cast<std::uint32_t>(row.mantissa_bits) << 16;
}

/// The division of an output into segments, each of which one warp compares.
struct Cut {
  std::uint64_t row_length = 0;  ///< number of all elements if there are no rows
  std::uint64_t rows = 1;
  std::uint64_t segment_length = 0;
  std::uint64_t segments_per_row = 1;

  Cut(std::uint64_t elements, std::uint64_t length)
      : row_length(length > 0 ? length : elements),
        rows(elements / row_length),
        segment_length(std::min(row_length, kSegment)),
        segments_per_row(ceil_div(row_length, segment_length)) {}

  [[nodiscard]] std::uint64_t segments() const { return rows * segments_per_row; }
};

class DeviceWork final : public BufferWork {
 public:
  DeviceWork(Device& device, const KernelImage& kernels)
      : device_(device),
        memory_(device.memory()),
        measuring_(measuring(device)),
        kept_(device, kernels),
        elements_(device, kernels, "evo_compare_elements"),
        rows_(device, kernels, "evo_compare_rows"),
        finish_(device, kernels, "evo_compare_finish"),
        difference_(device, kernels, "evo_first_difference"),
        guard_(device, kernels, "evo_guard_zones"),
        slots_(memory_.allocate({"results of checks", kSlots * kSlotBytes, true})),
        parts_(memory_.allocate(
            {"parts of figures", 2 * CheckKernel::kMostCtas * kFiguresBytes, true})),
        arrived_(measuring_.host_memory(kSlots * kSlotBytes)) {
    std::memset(arrived_.get(), 0, kSlots * kSlotBytes);
    memory_.fill(slots_, kEmptySlot);
  }

  [[nodiscard]] Device& device() override { return device_; }

  [[nodiscard]] KeptContents& kept() override { return kept_; }

  [[nodiscard]] std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                            std::span<const KernelArgument> arguments) override {
    return measuring_.enqueue(kernel, plan, arguments);
  }

  void begin() override {
    std::memset(arrived_.get(), 0, used_ * kSlotBytes);
    if (used_ > 0) memory_.fill(slots_, kEmptySlot);
    used_ = 0;
    marked_ = 0;
    asked_.clear();
  }

  [[nodiscard]] Look compare(BufferId output, KeptId expected, Dtype dtype, double bad_abs_error,
                             std::size_t row_length) override {
    const MaskedContents::Kept& kept = kept_.at(expected);
    const std::size_t elements = kept.bytes / size_of(dtype);
    if (row_length > 0 && elements % row_length != 0) {
      throw InputError("compare: " + std::to_string(elements) +
                       " elements cannot be split into rows of " + std::to_string(row_length));
    }
    Asked asked{.dtype = dtype, .elements = elements};
    if (elements == 0) return note(asked);
    if (kept.seal) {
      asked.seal = seal_of(kept, take_slot());
      kept_.enqueue_fingerprint(kept, slots_, asked.seal->slot);
    }
    asked.slot = take_slot();
    const Cut cut(elements, row_length);
    const bool has_rows = row_length > 0;
    const bool has_long_rows = has_rows && cut.segments_per_row > 1;
    const std::uint32_t ctas = CheckKernel::ctas_for(ceil_div(cut.segments(), kWarps));
    std::uint32_t parts = ctas;
    if (has_long_rows) need_segments(cut.segments());
    elements_.enqueue(
        ctas, {output, kept.buffer, scalar(kept.key), scalar(format_word(dtype)),
               scalar(bad_abs_error), scalar(has_rows ? 1 : 0), scalar(cut.row_length),
               scalar(cut.segment_length), scalar(cut.segments_per_row), scalar(cut.segments()),
               parts_, has_long_rows ? segments_ : parts_});
    if (has_long_rows) {
      const std::uint32_t row_ctas = CheckKernel::ctas_for(cut.rows);
      rows_.enqueue(row_ctas, {segments_, scalar(cut.rows), scalar(cut.segments_per_row), parts_,
                               scalar(parts)});
      parts += row_ctas;
    }
    finish_.enqueue(1, {output, kept.buffer, scalar(kept.key),
                        scalar(static_cast<std::int32_t>(size_of(dtype))), parts_, scalar(parts),
                        slots_, scalar(*asked.slot)});
    return note(asked);
  }

  [[nodiscard]] Look first_difference(BufferId buffer, KeptId kept) override {
    const MaskedContents::Kept& right = kept_.at(kept);
    if (right.bytes == 0) return note({});
    const std::uint32_t slot = take_slot();
    difference_.enqueue(CheckKernel::ctas_for_bytes(right.bytes),
                        {buffer, right.buffer, scalar(right.key),
                         scalar(std::uint64_t{right.bytes}), slots_, scalar(slot)});
    Asked asked{.slot = slot};
    if (right.seal) asked.seal = seal_of(right, slot);
    return note(asked);
  }

  [[nodiscard]] Look guard_zones(BufferId buffer) override {
    if (memory_.guard_bytes() == 0) return note({});
    const BufferSpec spec = memory_.spec(buffer);
    const auto zone = static_cast<std::int64_t>(memory_.guard_bytes());
    const std::uint32_t slot = take_slot();
    guard_.enqueue(
        1, {buffer, scalar(-zone), scalar(static_cast<std::int64_t>(spec.bytes)),
            scalar(static_cast<std::uint32_t>(zone)), scalar(guard_word()), slots_, scalar(slot)});
    return note({.slot = slot, .buffer = spec.name, .bytes = spec.bytes});
  }

  /// Copies the check results since the last call of mark() to the host, where later launches
  /// cannot overwrite them.
  void mark() override {
    if (used_ == marked_) return;
    const std::size_t start = marked_ * kSlotBytes;
    measuring_.download_later(slots_, start, {arrived_.get() + start, used_ * kSlotBytes - start});
    marked_ = used_;
  }

  [[nodiscard]] std::optional<Fault> finish() override {
    mark();
    return measuring_.finish();
  }

  [[nodiscard]] bool is_known(Look look) const override {
    const Asked& asked = asked_.at(look);
    const bool is_sealed = !asked.seal || is_done(words_of(asked.seal->slot));
    return is_sealed && (!asked.slot || is_done(words_of(*asked.slot)));
  }
  [[nodiscard]] Comparison comparison(Look look) const override {
    const Asked& asked = known(look);
    return asked.slot ? comparison_in(words_of(*asked.slot), asked.dtype, asked.elements)
                      : Comparison{};
  }
  [[nodiscard]] std::optional<std::size_t> difference(Look look) const override {
    const Asked& asked = known(look);
    return asked.slot ? difference_in(words_of(*asked.slot)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> guard_violation(Look look) const override {
    const Asked& asked = known(look);
    if (!asked.slot) return std::nullopt;
    return guard_violation_in(words_of(*asked.slot), asked.buffer, asked.bytes);
  }

 private:
  /// The recorded fingerprint of a stored content, and the result slot to which a kernel writes the
  /// present fingerprint.
  struct Seal {
    std::string name;
    std::uint32_t slot = 0;
    std::uint64_t fingerprint = 0;
  };
  /// A pending check, and the result slot to which its kernel writes. A check without a slot, for
  /// example of an empty buffer, runs no kernel and finds no difference.
  struct Asked {
    std::optional<std::uint32_t> slot = {};
    Dtype dtype = Dtype::kF32;
    std::size_t elements = 0;
    std::string buffer = {};
    std::size_t bytes = 0;
    std::optional<Seal> seal = {};
  };

  /// The pattern of guard zones, which repeats every two bytes.
  static std::uint32_t guard_word() {
    std::uint16_t word = 0;
    std::memcpy(&word, guard_pattern().data(), sizeof word);
    return word;
  }

  [[nodiscard]] std::uint32_t take_slot() {
    if (used_ == kSlots) throw CudaError("more pending checks than result slots");
    return static_cast<std::uint32_t>(used_++);
  }

  Look note(const Asked& asked) {
    asked_.push_back(asked);
    return asked_.size() - 1;
  }

  [[nodiscard]] std::array<std::uint64_t, kSlotWords> words_of(std::uint32_t slot) const {
    std::array<std::uint64_t, kSlotWords> words{};
    std::memcpy(words.data(), arrived_.get() + slot * kSlotBytes, kSlotBytes);
    return words;
  }

  [[nodiscard]] const Asked& known(Look look) const {
    if (!is_known(look)) throw CudaError("the result of a check was read before it was known");
    const Asked& asked = asked_.at(look);
    if (asked.seal && fingerprint_in(words_of(asked.seal->slot)) != asked.seal->fingerprint) {
      throw CudaError("the expected content of '" + asked.seal->name +
                      "' was overwritten in the device's memory");
    }
    return asked;
  }

  /// Allocates device memory for the statistics of `count` segments of long rows.
  void need_segments(std::uint64_t count) {
    if (count <= segments_held_) return;
    if (segments_held_ > 0) memory_.release(segments_);
    segments_held_ = 0;
    segments_ = memory_.allocate({"segments of rows", count * kRowBytes, true});
    segments_held_ = count;
  }

  static Seal seal_of(const MaskedContents::Kept& kept, std::uint32_t slot) {
    return {kept.name, slot, *kept.seal};
  }

  Device& device_;
  DeviceMemory& memory_;
  Measuring& measuring_;
  MaskedContents kept_;
  CheckKernel elements_;
  CheckKernel rows_;
  CheckKernel finish_;
  CheckKernel difference_;
  CheckKernel guard_;
  BufferId slots_;
  BufferId parts_;
  std::shared_ptr<std::byte[]> arrived_;
  BufferId segments_ = 0;
  std::uint64_t segments_held_ = 0;
  std::vector<Asked> asked_;
  std::size_t used_ = 0;
  std::size_t marked_ = 0;  ///< number of slots whose copy to the host was queued
};

}  // namespace

std::unique_ptr<BufferWork> make_device_work(Device& device, const KernelImage& kernels) {
  return std::make_unique<DeviceWork>(device, kernels);
}

}  // namespace evo
