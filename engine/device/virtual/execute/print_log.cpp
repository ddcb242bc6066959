#include "engine/device/virtual/execute/print_log.hpp"

#include <algorithm>

namespace evo::ptx {

void PrintLog::add(std::uint64_t cta, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::size_t kept = std::min(text.size(), kMostBytes - bytes_);
  dropped_ += text.size() - kept;
  bytes_ += kept;
  if (kept > 0) texts_[cta].append(text, 0, kept);
}

std::string PrintLog::text() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  all.reserve(bytes_);
  for (const auto& [cta, text] : texts_) all += text;
  if (dropped_ > 0) {
    all += "\n[printf: " + std::to_string(dropped_) + " more bytes dropped, the limit is " +
           std::to_string(kMostBytes) + "]\n";
  }
  return all;
}

}  // namespace evo::ptx
