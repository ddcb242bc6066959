#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace evo::ptx {

/// Collects the printed text of a launch's CTAs from all host threads.
class PrintLog {
 public:
  /// Limit of the text of a launch: the default size of CUDA's own buffer.
  static constexpr std::size_t kMostBytes = 1 << 20;

  /// Thread-safe. Appends to the text of CTA number `cta`; text beyond the limit is only counted.
  void add(std::uint64_t cta, const std::string& text);

  /// The whole text in the order of the CTAs' numbers, with a line about dropped text.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> texts_;
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace evo::ptx
