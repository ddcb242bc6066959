#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace evo::ptx {

/// Collects what the CTAs of a launch print, from all host threads.
class PrintLog {
 public:
  /// What is kept of a launch: the size of CUDA's own buffer, unless a program changes it.
  static constexpr std::size_t kMostBytes = 1 << 20;

  /// Thread-safe. Appends to what CTA number `cta` printed; what does not fit is counted only.
  void add(std::uint64_t cta, const std::string& text);

  /// All of it, CTA after CTA in the order of their numbers, and a line about what was dropped.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> texts_;
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace evo::ptx
