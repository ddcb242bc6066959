#pragma once

#include <poll.h>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "engine/worker/interrupted.hpp"

namespace evo {

/// A coroutine that returns a T. It begins to run when it is awaited.
template <typename T = void>
using Task = asio::awaitable<T>;

/// The clock, and the single thread that runs all coroutines of a run.
///
/// Coroutines wait only in wait() and in Event::wait(). When a run is to stop, or when a spawned
/// coroutine fails, all these waits throw, so that every coroutine unwinds and frees its objects.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  [[nodiscard]] virtual SteadyTime now() const = 0;

  /// Suspends the caller until the descriptor is ready or until `until`; may resume it earlier. A
  /// negative descriptor is never ready.
  virtual Task<> wait(pollfd interest, SteadyTime until) = 0;

  /// Runs `task` concurrently. An exception of the task ends the current run().
  void spawn(Task<> task);

  /// Runs `task` to its end and returns its value; spawned tasks run meanwhile. Throws the
  /// exceptions of `task` and of spawned tasks, and Interrupted if `stop` requests it; afterwards
  /// no coroutine is left.
  template <typename T>
  [[nodiscard]] T run(Task<T> task, const Stop& stop = {}) {
    std::optional<T> value;
    run_to_end(assign(std::move(task), value), stop);
    return *std::move(value);
  }
  void run(Task<> task, const Stop& stop = {}) { run_to_end(std::move(task), stop); }

  /// Replaces the condition on which the present run() stops.
  void replace_stop(const Stop& stop) { stop_ = stop; }

  /// Ends all spawned tasks. Call it before you destroy the objects that they refer to.
  void end_all();

  /// The time in milliseconds during which no coroutine ran.
  [[nodiscard]] double waited_ms() const { return waited_ms_; }

  /// Called some ten times a second during run().
  void when_waiting(std::function<void()> watch) { watch_ = std::move(watch); }

 protected:
  /// Runs one handler that is ready. Waits for one until `until`.
  virtual void run_one(SteadyTime until) = 0;

  /// Suspends the caller until the timer expires or is cancelled.
  Task<> suspend(asio::steady_timer& timer);

  /// Between these two calls all coroutines wait. Resuming a coroutine ends the waiting as well.
  void begin_waiting() { waits_since_ = now(); }
  void end_waiting();

  asio::io_context context_;

 private:
  friend class Event;

  template <typename T>
  static Task<> assign(Task<T> task, std::optional<T>& value) {
    value.emplace(co_await std::move(task));
  }

  void run_to_end(Task<> task, const Stop& stop);
  void begin(Task<> task, std::function<void(std::exception_ptr)> at_end);
  void look_at_stop();
  void end_all_with(std::exception_ptr why);
  void require_going();

  std::set<asio::steady_timer*> waiting_;
  std::size_t alive_ = 0;  ///< coroutines that have begun and not ended
  Stop stop_;
  std::exception_ptr why_;  ///< the reason why all coroutines end; null: they continue
  std::function<void()> watch_;
  SteadyTime watched_;
  std::optional<SteadyTime> waits_since_;
  double waited_ms_ = 0;
};

/// The event loop on the machine's clock.
class SystemLoop final : public EventLoop {
 public:
  ~SystemLoop() override { end_all(); }
  [[nodiscard]] SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  Task<> wait(pollfd interest, SteadyTime until) override;

 private:
  void run_one(SteadyTime until) override;
};

/// An event that coroutines wait for.
class Event {
 public:
  /// `loop` must outlive the event.
  explicit Event(EventLoop& loop) : loop_(loop) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Suspends the caller until the next notify().
  Task<> wait();
  /// Resumes all waiting coroutines, in their order of arrival, when the caller suspends next.
  void notify();

 private:
  EventLoop& loop_;
  std::vector<asio::steady_timer*> waiting_;
};

/// The time from `start` to `end`.
[[nodiscard]] inline double milliseconds_between(SteadyTime start, SteadyTime end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace evo
