#include "tests/fakes/planted_kernels.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

namespace evo::fake {
namespace {

struct Vectors {
  explicit Vectors(const Launch& launch)
      : x(launch.buffer<float>(0)), y(launch.buffer<float>(1)), n(launch.scalar<int>(2)) {}
  float* x;
  float* y;
  int n;

  void compute() const {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;
  }
  void fill(float value) const {
    for (int i = 0; i < n; ++i) y[i] = value;
  }
};

using Defect = std::function<std::optional<Fault>(const Launch&, const Vectors&)>;

/// Makes a defective kernel: it computes the right result, and `spoil` then writes something wrong.
Defect after(const std::function<void(const Launch&, const Vectors&)>& spoil) {
  return [spoil](const Launch& launch, const Vectors& v) -> std::optional<Fault> {
    v.compute();
    spoil(launch, v);
    return std::nullopt;
  };
}

[[noreturn]] void sleep_forever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

constexpr std::chrono::milliseconds kRest{5};
constexpr int kTail = 3;
constexpr int kLaunchesRight = 40;  // more launches than the correctness gate makes
constexpr float kKnownInput = 2.0F;

std::map<std::string, Defect> defects() {
  const auto keep = [](const Launch&, const Vectors&) {};
  return {
      {"none", after(keep)},
      {"too_many_registers", after(keep)},
      {"lies_about_time", after(keep)},
      {"reads_beyond", after(keep)},
      {"races", after(keep)},
      {"out_of_bounds_after", after([](const Launch&, const Vectors& v) { v.y[v.n] = 1; })},
      {"out_of_bounds_before", after([](const Launch&, const Vectors& v) { v.y[-1] = 1; })},
      {"all_zero", after([](const Launch&, const Vectors& v) { v.fill(0); })},
      {"leaves_nan", after([](const Launch&, const Vectors& v) {
         v.y[v.n / 2] = std::numeric_limits<float>::quiet_NaN();
       })},
      {"changes_input", after([](const Launch&, const Vectors& v) { v.x[v.n - 1] += 1; })},
      {"wrong_later", after([](const Launch& launch, const Vectors& v) {
         if (launch.number >= kLaunchesRight) v.fill(1);
       })},
      {"knows_inputs", after([](const Launch&, const Vectors& v) {
         if (v.x[0] < kKnownInput) v.fill(v.x[0]);
       })},
      {"nondeterministic", after([](const Launch& launch, const Vectors& v) {
         v.y[0] += launch.number % 2 == 0 ? 0.0F : std::ldexp(1.0F, -20);
       })},
      {"skips_tail",
       [](const Launch& launch, const Vectors& v) {
         Vectors shorter = v;
         shorter.n = std::max(0, v.n - kTail);
         (void)launch;
         shorter.compute();
         return std::optional<Fault>();
       }},
      {"stale", [](const Launch&, const Vectors&) { return std::optional<Fault>(); }},
      {"rests", after([](const Launch&, const Vectors&) { std::this_thread::sleep_for(kRest); })},
      {"rests_all_zero", after([](const Launch&, const Vectors& v) {
         std::this_thread::sleep_for(kRest);
         v.fill(0);
       })},
      {"never_returns",
       [](const Launch&, const Vectors&) -> std::optional<Fault> { sleep_forever(); }},
      {"crashes", [](const Launch&, const Vectors&) -> std::optional<Fault> { std::abort(); }},
      {"is_killed", after([](const Launch&, const Vectors&) { std::raise(SIGKILL); })},
      {"is_killed_once", after([](const Launch&, const Vectors&) {
         if (is_first_time("device")) std::raise(SIGKILL);
       })},
      {"is_stopped_once", after([](const Launch&, const Vectors&) {
         if (is_first_time("device")) std::raise(SIGSTOP);
       })},
      {"fails_on_the_host",
       [](const Launch&, const Vectors&) -> std::optional<Fault> {
         throw MissingError("a call of the driver failed");
       }},
      {"eats_memory",
       [](const Launch&, const Vectors&) -> std::optional<Fault> { throw std::bad_alloc(); }},
      {"illegal_address",
       [](const Launch&, const Vectors&) -> std::optional<Fault> {
         return Fault{"the kernel failed: an illegal address", "", true};
       }},
  };
}

/// Counts how often a kernel was launched directly after another kernel of the same process.
class Turns {
 public:
  Turns() : me_(++newest_) {}
  int take() {
    if (std::exchange(last_, me_) != me_) ++turns_;
    return turns_;
  }

 private:
  static inline int newest_ = 0;
  static inline int last_ = 0;
  int me_;
  int turns_ = 0;
};

/// Launches a kernel whose results are right until its launches have alternated with those of
/// another kernel, as in an A/B comparison. After that, all launches of the kernel in this process
/// fault; if `for_good` is set, launches in all processes. `turns`: the result of Turns::take().
std::optional<Fault> fail_in_pairs(int turns, bool for_good, const Vectors& vectors) {
  constexpr int kTurnsAlone = 20;  // limit of the alternations with the reference in all checks
  if (turns > kTurnsAlone && for_good) (void)is_first_time("pair");
  if (turns > kTurnsAlone || (for_good && was_first_time("pair"))) {
    return Fault{"the kernel failed beside another one", "", true};
  }
  vectors.compute();
  return std::nullopt;
}

}  // namespace

std::variant<Kernel, Fault> link_planted(const Program& program) {
  std::string bug = program.name_of("BUG");
  if (bug.empty()) bug = "none";  // the reference has no macros
  if (bug == "fails_in_pairs" || bug == "fails_since_a_pair") {
    return Kernel(
        [turns = Turns(), for_good = bug == "fails_since_a_pair"](const Launch& launch) mutable {
          return fail_in_pairs(turns.take(), for_good, Vectors(launch));
        });
  }
  const auto known = defects();
  const auto found = known.find(bug);
  if (found == known.end()) return Fault{"the cubin has no kernel for BUG " + bug};
  return Kernel([turns = Turns(), defect = found->second](const Launch& launch) mutable {
    turns.take();
    return defect(launch, Vectors(launch));
  });
}

double planted_time_us(const Program& program, std::int64_t sample) {
  if (program.name_of("BUG") == "lies_about_time") return 1e-9;
  constexpr double kBestUs = 5.0;
  constexpr double kScatter = 0.003;
  const double threads = std::log2(program.number("THREADS", 128) / 128);
  const double items = std::log2(program.number("ITEMS", 2) / 2);
  // The times rotate through five levels, so that the median and the p90 do not depend on the
  // samples after which outputs are verified.
  const double level = static_cast<double>(std::max<std::int64_t>(sample, 0) % 5 - 2) / 2;
  return kBestUs * (1 + 0.2 * threads * threads + 0.1 * items * items) * (1 + kScatter * level);
}

}  // namespace evo::fake
