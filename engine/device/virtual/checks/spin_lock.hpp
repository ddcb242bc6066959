#pragma once

#include <atomic>
#include <thread>

namespace evo::ptx {

/// For moments: what is done under it takes less time than going to sleep.
class SpinLock {
 public:
  void lock() {
    for (int tries = 0; taken_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries % kTries == kTries - 1) std::this_thread::yield();
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  static constexpr int kTries = 64;  ///< before somebody else, perhaps its owner, may run
  std::atomic_flag taken_;
};

}  // namespace evo::ptx
