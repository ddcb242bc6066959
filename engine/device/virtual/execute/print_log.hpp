#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace evo::ptx {

/// Collects, from all host threads, the text that the CTAs of a launch print.
class PrintLog {
 public:
  /// Limit in bytes of the text that a launch prints: the default size of CUDA's printf buffer.
  static constexpr std::size_t kMostBytes = 1 << 20;

  /// Appends to the text of CTA number `cta`; thread-safe. Text beyond the limit of a launch is
  /// dropped, and its bytes are counted.
  void add(std::uint64_t cta, const std::string& text);

  /// The text of all CTAs in the order of their numbers; if text was dropped, a last line says so.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> texts_;
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace evo::ptx
