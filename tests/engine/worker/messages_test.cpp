#include "engine/worker/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/worker/frame.hpp"
#include "engine/worker/session_messages.hpp"
#include "engine/worker/survey_messages.hpp"

namespace evo {
namespace {

/// Encodes a value as a frame and decodes it again.
template <typename Value>
Value sent(const Value& value) {
  FrameReader reader;
  reader.feed(encode_frame(value));
  return reader.next().value().get<Value>();
}

TEST(Messages, AValueThatIsMissingIsAKeyThatIsMissing) {
  const GpuState sparse{.looks = 1, .power_w = 312.5};
  const nlohmann::json message = sparse;
  EXPECT_EQ(message.at("power_w"), 312.5);
  EXPECT_FALSE(message.contains("temperature_c"));
  EXPECT_EQ(sent(sparse), sparse);
  TimingResult result;
  result.rejection = Rejection{.gate = Gate::kTiming, .reason = "too slow", .policy_only = true};
  const TimingResult back = sent(result);
  EXPECT_FALSE(back.timing.has_value());
  EXPECT_EQ(back.rejection.value().reason, "too slow");
  EXPECT_TRUE(back.rejection->policy_only);
  GpuFacts gpu;
  gpu.compute_mode = ComputeMode::kProhibited;
  EXPECT_EQ(sent(gpu).compute_mode, ComputeMode::kProhibited);
  EXPECT_EQ(sent(gpu).mig, std::nullopt);
}

TEST(Messages, AMissingValueReplacesOneThatWasThere) {
  GpuState state{.power_w = 1};
  nlohmann::json(GpuState{}).get_to(state);
  EXPECT_EQ(state, GpuState{});
}

TEST(Messages, EnumerationsTravelByTheirNames) {
  const GpuState state{.slowdowns = {Slowdown::kPowerCap, Slowdown::kHardwareThermal}};
  EXPECT_EQ(nlohmann::json(state).at("slowdowns").dump(),
            R"(["power cap","hardware thermal slowdown"])");
  EXPECT_EQ(nlohmann::json(Timing{.kind = TimeKind::kPredicted}).at("kind"), "predicted");
  nlohmann::json unknown = Timing{};
  unknown["kind"] = "guessed";
  EXPECT_THROW((void)unknown.get<Timing>(), InputError);
}

TEST(Messages, ASetupArrivesWithAllThatTheCoordinatorChose) {
  SessionSetup setup;
  setup.problem_text = "{}\n";
  setup.reference = {.ptx = std::string("p\0x", 3),
                     .cubin =
                         "\x7f"
                         "ELF",
                     .entries = {"k"}};
  setup.check_seed = ~std::uint64_t{0};
  setup.correctness.seeds = 2;
  setup.correctness.flops_of_quick_check = 1e9;
  setup.timing.stopping.most_samples = 7;
  setup.timing.cold = true;
  const SessionSetup back = sent(setup);
  EXPECT_EQ(back.problem_text, setup.problem_text);
  EXPECT_EQ(back.reference.ptx, setup.reference.ptx);
  EXPECT_EQ(back.reference.cubin, setup.reference.cubin);
  EXPECT_EQ(back.check_seed, setup.check_seed);
  EXPECT_EQ(back.correctness.seeds, 2U);
  EXPECT_EQ(back.correctness.flops_of_quick_check, 1e9);
  EXPECT_EQ(back.timing.stopping.most_samples, 7U);
  EXPECT_TRUE(back.timing.cold);
}

TEST(Messages, TextsOfOthersBecomePrintable) {
  nlohmann::json message = {{"gpus", {{{"name", std::string("G\0P", 3)}, {"bytes", 7}}}}};
  make_printable(message);
  EXPECT_EQ(message.dump(), R"({"gpus":[{"bytes":7,"name":"G\\x00P"}]})");
}

/// Decodes the file `name`.bin, from the corpus of the fuzz target for frames, as a value of type
/// Value.
template <typename Value>
void expect_seed(const std::string& name) {
  const std::string bytes =
      read_text_file(EVO_SOURCE_DIR "/tests/fuzz/corpus/frame/" + name + ".bin");
  FrameReader reader;
  reader.feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  EXPECT_NO_THROW((void)reader.next().value().get<Value>()) << name;
}

TEST(Messages, SeedsOfTheFuzzTargetAreMessages) {
  expect_seed<CheckResult>("check");
  expect_seed<Compiled>("compiled");
  expect_seed<CorrectnessResult>("correctness");
  expect_seed<DeviceInfo>("device");
  expect_seed<EnergyResult>("energy");
  expect_seed<KernelImage>("image");
  expect_seed<KernelUnderTest>("kernel");
  expect_seed<PairResult>("pair");
  expect_seed<Rejection>("rejection");
  expect_seed<CompileRequest>("request");
  expect_seed<Resources>("resources");
  expect_seed<SessionSetup>("setup");
  expect_seed<Timing>("timing");
  expect_seed<TimingResult>("timing_result");
}

}  // namespace
}  // namespace evo
