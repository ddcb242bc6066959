#include <algorithm>
#include <map>
#include <variant>

#include "engine/gate/correctness/buffer_work.hpp"

namespace evo {
namespace {

class HostContents final : public KeptContents {
 public:
  explicit HostContents(DeviceMemory& memory) : memory_(memory) {}

  [[nodiscard]] KeptId reserve(const std::string&, std::size_t bytes) override {
    kept_.push_back({std::vector<std::byte>(bytes), std::nullopt});
    return static_cast<KeptId>(kept_.size() - 1);
  }
  void keep(KeptId to, std::span<const std::byte> content) override {
    kept_.at(to) = {{content.begin(), content.end()}, std::nullopt};
  }
  void keep(KeptId to, BufferId from) override {
    kept_.at(to).numbers.reset();
    memory_.download(from, kept_.at(to).bytes);
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
    std::vector<std::byte> bytes;
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
    const std::vector<std::byte>& right = kept_.bytes(kept);
    const std::vector<std::byte> now = downloaded(buffer, right.size());
    const auto differs = std::mismatch(now.begin(), now.end(), right.begin()).first;
    std::optional<std::size_t> first;
    if (differs != now.end()) first = static_cast<std::size_t>(differs - now.begin());
    return note(first);
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
  [[nodiscard]] std::optional<std::string> guard_damage(Look look) const override {
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
