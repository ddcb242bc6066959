#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace evo {

/// Calls work(next) on `threads` threads, one of which is the caller's thread. Each call of next()
/// returns another index below `count`, and nullopt after the last. If a call of `work` throws, the
/// other threads get no further index, and the exception is thrown again.
template <typename Work>
void in_parallel(std::size_t threads, std::size_t count, const Work& work) {
  std::atomic<std::size_t> taken{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto next = [&] {
    const std::size_t index = taken++;
    return index < count ? std::optional(index) : std::nullopt;
  };
  const auto guarded = [&] {
    try {
      work(next);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      taken = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(guarded);
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace evo
