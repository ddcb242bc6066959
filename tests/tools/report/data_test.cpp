// Compares the data of a report with values that were computed by hand.

#include "tools/report/data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"
#include "tools/answers/run_insight.hpp"
#include "tools/report/candidates.hpp"
#include "tools/report/winner.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kTiles = R"({"format": "evo-tune space 1", "name": "tiles", "problem": "copy",
  "template": "plain", "arch": "sm_90", "shape": "mission",
  "parameters": [{"macro": "TILE", "values": [32, 64, 128], "default": 64, "meaning": "rows"},
                 {"macro": "WAY", "values": ["up", "down"], "default": "up"}],
  "resources": {"spill_bytes": 0}})";

class Report : public testing::Test {
 protected:
  Report() {
    RunInfo info = sample::run_info();
    info.space.text = kTiles;
    info.options_json = R"({"generations":2,"max_in_flight":4,"check_seed":9,"cold":true})";
    run_ = store_.start_run(info);
  }

  CandidateId add(const std::string& config, std::optional<double> p50_us,
                  const std::string& milestone = {}, int generation = 0) {
    const std::string name = "k" + std::to_string(position_);
    CompilationRecord compilation = sample::compilation(name);
    compilation.options = "-DTILE=" + std::to_string(position_);
    EvaluationRecord record = sample::green(
        generation, position_++, store_.put_compilation(compilation), p50_us.value_or(1));
    record.config_json = config;
    record.milestone = milestone;
    record.manifest_json =
        R"({"entry":"copy","shape":{"name":"mission"},"arguments":[],
            "launch":{"block":[{"value":64},{"value":2}]},"tolerance":{"max_abs_error":0.01}})";
    if (!p50_us) {
      record.timing.reset();
      record.checks.clear();
      record.rejection = Rejection{Gate::kCorrectness, "wrong by 3"};
    }
    return store_.record_evaluation(run_, record);
  }

  Ordered report() const { return report_of_run(store_, store_.run(run_)); }

  Store store_ = Store::in_memory();
  RunId run_ = 0;
  int position_ = 0;
};

TEST_F(Report, AVendorsTimeIsTheFastestThatIsStored) {
  const CandidateId best = add(R"({"TILE":64,"WAY":"up"})", 10);
  store_.record_generation(run_, {.number = 0, .elite = {best}});
  EXPECT_TRUE(report()["vendor"].is_null());
  for (const char* row : {"'slow', 'fp8', 30", "'quick', 'fp16', 15"}) {
    store_.connection().database().exec(
        "INSERT INTO vendor_time (run_id, candidate_id, ratio, ratio_low, ratio_high, name,"
        " starts_from, p50_us) VALUES (1, 1, 1.5, 1.4, 1.6, " +
        std::string(row) + ")");
  }
  const Ordered vendor = report()["vendor"];
  EXPECT_EQ(vendor["name"], "quick");
  EXPECT_EQ(vendor["p50_us"], 15);
  EXPECT_EQ(vendor["ratio"], 1.5);
  EXPECT_EQ(vendor["candidate"], best);
}

TEST_F(Report, SaysHowMuchFasterTheWinnerIs) {
  add(R"({"TILE":32,"WAY":"up"})", 30, "plain");
  add(R"({"TILE":64,"WAY":"up"})", 20);
  add(R"({"TILE":128,"WAY":"down"})", 8);
  const Ordered found = report();
  EXPECT_EQ(found["winner"]["candidate"], 3);
  EXPECT_EQ(found["winner"]["p50_us"], 8);
  EXPECT_DOUBLE_EQ(found["winner"]["tflops"].get<double>(), 250);  // 2e9 FLOP / 8 µs
  EXPECT_EQ(found["winner"]["shared_bytes"], 1024 + 4096);
  EXPECT_EQ(found["default"]["candidate"], 2);
  EXPECT_EQ(found["default"]["p50_us"], 20);
  EXPECT_EQ(found["baseline"],
            Ordered({{"milestone", "plain"}, {"candidate", 1}, {"p50_us", 30.0}}));
  EXPECT_EQ(
      found["changes"].dump(),
      R"([{"macro":"TILE","default":64,"winner":128},{"macro":"WAY","default":"up","winner":"down"}])");
  EXPECT_EQ(
      found["difference"].dump(),
      R"([["-","#define TILE 1"],["+","#define TILE 2"],[" ",""],[" ","extern \"C\" __global__ void copy() {}"]])");
  EXPECT_EQ(found["meanings"]["TILE"], "rows");
}

TEST_F(Report, SaysWhyThereIsNoDefault) {
  add(R"({"TILE":128,"WAY":"down"})", 8);
  EXPECT_THAT(report()["default"]["why"].get<std::string>(), HasSubstr("did not evaluate"));
  add(R"({"TILE":64,"WAY":"up"})", std::nullopt);
  EXPECT_EQ(report()["default"]["why"],
            "the default configuration failed the correctness gate: wrong by 3");
}

TEST_F(Report, FollowsTheBestTime) {
  add(R"({"TILE":32,"WAY":"up"})", std::nullopt);
  add(R"({"TILE":64,"WAY":"up"})", 20);
  add(R"({"TILE":64,"WAY":"down"})", 25);
  add(R"({"TILE":128,"WAY":"down"})", 8, "", 1);
  const Ordered candidates = candidates_of_run(store_, store_.run(run_));
  ASSERT_EQ(candidates["best"].size(), 2U);
  EXPECT_EQ(candidates["best"][0][0], 2);
  EXPECT_EQ(candidates["best"][0][2], 20);
  EXPECT_EQ(candidates["best"][1][0], 4);
  EXPECT_EQ(candidates["best"][1][3], 4);
  EXPECT_EQ(candidates["generations"][0]["green"], 2);
  EXPECT_EQ(candidates["generations"][0]["correctness"], 1);
  EXPECT_EQ(candidates["generations"][1]["green"], 1);
}

TEST_F(Report, HasEveryCandidateInColumns) {
  add(R"({"TILE":32,"WAY":"up"})", 20, "plain");
  add(R"({"TILE":128,"WAY":"down"})", std::nullopt);
  store_.record_evaluation(run_, sample::duplicate(0, 2, 1));
  const Ordered candidates = candidates_of_run(store_, store_.run(run_));
  const Ordered& columns = candidates["columns"];
  EXPECT_EQ(columns["p50_us"].dump(), "[20.0,null,20.0]");
  EXPECT_EQ(columns["registers"].dump(), "[96,96,null]");
  EXPECT_EQ(columns["shared_bytes"].dump(), "[5120,5120,null]");
  EXPECT_EQ(columns["duplicate_of"].dump(), "[null,null,1]");
  EXPECT_EQ(columns["outcome"].dump(), R"({"words":["green","rejected"],"values":[0,1,0]})");
  EXPECT_EQ(columns["reason"].dump(), R"({"words":["wrong by 3"],"values":[null,0,null]})");
  EXPECT_EQ(columns["milestone"].dump(), R"({"words":["plain"],"values":[0,null,null]})");
  EXPECT_EQ(candidates["knobs"]["WAY"]["words"].dump(), R"(["up","down"])");
  for (const auto& [name, column] : candidates["knobs"].items()) {
    EXPECT_EQ(column["values"].size(), 3U) << name;
  }
  // A CTA of 128 threads with 96 registers each takes 12288 registers, so the 65536 registers of an
  // SM hold 5 CTAs of 4 warps.
  EXPECT_EQ(columns["threads"][0], 128);
  EXPECT_DOUBLE_EQ(columns["occupancy_percent"][0].get<double>(), 100.0 * 5 * 4 / 64);
  EXPECT_EQ(columns["limit"]["words"][0], "registers");
}

TEST_F(Report, OfTheKnobsSaysWhatEvoEliteSays) {
  for (const char* config : {R"({"TILE":32,"WAY":"up"})", R"({"TILE":64,"WAY":"up"})",
                             R"({"TILE":128,"WAY":"up"})", R"({"TILE":32,"WAY":"down"})"}) {
    add(config, 10 + 3 * position_);
  }
  const StoredRun run = store_.run(run_);
  const Space space = space_of(run);
  const Insight insight = insight_of(store_, run, space);
  EXPECT_EQ(insight.evaluations, 4U);
  EXPECT_EQ(insight.best_us, 10);
  EXPECT_EQ(report()["insight"].dump(), Ordered::parse(insight_json(space, insight)).dump());
}

TEST_F(Report, HasTheWaysToTheWinnerWithTimesThatEndAtItsOwn) {
  const CandidateId start = add(R"({"TILE":64,"WAY":"up"})", 20);
  const CandidateId winner = add(R"({"TILE":128,"WAY":"up"})", 9);
  store_.record_generation(run_, {.number = 0, .elite = {winner, start}});
  EXPECT_TRUE(report()["ways"].empty());
  EXPECT_THAT(report()["why_no_ways"].get<std::string>(), HasSubstr("did not time the steps"));
  store_.record_event(run_, kNoWayEvent, "the run was out of time");
  EXPECT_EQ(report()["why_no_ways"], "the run was out of time");
  EXPECT_TRUE(report()["events"].empty())
      << "the report shows this event as the reason, not in the list of events";
  store_.record_winner_ways(run_, {{.start = "default",
                                    .winner = winner,
                                    .steps = {{.config_json = "{}", .p50_us = 20},
                                              {.config_json = "{}",
                                               .changes = {{"TILE", "64", "128"}},
                                               .p50_us = 9,
                                               .ratio = 0.5,
                                               .ratio_low = 0.49,
                                               .ratio_high = 0.51,
                                               .pairs = 60}}}});
  store_.record_winner_units(run_, winner, {{"tensor", 12.5}});
  const Ordered found = report();
  EXPECT_TRUE(found["why_no_ways"].is_null());
  const Ordered& steps = found["ways"][0]["steps"];
  EXPECT_EQ(steps[0]["level_us"], 18)
      << "the level is 9 µs / 0.5, the ratio of the A/B pairs, not of the values of p50_us";
  EXPECT_EQ(steps[1]["level_us"], 9);
  EXPECT_EQ(steps[1]["changes"].dump(), R"([{"macro":"TILE","from":"64","to":"128"}])");
  EXPECT_EQ(found["ways"][0]["timed"], "A/B pairs");
  EXPECT_EQ(found["units"].dump(), R"({"tensor":12.5})");
}

TEST_F(Report, MilestonesBuildOnOneAnotherWhereTheyKeepWhatChanged) {
  add(R"({"TILE":32,"WAY":"up"})", 30, "first");
  add(R"({"TILE":64,"WAY":"up"})", 20, "second");
  add(R"({"TILE":128,"WAY":"down"})", 10, "third");
  add(R"({"TILE":32,"WAY":"down"})", 9, "another");
  const Ordered found = report();
  std::vector<bool> builds;
  for (const Ordered& result : found["milestones"]) builds.push_back(result["builds_on_before"]);
  EXPECT_EQ(builds, (std::vector<bool>{true, true, true, false}));
}

TEST_F(Report, TheWinnerOfItsKnobsIsThatOfTheElite) {
  const CandidateId slower = add(R"({"TILE":64,"WAY":"up"})", 10.02);
  const CandidateId faster = add(R"({"TILE":128,"WAY":"up"})", 10);
  store_.record_generation(run_, {.number = 0, .elite = {slower, faster}});
  store_.record_comparison(run_, {.challenger = faster,
                                  .incumbent = slower,
                                  .ratio = 0.999,
                                  .pairs = 12,
                                  .verdict = Verdict::kTie});
  const Ordered found = report();
  EXPECT_EQ(found["winner"]["candidate"], slower);
  EXPECT_TRUE(found["elite"][0]["ratio_to_above"].is_null());
  EXPECT_EQ(found["elite"][1]["ratio_to_above"], 0.999);
  EXPECT_EQ(found["insight"]["best_us"], 10.02);
  for (const Ordered& knob : found["insight"]["knobs"]) {
    EXPECT_EQ(knob["best"], knob["macro"] == "TILE" ? "64" : "up");
  }
}

TEST_F(Report, OfARunWithNothingGreenSaysSo) {
  add(R"({"TILE":64,"WAY":"up"})", std::nullopt);
  const Ordered found = report();
  for (const char* key : {"winner", "baseline", "source", "difference", "manifest"}) {
    EXPECT_TRUE(found[key].is_null()) << key;
  }
  EXPECT_EQ(found["summary"]["rejected"], 1);
  EXPECT_TRUE(found["candidates"]["best"].empty());
}

TEST_F(Report, OfARunWithoutCandidates) {
  const Ordered found = report();
  EXPECT_EQ(found["candidates"]["count"], 0);
  EXPECT_EQ(found["summary"]["evaluated"], 0);
  EXPECT_EQ(found["candidates"]["columns"]["p50_us"].dump(), "[]");
}

TEST_F(Report, OfASpaceOfAnotherVersionSaysWhatItCannotRead) {
  RunInfo info = sample::run_info();
  info.space.key = "of another version";
  info.space.text = R"({"format": "evo-tune space 99"})";
  run_ = store_.start_run(info);
  add(R"({"TILE":64})", 10);
  const Ordered found = report();
  EXPECT_TRUE(found["insight"].is_null());
  EXPECT_THAT(found["why_no_insight"].get<std::string>(), HasSubstr("evo-tune space 99"));
  EXPECT_THAT(found["default"]["why"].get<std::string>(), HasSubstr("cannot be read"));
  EXPECT_EQ(found["winner"]["p50_us"], 10);
}

TEST_F(Report, TellsComparisonsDriftAndEvents) {
  const CandidateId a = add(R"({"TILE":32,"WAY":"up"})", 20);
  const CandidateId b = add(R"({"TILE":64,"WAY":"up"})", 10);
  store_.record_comparison(run_, {.generation = 0,
                                  .challenger = b,
                                  .incumbent = a,
                                  .ratio = 0.5,
                                  .ratio_low = 0.4,
                                  .ratio_high = 0.6,
                                  .pairs = 12,
                                  .verdict = Verdict::kFaster});
  store_.record_generation(
      run_, {.number = 0, .elite = {b, a}, .control_p50_us = 21, .control_drift = 0.05});
  store_.record_generation(run_, {.number = 1, .elite = {b, a}});
  store_.record_event(run_, "policy cost", "nothing");
  const Ordered found = report();
  EXPECT_EQ(
      found["comparisons"].dump(),
      R"([{"generation":0,"challenger":2,"incumbent":1,"ratio":0.5,"low":0.4,"high":0.6,"pairs":12,"verdict":"faster"}])");
  EXPECT_EQ(found["control"].dump(), R"([{"generation":0,"p50_us":21.0,"drift":0.05}])");
  EXPECT_EQ(found["events"][0]["text"], "nothing");
  EXPECT_EQ(found["policy"].dump(), R"({"spill_bytes":0})");
}

TEST_F(Report, TellsTheGpuTheEnergyAndTheProfilesThatAreStored) {
  EXPECT_EQ(report()["gpu"].dump(), "[]");
  EXPECT_EQ(report()["energy"].dump(), "[]");
  EXPECT_EQ(report()["profiles"].dump(), "[]");
  const CompilationId compilation = store_.put_compilation(sample::compilation("a"));
  EvaluationRecord first = sample::green(0, 0, compilation, 10);
  first.config_json = R"({"TILE":32,"WAY":"up"})";
  first.gpu = GpuState{.looks = 5,
                       .sm_clock_min_mhz = 1200,
                       .sm_clock_median_mhz = 1980,
                       .temperature_c = 40,
                       .power_w = 500.5,
                       .slowdowns = {Slowdown::kPowerCap},
                       .discarded = 3,
                       .throttled = true,
                       .others = {"4711 (x)"}};
  first.energy = Energy{5.5, 300, 0.25, 9};
  EvaluationRecord second = sample::green(0, 1, compilation, 11);
  second.config_json = R"({"TILE":64,"WAY":"up"})";
  second.energy = Energy{7, 320, 0.25, 9};
  store_.record_evaluation(run_, first);
  store_.record_evaluation(run_, second);
  EvaluationRecord again = sample::duplicate(0, 2, 1);
  again.config_json = R"({"TILE":32,"WAY":"down"})";
  store_.record_evaluation(run_, again);
  store_.record_energy(1, {5, 310, 2, 90});
  store_.record_profile(1, {.tool = "ncu 1",
                            .require = "tensor >= 50",
                            .passed = true,
                            .metrics = {{"tensor", "sm__pipe", 61.5, "%"}}});
  const Ordered found = report();
  EXPECT_EQ(found["gpu"].dump(),
            R"([{"candidate":1,"sm_clock_min_mhz":1200.0,"sm_clock_median_mhz":1980.0,)"
            R"("temperature_c":40.0,"power_w":500.5,"slowdowns":["power cap"],"discarded":3,)"
            R"json("throttled":true,"others":["4711 (x)"]}])json");
  EXPECT_EQ(found["energy"].dump(),
            R"([{"candidate":1,"launch_mj":5.0,"power_w":310.0,"window_s":2.0,"complete":true},)"
            R"({"candidate":2,"launch_mj":7.0,"power_w":320.0,"window_s":0.25,"complete":false}])")
      << "the report shows the energy measured over the longer time, and none for a duplicate";
  EXPECT_EQ(
      found["profiles"].dump(),
      R"([{"candidate":1,"kind":"measured","tool":"ncu 1","require":"tensor >= 50",)"
      R"("passed":true,"metrics":{"tensor":{"metric":"sm__pipe","value":61.5,"unit":"%"}}}])");
}

TEST_F(Report, TheCommandMakesTheRunAgain) {
  EXPECT_EQ(
      command_of(store_.run(run_)),
      "evo-tune --space copy_h200 --device cuda:0 --shape mission --generations 2 --offspring 8 "
      "--elite 3 --strategy full --no-warm-start --max-in-flight 4 --seed 18446744073709551615 "
      "--check-seed 9 --flush-l2");
  RunInfo info = sample::run_info();
  info.options_json = R"({"generations":2,"shapes":["small","mission"],"objective":"time*energy",)"
                      R"("warm_start":[]})";
  EXPECT_EQ(command_of(store_.run(store_.start_run(info))),
            "evo-tune --space copy_h200 --device cuda:0 --shape small,mission --generations 2 "
            "--offspring 8 --elite 3 --strategy full --objective 'time*energy' --seed "
            "18446744073709551615");
  info.options_json =
      R"({"aim":"record","candidates":50,"max_in_flight":4,"check_seed":9,"cold":false})";
  info.space.key = "another";
  info.space.name = "it's; rm";
  EXPECT_EQ(command_of(store_.run(store_.start_run(info))),
            R"(evo-record --space 'it'\''s; rm' --device cuda:0 --shape mission --count 50 )"
            "--control-every 8 --out recorded.json --max-in-flight 4 --seed 18446744073709551615 "
            "--check-seed 9");
  for (const char* user : {"reference", "check"}) {
    info.problem.key = user;
    info.problem.text = std::string(R"({"name":"copy",")") + user + R"(":{"program":["python3"]}})";
    EXPECT_THAT(command_of(store_.run(store_.start_run(info))), EndsWith(" --allow-programs"));
  }
}

TEST(ReportTimes, AreSecondsBetweenTimesOfTheDatabase) {
  EXPECT_DOUBLE_EQ(seconds_between("2026-11-22T20:10:02.420Z", "2026-11-22T20:10:12.932Z"), 10.512);
  EXPECT_DOUBLE_EQ(seconds_between("2026-12-31T23:59:59.000Z", "2027-01-01T00:00:01.500Z"), 2.5);
  EXPECT_THROW((void)seconds_between("yesterday", "2027-01-01T00:00:01.500Z"), DbError);
}

}  // namespace
}  // namespace evo
