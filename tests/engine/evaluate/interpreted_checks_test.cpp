// Tests the checks in which a virtual GPU executes kernels that another GPU checks and times: which
// results reject a kernel, which kernels are skipped, and that the search does not depend on the
// virtual GPU.

#include "engine/evaluate/interpreted_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Answer = std::variant<CorrectnessResult, WorkerFailure>;

fake::DeviceBehaviour interpreter(std::function<Answer(const fake::Program&)> check = {}) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  behaviour.check = std::move(check);
  return behaviour;
}

CorrectnessResult fault(FaultKind kind, const std::string& reason) {
  CorrectnessResult result;
  result.reject("shape small, seed 1: ", {.reason = reason, .kind = kind});
  return result;
}

KernelUnderTest kernel(const std::string& key) {
  KernelUnderTest under_test;
  under_test.key = key;
  under_test.image.ptx = fake::to_ptx({"planted", {{"KEY", key}}});
  under_test.shapes = {"mission"};
  return under_test;
}

/// InterpretedChecks on a fake virtual GPU, whose answers `check` determines.
class Interpreting {
 public:
  explicit Interpreting(std::function<Answer(const fake::Program&)> check = {}) {
    auto own = std::make_unique<fake::FakeDeviceService>(loop_, interpreter(std::move(check)));
    device_ = own.get();
    checks_ = std::make_unique<InterpretedChecks>(loop_, std::move(own));
  }
  ~Interpreting() { loop_.end_all(); }
  InterpretedChecks& checks() { return *checks_; }
  /// The kernels that the fake virtual GPU was asked to execute.
  [[nodiscard]] std::vector<std::string> requests() const { return device_->requests(); }
  void pass_time() { loop_.run(loop_.sleep(1000)); }
  InterpretedCheck outcome_of(const std::string& key) {
    return loop_.run(checks_->check(kernel(key)));
  }

 private:
  fake::FakeLoop loop_;
  fake::FakeDeviceService* device_ = nullptr;
  std::unique_ptr<InterpretedChecks> checks_;
};

TEST(InterpretedChecks, ADefectOfTheExecutionIsARejection) {
  Interpreting run([](const fake::Program&) {
    return fault(FaultKind::kDefect, "shared-memory race: thread 1 and thread 2");
  });
  const auto check = run.outcome_of("a");
  ASSERT_TRUE(check.rejection);
  EXPECT_THAT(check.rejection->reason, HasSubstr("shape small, seed 1: shared-memory race"));
  EXPECT_THAT(check.left_out, IsEmpty());
}

TEST(InterpretedChecks, AKernelThatPassesHasItsChecks) {
  Interpreting run;
  const auto check = run.outcome_of("a");
  EXPECT_FALSE(check.rejection);
  ASSERT_EQ(check.checks.size(), 1U);
  EXPECT_EQ(check.checks.front().shape, "mission");
}

TEST(InterpretedChecks, NeitherARefusalNorAResultOutsideTheToleranceIsTheKernelsFault) {
  Interpreting refused([](const fake::Program&) {
    return fault(FaultKind::kRefused, "not supported: tcgen05.mma at line 7");
  });
  const auto refusal = refused.outcome_of("a");
  EXPECT_FALSE(refusal.rejection);
  EXPECT_THAT(refusal.left_out, HasSubstr("not supported: tcgen05.mma"));
  Interpreting differs([](const fake::Program&) {
    CorrectnessResult result;
    result.rejection = Rejection{Gate::kCorrectness, "y[3] is 1, expected 2"};
    return result;
  });
  const auto difference = differs.outcome_of("a");
  EXPECT_FALSE(difference.rejection);
  EXPECT_THAT(difference.left_out, HasSubstr("y[3] is 1"));
}

TEST(InterpretedChecks, ACheckThatEndedWithoutAnAnswerCanBeRepeated) {
  int calls = 0;
  Interpreting run([&](const fake::Program&) -> Answer {
    if (++calls == 1) return WorkerFailure{"no progress message for 300 s"};
    return fault(FaultKind::kDefect, "deadlock");
  });
  const auto first = run.outcome_of("a");
  ASSERT_TRUE(first.may_be_repeated);
  EXPECT_THAT(first.left_out, HasSubstr("300 s"));
  const auto second = run.outcome_of("a");
  ASSERT_TRUE(second.rejection);
  (void)run.outcome_of("a");
  EXPECT_EQ(calls, 2) << "the verdict is stored and not computed again";
}

TEST(InterpretedChecks, KernelsThatAreNotWantedAnyMoreAreDropped) {
  Interpreting run;
  run.checks().want({kernel("a"), kernel("b"), kernel("c")});
  run.checks().want({kernel("c"), kernel("a")});
  run.pass_time();
  EXPECT_THAT(run.requests(), ElementsAre(HasSubstr("KEY=c"), HasSubstr("KEY=a")));
}

TEST(InterpretedChecks, AnErrorOfTheProblemLeavesEveryKernelOut) {
  Interpreting run([](const fake::Program&) -> Answer { throw InputError("no room for x"); });
  (void)run.outcome_of("a");
  const auto check = run.outcome_of("b");
  EXPECT_EQ(check.left_out, "no room for x");
  EXPECT_FALSE(check.rejection);
}

TEST(InterpretedChecks, WithoutAnInterpreterNothingIsAsked) {
  fake::FakeLoop loop;
  InterpretedChecks none(loop, nullptr);
  none.want({kernel("a")});
  EXPECT_FALSE(none.has_interpreter());
}

/// Makes a whole run, and returns its outcomes as lines of text, by story(). `interprets`: the
/// behaviour of the virtual GPU; nullopt: there is none.
std::vector<std::string> story_with(const std::optional<fake::DeviceBehaviour>& interprets) {
  fake::MemoryStore store;
  World world(store, quickly_checked_kernels(), {.space = "distinct", .interprets = interprets});
  EXPECT_EQ(run_all(world, store, options_for(4, 8)), TunerEnd::kFinished);
  if (world.interpreter != nullptr) {
    EXPECT_THAT(world.interpreter->requests(), testing::Not(IsEmpty()))
        << "the virtual GPU executes kernels during the run";
  }
  return story(store);
}

TEST(InterpretedRun, TheSearchDoesNotDependOnTheInterpreter) {
  const std::vector<std::string> alone = story_with(std::nullopt);
  const auto all_fail = [](const fake::Program&) { return fault(FaultKind::kDefect, "race"); };
  for (const double check_ms : {1.0, 40.0, 1000.0}) {
    fake::DeviceBehaviour behaviour = interpreter(all_fail);
    behaviour.check_ms = check_ms;
    EXPECT_EQ(story_with(behaviour), alone) << check_ms;
  }
}

TEST(InterpretedRun, AKernelIsInterpretedOnceAndWaitedFor) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour = interpreter([](const fake::Program& program) -> Answer {
    if (program.number("ITEMS", 0) == 1) return fault(FaultKind::kDefect, "race");
    return CorrectnessResult{{CheckResult{"single", 1}}};
  });
  behaviour.check_ms = 500;
  World world(store, quickly_checked_kernels(), {.space = "distinct", .interprets = behaviour});
  EXPECT_EQ(run_all(world, store, options_for(2, 8)), TunerEnd::kFinished);
  const Candidate candidate = world.task().space().defaults();
  const EvaluationRecord first = store.evaluations().front();
  const KernelUnderTest member = kernel_under_test(
      world.task(), candidate, store.compilation(first.compilation.value()), "some key", {0});
  const InterpretedCheck check = world.bench->wait(world.bench->interpreted().check(member));
  const std::size_t asked = world.interpreter->requests().size();
  EXPECT_EQ(world.bench->wait(world.bench->interpreted().check(member)).rejection.has_value(),
            check.rejection.has_value());
  EXPECT_EQ(world.interpreter->requests().size(), asked);
  EXPECT_TRUE(check.rejection || !check.checks.empty());
}

TEST(InterpretedRun, TheInterpreterSeesSmallShapesAndNoKernelsOfTheGpu) {
  fake::MemoryStore store;
  World world(store, quickly_checked_kernels(), {.space = "distinct", .interprets = interpreter()});
  const SessionSetup& setup = world.interpreter->setup();
  EXPECT_LT(setup.correctness.flops_of_all_shapes, 1e9);
  EXPECT_THAT(setup.check_kernels.entries, IsEmpty());
  EXPECT_EQ(setup.check_seed, world.device->setup().check_seed);
  EXPECT_GT(world.device->setup().correctness.flops_of_all_shapes, 1e17);
}

}  // namespace
}  // namespace evo
