#include "engine/intake/extent_fit.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace evo {
namespace {

/// further names are ignored, because they would have too many products
constexpr std::size_t kMostNames = 8;
constexpr std::size_t kMostWithSquares = 2;
constexpr std::int64_t kMostAdded = 64;
constexpr std::int64_t kMostFactor = 4096;

using Counts = std::vector<std::int64_t>;

/// A product of sizes of the problem, such as N*C, with its value for each ExtentSample, that is,
/// for each set of sizes with which the kernel ran.
struct Product {
  std::vector<std::string> names;
  Counts values;              ///< for each sample
  std::vector<Counts> sizes;  ///< for each name, for each sample

  [[nodiscard]] std::string text() const {
    std::string joined;
    for (const std::string& name : names) joined += (joined.empty() ? "" : "*") + name;
    return joined;
  }
};

class Fit {
 public:
  Fit(const std::vector<std::string>& names, const std::vector<ExtentSample>& samples)
      : names_(names), samples_(samples) {
    names_.resize(std::min(names.size(), kMostNames));
    for (const ExtentSample& sample : samples_) {
      counts_.push_back(static_cast<std::int64_t>(sample.count));
    }
    for (unsigned set = 1; set < 1U << names_.size(); ++set) products_.push_back(product(set));
    std::stable_sort(products_.begin(), products_.end(), [](const Product& a, const Product& b) {
      return a.names.size() < b.names.size();
    });
    for (std::size_t i = 0, count = products_.size(); i < count; ++i) {
      for (std::size_t name = 0; name < products_[i].names.size(); ++name) {
        if (products_[i].names.size() <= kMostWithSquares) products_.push_back(squared(i, name));
      }
    }
  }

  ExtentFit run() {
    if (counts_.empty() || counts_.front() == 0) return {};
    const bool has_others = counts_.size() > 1;
    if (has_others &&
        std::ranges::all_of(counts_, [&](auto count) { return count == counts_.front(); })) {
      return {std::to_string(counts_.front())};
    }
    using Form = std::optional<std::string> (Fit::*)(const Product&) const;
    for (const Form form : {&Fit::plain, &Fit::with_something_added, &Fit::times_a_factor,
                            &Fit::divided, &Fit::divided_by_a_size, &Fit::with_a_border}) {
      for (const Product& product : products_) {
        if (const auto text = (this->*form)(product)) return {*text};
      }
    }
    for (const Product& product : products_) {
      if (is_covered_by(product)) return {product.text(), false};
    }
    return {};
  }

 private:
  [[nodiscard]] Product product(unsigned set) const {
    Product product;
    product.values.assign(samples_.size(), 1);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      product.names.push_back(names_[i]);
      Counts& sizes = product.sizes.emplace_back();
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        sizes.push_back(static_cast<std::int64_t>(samples_[s].sizes.at(names_[i])));
        product.values[s] *= sizes.back();
      }
    }
    return product;
  }

  /// The product products_[index] times its size number `name`, so that this size is squared, as
  /// for a square matrix.
  [[nodiscard]] Product squared(std::size_t index, std::size_t name) const {
    Product product = products_[index];
    product.names.push_back(product.names[name]);
    product.sizes.push_back(product.sizes[name]);
    for (std::size_t s = 0; s < samples_.size(); ++s) product.values[s] *= product.sizes[name][s];
    return product;
  }

  /// True if `value_of(s)` equals the observed count of every sample s.
  [[nodiscard]] bool fits(const std::function<std::int64_t(std::size_t)>& value_of) const {
    for (std::size_t s = 0; s < counts_.size(); ++s) {
      if (value_of(s) != counts_[s]) return false;
    }
    return true;
  }

  /// True if the samples have different counts and at least one count is 8 or more. Counts
  /// such as 1, 1 and 2 equal quotients of almost any sizes by coincidence, so an expression that
  /// fits them proves nothing.
  [[nodiscard]] bool has_large_counts() const {
    Counts sorted = counts_;
    std::ranges::sort(sorted);
    const auto last = std::unique(sorted.begin(), sorted.end());
    return last - sorted.begin() > 1 && *(last - 1) >= 8;
  }

  [[nodiscard]] std::optional<std::string> plain(const Product& product) const {
    if (product.values != counts_) return std::nullopt;
    return product.text();
  }

  [[nodiscard]] std::optional<std::string> with_something_added(const Product& product) const {
    const std::int64_t added = counts_[0] - product.values[0];
    if (added < 1 || added > kMostAdded) return std::nullopt;
    if (!fits([&](std::size_t s) { return product.values[s] + added; })) return std::nullopt;
    return product.text() + " + " + std::to_string(added);
  }

  [[nodiscard]] std::optional<std::string> times_a_factor(const Product& product) const {
    const std::int64_t factor = counts_[0] / product.values[0];
    if (factor < 2 || factor > kMostFactor) return std::nullopt;
    if (!fits([&](std::size_t s) { return product.values[s] * factor; })) return std::nullopt;
    return std::to_string(factor) + "*" + product.text();
  }

  [[nodiscard]] std::optional<std::string> divided(const Product& product) const {
    if (!has_large_counts()) return std::nullopt;
    for (const std::int64_t by : {2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
      const std::string divisor = ", " + std::to_string(by) + ")";
      if (fits([&](std::size_t s) { return product.values[s] / by; })) {
        return "floor_div(" + product.text() + divisor;
      }
      if (fits([&](std::size_t s) { return (product.values[s] + by - 1) / by; })) {
        return "ceil_div(" + product.text() + divisor;
      }
      const bool is_rounded = product.names.size() == 1 || has_remainders(product, by);
      if (by <= 8 && is_rounded &&
          fits([&](std::size_t s) { return product.values[s] / by * by; })) {
        return std::to_string(by) + "*floor_div(" + product.text() + divisor;
      }
    }
    return std::nullopt;
  }

  /// True if the products of the samples have different remainders. If all are the same, a kernel
  /// that leaves out as many elements at the end has the same counts.
  [[nodiscard]] static bool has_remainders(const Product& product, std::int64_t by) {
    return std::ranges::any_of(product.values, [&](std::int64_t value) {
      return value % by != product.values.front() % by;
    });
  }

  [[nodiscard]] std::optional<std::string> divided_by_a_size(const Product& product) const {
    if (!has_large_counts()) return std::nullopt;
    for (const std::string& name : names_) {
      if (std::ranges::find(product.names, name) != product.names.end()) continue;
      const auto size = [&](std::size_t s) {
        return static_cast<std::int64_t>(samples_[s].sizes.at(name));
      };
      const std::string operands = product.text() + ", " + name + ")";
      if (fits([&](std::size_t s) { return (product.values[s] + size(s) - 1) / size(s); })) {
        return "ceil_div(" + operands;
      }
      if (fits([&](std::size_t s) { return product.values[s] / size(s); })) {
        return "floor_div(" + operands;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> with_a_border(const Product& product) const {
    if (product.names.size() < 2) return std::nullopt;
    for (std::int64_t border = 1; border <= kMostAdded; ++border) {
      const auto value = [&](std::size_t s) {
        std::int64_t all = 1;
        for (const Counts& sizes : product.sizes) all *= sizes[s] + border;
        return all;
      };
      if (!fits(value)) continue;
      std::string text;
      for (const std::string& name : product.names) {
        text += (text.empty() ? "(" : "*(") + name + " + " + std::to_string(border) + ")";
      }
      return text;
    }
    return std::nullopt;
  }

  /// True if, in every sample, the product is at least the count, and exceeds the count by at most
  /// two rows plus 16 elements, and by at most a quarter of the product. A row is the product
  /// divided by its smallest size.
  [[nodiscard]] bool is_covered_by(const Product& product) const {
    for (std::size_t s = 0; s < counts_.size(); ++s) {
      std::int64_t row = 1;
      if (product.names.size() > 1) {
        for (const Counts& sizes : product.sizes) row = std::max(row, product.values[s] / sizes[s]);
      }
      const std::int64_t beyond = product.values[s] - counts_[s];
      if (beyond < 0 || beyond > 2 * row + 16 || 4 * beyond > product.values[s]) return false;
    }
    return true;
  }

  std::vector<std::string> names_;
  const std::vector<ExtentSample>& samples_;
  Counts counts_;
  std::vector<Product> products_;
};

}  // namespace

ExtentFit fitted_extent(const std::vector<std::string>& names,
                        const std::vector<ExtentSample>& samples) {
  return Fit(names, samples).run();
}

}  // namespace evo
