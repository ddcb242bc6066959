#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/gate/correctness/buffer_work.hpp"

namespace evo {
namespace {

constexpr std::size_t kPart = 1 << 17;  ///< bytes compared at once; they fit in a CPU's L2 cache

class HostContents final : public KeptContents {
 public:
  explicit HostContents(DeviceMemory& memory) : memory_(memory) {}

  [[nodiscard]] KeptId reserve(const std::string&, std::size_t bytes) override {
    kept_.push_back({bytes, {}, std::nullopt});
    return static_cast<KeptId>(kept_.size() - 1);
  }
  void keep(KeptId to, const ContentParts& content) override {
    Kept& kept = kept_.at(to);
    kept.numbers.reset();
    kept.bytes.clear();
    kept.bytes.reserve(kept.size);
    content([&](std::span<const std::byte> part) {
      kept.bytes.insert(kept.bytes.end(), part.begin(), part.end());
    });
  }
  void keep(KeptId to, BufferId from) override {
    Kept& kept = kept_.at(to);
    kept.bytes.resize(kept.size);
    kept.numbers.reset();
    memory_.download(from, kept.bytes);
  }
  void put_back(BufferId to, KeptId from) override { memory_.upload(to, bytes(from)); }
  [[nodiscard]] std::vector<std::byte> first_bytes(KeptId kept, std::size_t most) override {
    const std::vector<std::byte>& all = bytes(kept);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most))};
  }
  void seal(KeptId) override {}  // not needed, because kernels cannot access host memory

  [[nodiscard]] const std::vector<std::byte>& bytes(KeptId kept) const {
    return kept_.at(kept).bytes;
  }
  /// The elements of an argument's copy as numbers, which are decoded at the copy's first
  /// comparison.
  [[nodiscard]] const Expectation& numbers(KeptId id, Dtype dtype) {
    Kept& kept = kept_.at(id);
    if (!kept.numbers) kept.numbers.emplace(dtype, kept.bytes);
    return *kept.numbers;
  }

 private:
  struct Kept {
    std::size_t size = 0;
    std::vector<std::byte> bytes;  ///< empty until keep()
    std::optional<Expectation> numbers;
  };

  DeviceMemory& memory_;
  std::vector<Kept> kept_;
};

class HostWork final : public BufferWork {
 public:
  explicit HostWork(Device& device) : device_(device), memory_(device.memory()), kept_(memory_) {}

  [[nodiscard]] Device& device() override { return device_; }

  [[nodiscard]] KeptContents& kept() override { return kept_; }

  [[nodiscard]] std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                            std::span<const KernelArgument> arguments) override {
    return device_.launch(kernel, plan, arguments);
  }

  void begin() override { found_.clear(); }
  [[nodiscard]] Look compare(BufferId output, KeptId expected, Dtype dtype, double bad_abs_error,
                             std::size_t row_length) override {
    const Expectation& numbers = kept_.numbers(expected, dtype);
    return note(evo::compare(downloaded(output, numbers.bytes().size()), numbers, bad_abs_error,
                             row_length));
  }
  [[nodiscard]] Look first_difference(BufferId buffer, KeptId kept) override {
    const std::span<const std::byte> right = kept_.bytes(kept);
    std::array<std::byte, kPart> room;
    for (std::size_t at = 0; at < right.size(); at += kPart) {
      const auto expected = right.subspan(at, std::min(kPart, right.size() - at));
      const std::span<std::byte> now = std::span(room).first(expected.size());
      memory_.download(buffer, now, at);
      // std::mismatch() is much slower than std::memcmp().
      if (std::memcmp(now.data(), expected.data(), now.size()) == 0) continue;
      const auto differs = std::mismatch(now.begin(), now.end(), expected.begin()).first;
      return note(std::optional(at + static_cast<std::size_t>(differs - now.begin())));
    }
    return note(std::optional<std::size_t>());
  }
  [[nodiscard]] Look guard_zones(BufferId buffer) override {
    return note(memory_.guard_violation(buffer));
  }
  void mark() override {}
  [[nodiscard]] std::optional<Fault> finish() override {
    Measuring* measuring = device_.measuring();
    return measuring != nullptr ? measuring->finish() : std::nullopt;
  }

  [[nodiscard]] bool is_known(Look) const override { return true; }
  [[nodiscard]] Comparison comparison(Look look) const override {
    return std::get<Comparison>(found_.at(look));
  }
  [[nodiscard]] std::optional<std::size_t> difference(Look look) const override {
    return std::get<std::optional<std::size_t>>(found_.at(look));
  }
  [[nodiscard]] std::optional<std::string> guard_violation(Look look) const override {
    return std::get<std::optional<std::string>>(found_.at(look));
  }

 private:
  using Found = std::variant<Comparison, std::optional<std::size_t>, std::optional<std::string>>;

  [[nodiscard]] std::vector<std::byte> downloaded(BufferId buffer, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    memory_.download(buffer, data);
    return data;
  }
  Look note(Found found) {
    found_.push_back(std::move(found));
    return found_.size() - 1;
  }

  Device& device_;
  DeviceMemory& memory_;
  HostContents kept_;
  std::vector<Found> found_;
};

}  // namespace

std::unique_ptr<BufferWork> make_host_work(Device& device) {
  return std::make_unique<HostWork>(device);
}

}  // namespace evo
