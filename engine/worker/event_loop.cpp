#include "engine/worker/event_loop.hpp"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>

#include "engine/core/at_end.hpp"

namespace evo {
namespace {

/// The event loop reads the flag Stop::requested at this interval.
constexpr std::chrono::milliseconds kLookForStop{100};

}  // namespace

void EventLoop::begin(Task<> task, std::function<void(std::exception_ptr)> at_end) {
  ++alive_;
  asio::co_spawn(context_, std::move(task),
                 [this, done = std::move(at_end)](const std::exception_ptr& error) {
                   --alive_;
                   done(error);
                 });
}

void EventLoop::spawn(Task<> task) {
  begin(std::move(task), [this](const std::exception_ptr& error) {
    if (error) end_all_with(error);
  });
}

void EventLoop::run(Task<> task) {
  watched_ = {};  // so that the first call of watch_ is immediate
  bool is_done = false;
  std::exception_ptr error;
  begin(std::move(task), [&](const std::exception_ptr& thrown) {
    is_done = true;
    error = thrown;
    if (thrown) end_all_with(thrown);  // spawned tasks may refer to objects of `task`
  });
  while (!is_done || (why_ && alive_ > 0)) {
    look_at_stop();
    if (watch_ && now() >= watched_ + kLookForStop) {
      watched_ = now();
      watch_();
    }
    run_one(why_ ? now() : std::min(now() + kLookForStop, stop_.deadline));
  }
  why_ = nullptr;
  if (error) std::rethrow_exception(error);
}

void EventLoop::look_at_stop() {
  const bool asked = stop_.requested != nullptr && *stop_.requested;
  if (asked || now() >= stop_.deadline) {
    end_all_with(std::make_exception_ptr(Interrupted(!asked)));
  }
}

void EventLoop::end_all_with(std::exception_ptr why) {
  if (why_) return;
  why_ = std::move(why);
  for (asio::steady_timer* timer : waiting_) timer->cancel();
}

void EventLoop::end_all() {
  end_all_with(std::make_exception_ptr(Interrupted(false)));
  while (alive_ > 0) run_one(now());
  why_ = nullptr;
}

void EventLoop::require_going() {
  look_at_stop();
  if (why_) std::rethrow_exception(why_);
}

Task<> EventLoop::suspend(asio::steady_timer& timer) {
  require_going();
  waiting_.insert(&timer);
  const AtEnd remove([&] { waiting_.erase(&timer); });
  std::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  end_waiting();
  require_going();
}

void EventLoop::end_waiting() {
  if (waits_since_) waited_ms_ += milliseconds_between(*waits_since_, now());
  waits_since_.reset();
}

Task<> SystemLoop::wait(pollfd interest, SteadyTime until) {
  // The handlers own the timer, because they may run after this coroutine's frame is destroyed.
  const auto timer = std::make_shared<asio::steady_timer>(context_, until);
  const auto wake = [timer](const std::error_code&) { timer->cancel(); };
  asio::posix::stream_descriptor descriptor(context_);
  if (interest.fd >= 0) descriptor.assign(interest.fd);
  const AtEnd release([&] {
    if (descriptor.is_open()) (void)descriptor.release();
  });
  using Wait = asio::posix::stream_descriptor;
  if ((interest.events & POLLIN) != 0) descriptor.async_wait(Wait::wait_read, wake);
  if ((interest.events & POLLOUT) != 0) descriptor.async_wait(Wait::wait_write, wake);
  co_await suspend(*timer);
}

void SystemLoop::run_one(SteadyTime until) {
  context_.restart();
  if (context_.poll_one() > 0) return;
  begin_waiting();
  context_.run_one_until(until);  // runs one handler, or none if none is ready by `until`
  end_waiting();
}

Task<> Event::wait() {
  asio::steady_timer timer(loop_.context_, SteadyTime::max());
  waiting_.push_back(&timer);
  const AtEnd remove([&] { std::erase(waiting_, &timer); });
  co_await loop_.suspend(timer);
}

void Event::notify() {
  for (asio::steady_timer* timer : waiting_) timer->cancel();
}

}  // namespace evo
