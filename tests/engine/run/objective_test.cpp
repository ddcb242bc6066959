#include "engine/run/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"
#include "tests/fakes/planted_kernels.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Timing taking(double us) {
  Timing timing;
  timing.p50_us = us;
  return timing;
}

TEST(Objective, IsAnExpressionOverTimeAndEnergy) {
  const Energy energy{.launch_mj = 16};
  EXPECT_EQ(Objective("time").of(taking(3), {}), 3);
  EXPECT_EQ(Objective("energy").of(taking(3), energy), 16);
  EXPECT_EQ(Objective("time*energy^0.5").of(taking(3), energy), 12);
  EXPECT_EQ(Objective("energy").of(taking(3), {}), std::nullopt);
  EXPECT_TRUE(Objective("time").is_time());
  EXPECT_FALSE(Objective("2*time").uses_energy());
  EXPECT_TRUE(Objective("time*energy^0.5").uses_energy());
}

TEST(Objective, NamesWhatIsAllowed) {
  EXPECT_THAT([] { Objective{"speed"}; },
              ThrowsMessage<InputError>(
                  HasSubstr("unknown name 'speed'; allowed: time, energy (µs and mJ")));
  EXPECT_THAT([] { Objective{"1"}; },
              ThrowsMessage<InputError>(HasSubstr("does not depend on the kernel")));
  EXPECT_THROW(Objective{"time*"}, InputError);
  EXPECT_THAT([] { (void)Objective("-time").of(taking(3), {}); },
              ThrowsMessage<InputError>(HasSubstr("must be above zero")));
}

/// A device on which slower kernels use less energy, so the winner by energy is not the winner by
/// time.
fake::DeviceBehaviour frugal_when_slow() {
  fake::DeviceBehaviour behaviour;
  behaviour.launch_mj = [](const fake::Program& program) {
    return 1000 / fake::planted_time_us(program, 0);
  };
  return behaviour;
}

class Energetic : public testing::Test {
 protected:
  /// Makes a run with the given objective and returns the winner's p50 in µs.
  double winner(const std::string& objective, double energy_s) {
    World world(store_, frugal_when_slow(), {.space = "distinct", .energy_s = energy_s});
    TunerOptions options = options_for(3, 4);
    options.objective = objective;
    EXPECT_EQ(run_all(world, store_, options), TunerEnd::kFinished);
    requests_ = world.device->requests();
    return store_.evaluation(store_.generations().back().record.elite.front()).timing->p50_us;
  }
  [[nodiscard]] double best_time(bool slowest) const {
    double best = slowest ? 0 : 1e9;
    for (const EvaluationRecord& stored : store_.evaluations()) {
      if (stored.rejection || !stored.timing) continue;
      const double us = stored.timing->p50_us;
      best = slowest ? std::max(best, us) : std::min(best, us);
    }
    return best;
  }
  [[nodiscard]] std::size_t asked(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        requests_, [&](const std::string& request) { return request.starts_with(what); }));
  }

  fake::MemoryStore store_;
  std::vector<std::string> requests_;
};

TEST_F(Energetic, TheObjectiveDecidesWhoWins) {
  const double won_us = winner("energy", kCandidateEnergy_s);
  EXPECT_NEAR(won_us, best_time(true), 0.02 * best_time(true));
  EXPECT_EQ(asked("compare"), 0U);
  EXPECT_GT(asked("energy 0.3 s"), 5U);
  EXPECT_GE(asked("energy 1 s"), 3U);
  EXPECT_EQ(store_.energies().size(), asked("energy 1 s"));
}

TEST_F(Energetic, TimeIsTheObjectiveUnlessAskedOtherwise) {
  const double won_us = winner("time", 0);
  EXPECT_DOUBLE_EQ(won_us, best_time(false));
  EXPECT_EQ(asked("energy"), 0U);
  EXPECT_GT(asked("compare"), 0U);
}

TEST_F(Energetic, AResumedRunDecidesTheSame) {
  (void)winner("energy", kCandidateEnergy_s);
  const std::vector<std::string> whole = story(store_);
  (void)winner("energy", kCandidateEnergy_s);  // all candidates are stored
  EXPECT_EQ(story(store_), whole);
  EXPECT_EQ(asked("energy"), 0U);
}

}  // namespace
}  // namespace evo
