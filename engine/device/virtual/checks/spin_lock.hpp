#pragma once

#include <atomic>
#include <thread>

namespace evo::ptx {

/// A spin lock for operations that take less time than it takes to suspend a host thread.
class SpinLock {
 public:
  void lock() {
    for (int tries = 0; taken_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries % kTries == kTries - 1) std::this_thread::yield();
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  static constexpr int kTries = 64;  ///< attempts before the thread yields
  std::atomic_flag taken_;
};

}  // namespace evo::ptx
