// Tests coroutines of the event loop on one thread: how they wait, and how they unwind at the end
// of the loop.

#include "engine/worker/event_loop.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "engine/core/at_end.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

using Milliseconds = std::chrono::milliseconds;

Task<> nap(EventLoop& loop, int milliseconds) {
  co_await loop.wait({-1, 0, 0}, loop.now() + Milliseconds(milliseconds));
}

TEST(EventLoop, ReturnsTheValueAndWhatIsSpawnedGoesOnMeanwhile) {
  SystemLoop loop;
  int steps = 0;
  const auto count = [&]() -> Task<> {
    for (; steps < 3; ++steps) co_await nap(loop, 1);
  };
  const auto answer = [&]() -> Task<int> {
    co_await nap(loop, 100);
    co_return 42;
  };
  loop.spawn(count());
  EXPECT_EQ(loop.run(answer()), 42);
  EXPECT_EQ(steps, 3);
}

TEST(EventLoop, ADescriptorWithNewsWakesBeforeTheTime) {
  SystemLoop loop;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const auto send_later = [&]() -> Task<> {
    co_await nap(loop, 20);
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
  };
  const auto receive = [&]() -> Task<> {
    co_await loop.wait({ends[0], POLLIN, 0}, loop.now() + std::chrono::seconds(30));
  };
  const SteadyTime start = loop.now();
  loop.spawn(send_later());
  loop.run(receive());
  EXPECT_LT(milliseconds_between(start, loop.now()), 20000);
  for (const int end : ends)
    EXPECT_EQ(::close(end), 0) << "waiting for a socket does not close the socket";
}

TEST(EventLoop, EveryCoroutineUnwindsWhenSomebodyAsksForTheEnd) {
  SystemLoop loop;
  std::atomic<bool> asked{false};
  int unwound = 0;
  const auto forever = [&]() -> Task<> {
    const AtEnd count([&] { ++unwound; });
    while (true) co_await nap(loop, 1000000);
  };
  const auto ask = [&]() -> Task<> {
    co_await nap(loop, 5);
    asked = true;
  };
  loop.spawn(forever());
  loop.spawn(ask());
  try {
    loop.stop_when({&asked});
    loop.run(forever());
    ADD_FAILURE() << "the loop did not end";
  } catch (const Interrupted& interrupted) {
    EXPECT_FALSE(interrupted.out_of_time());
  }
  EXPECT_EQ(unwound, 2);
}

TEST(EventLoop, ADeadlineEndsARunAndTheNextOneGoesOn) {
  SystemLoop loop;
  try {
    loop.stop_when({nullptr, loop.now() + Milliseconds(20)});
    loop.run(nap(loop, 1000000));
    ADD_FAILURE() << "the loop did not end";
  } catch (const Interrupted& interrupted) {
    EXPECT_TRUE(interrupted.out_of_time());
  }
  EXPECT_THROW(loop.run(nap(loop, 1)), Interrupted) << "the deadline is over for every run";
  loop.stop_when({});
  loop.run(nap(loop, 1));
}

TEST(EventLoop, TheErrorOfASpawnedCoroutineEndsTheRun) {
  SystemLoop loop;
  const auto fail = [&]() -> Task<> {
    co_await nap(loop, 1);
    throw InputError("planted");
  };
  loop.spawn(fail());
  EXPECT_THROW(loop.run(nap(loop, 1000000)), InputError);
}

TEST(Event, WakesAllThatWaitInTheirOrder) {
  SystemLoop loop;
  Event event(loop);
  std::string order;
  const auto wait = [&](char name) -> Task<> {
    co_await event.wait();
    order += name;
  };
  loop.spawn(wait('a'));
  loop.spawn(wait('b'));
  const auto notify = [&]() -> Task<> {
    co_await nap(loop, 1);
    event.notify();
    co_await nap(loop, 5);
  };
  loop.run(notify());
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace evo
