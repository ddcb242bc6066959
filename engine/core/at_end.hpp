#pragma once

#include <functional>
#include <utility>

namespace evo {

/// Runs `action` when the scope ends, whether it ends normally or by an exception.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> action_;
};

}  // namespace evo
