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

/// A coroutine that returns a T and begins to run when it is awaited.
template <typename T = void>
using Task = asio::awaitable<T>;

/// A clock, and a loop that executes all coroutines on the thread that calls run().
///
/// Coroutines wait only in wait() and in Event::wait(). When a run must stop, or when a spawned
/// coroutine fails, all waits throw, so that every coroutine unwinds and frees its objects.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  [[nodiscard]] virtual SteadyTime now() const = 0;

  /// Suspends the caller until the descriptor is ready or the time is `until`; may resume the
  /// caller earlier. A negative descriptor is never ready.
  virtual Task<> wait(pollfd interest, SteadyTime until) = 0;

  /// Runs `task` concurrently. If the task throws, the current run() ends and rethrows the
  /// exception.
  void spawn(Task<> task);

  /// Runs `task` to its end and returns its value; spawned tasks run meanwhile. Rethrows exceptions
  /// of `task` and of spawned tasks, and throws Interrupted if a condition of stop() holds. All
  /// coroutines have ended when run() throws.
  template <typename T>
  [[nodiscard]] T run(Task<T> task) {
    std::optional<T> value;
    run(assign(std::move(task), value));
    return *std::move(value);
  }
  void run(Task<> task);

  /// Sets the conditions on which the present run() and every later run() stop.
  void stop_when(const Stop& stop) { stop_ = stop; }
  [[nodiscard]] const Stop& stop() const { return stop_; }

  /// Ends all spawned tasks. Call end_all() before you destroy objects that spawned tasks use.
  void end_all();

  /// The total time in milliseconds during which no coroutine ran.
  [[nodiscard]] double waited_ms() const { return waited_ms_; }

  /// Sets a function that run() calls about ten times a second, for example to show progress.
  void when_waiting(std::function<void()> watch) { watch_ = std::move(watch); }

 protected:
  /// Runs one handler. If no handler is ready, waits until one is ready or the time is `until`.
  virtual void run_one(SteadyTime until) = 0;

  /// Suspends the caller until `timer` expires or is cancelled.
  Task<> suspend(asio::steady_timer& timer);

  /// For waited_ms(): begin_waiting() starts a wait of all coroutines, and end_waiting() or the
  /// next resumed coroutine ends it.
  void begin_waiting() { waits_since_ = now(); }
  void end_waiting();

  asio::io_context context_;

 private:
  friend class Event;

  template <typename T>
  static Task<> assign(Task<T> task, std::optional<T>& value) {
    value.emplace(co_await std::move(task));
  }

  void begin(Task<> task, std::function<void(std::exception_ptr)> at_end);
  void look_at_stop();
  void end_all_with(std::exception_ptr why);
  void require_going();

  std::set<asio::steady_timer*> waiting_;
  std::size_t alive_ = 0;  ///< number of coroutines that have begun and not ended
  Stop stop_;
  std::exception_ptr why_;  ///< thrown by all waits; null: coroutines continue
  std::function<void()> watch_;
  SteadyTime watched_;
  std::optional<SteadyTime> waits_since_;
  double waited_ms_ = 0;
};

/// The event loop that uses the machine's steady clock.
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

  /// Suspends the caller until the next call of notify().
  Task<> wait();
  /// Resumes all coroutines that wait for this event, in the order of their wait() calls. The
  /// coroutines run as soon as the caller of notify() suspends.
  void notify();

 private:
  EventLoop& loop_;
  std::vector<asio::steady_timer*> waiting_;
};

/// The time from `start` to `end` in milliseconds.
[[nodiscard]] inline double milliseconds_between(SteadyTime start, SteadyTime end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace evo
