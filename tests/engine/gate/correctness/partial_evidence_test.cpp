// Tests kernels that are wrong in only one launch or CTA, and that no part of the grid is left out
// of the check if the problem has an argument that kernels change in place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/json_reader.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/correctness/sampled_check.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/gate/made_gates.hpp"

namespace evo::partial_evidence_test {
namespace {

using testing::HasSubstr;

/// PTX of a kernel y = x + 1 with one CTA of 64 threads for each row of 64 elements. The
/// instructions in `before_store` may change %p1 (whether the thread stores); %r1 is the CTA, %r2
/// the thread.
std::string kernel(const std::string& before_store = "") {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 launches;
.visible .entry rows(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<6>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  setp.ge.u32 %p1, %r2, 0;
)" + before_store +
         R"(
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, 0f3F800000;
  @%p1 st.global.f32 [%rd5], %f2;
  ret;
}
)";
}

Json problem_json(int rows) {
  Json json = Json::parse(R"({
    "format": "evo-tune problem 1", "name": "rows",
    "arguments": [
      {"name": "x", "direction": "in", "dtype": "f32", "extent": "64*R",
       "generator": {"distribution": "normal"}},
      {"name": "y", "direction": "out", "dtype": "f32", "extent": "64*R", "row": 64}],
    "shapes": {"only": {"variables": {}}},
    "tolerance": {"max_abs_error": 0.01, "bad_abs_error": 0.001, "bad_share": 0.5,
                  "relative_l2": 1, "max_row_error": 0.1},
    "flops": "64*R", "bytes": "512*R",
    "reference": {"source": "rows.cu", "entry": "rows", "grid": ["R"], "block": [64],
                  "cta_of_row": "ROW"},
    "templates": {"rows": {"source": "rows.cu", "entry": "rows", "grid": ["R"], "block": [64],
                           "independent_ctas": "1"}}})");
  json["shapes"]["only"]["variables"]["R"] = rows;
  return json;
}

class PartialEvidence : public testing::Test {
 protected:
  PartialEvidence() { write_file(folder_.path() / "rows.cu", ""); }

  [[nodiscard]] Problem problem(const Json& json) const {
    return Problem::parse(json.dump(), folder_.path());
  }

  /// Runs the correctness gate, which runs only a part of a grid of more than 64 CTAs. Returns the
  /// reason of the rejection, or "passed".
  [[nodiscard]] std::string reason_of(const std::string& ptx, int rows) const {
    const Problem rows_problem = problem(problem_json(rows));
    const auto device = open_virtual_device("virtual:l4", {.threads = 1});
    const auto work = make_host_work(*device);
    MadeGates made(*work, rows_problem, load(*device, kernel()), 1);
    const LoadedKernel loaded = {load(*device, ptx), &rows_problem.templates.front(), {}};
    CorrectnessGate gate(*work, rows_problem, made.cases, made.judge,
                         {.flops_of_whole_grids = 4096});
    const CorrectnessResult result = gate.check(loaded, {&rows_problem.shape("only")},
                                                CheckKind::kFull, {}, [](const std::string&) {});
    return result.rejection ? result.rejection->reason : "passed";
  }

  static KernelId load(Device& device, const std::string& ptx) {
    const auto loaded = device.load({.ptx = ptx, .cubin = {}, .entries = {"rows"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) ADD_FAILURE() << fault->reason;
    return std::get<KernelId>(loaded);
  }

  sample::TemporaryFolder folder_;
};

TEST_F(PartialEvidence, HonestKernelsPass) {
  EXPECT_EQ(reason_of(kernel(), 1), "passed");
  EXPECT_EQ(reason_of(kernel(), 4096), "passed");
}

TEST_F(PartialEvidence, AFaultInOneOfManyLaunchesIsTheReason) {
  // The kernel is wrong in one launch; launches before and after it are right.
  const std::string reason = reason_of(kernel(R"(
  setp.eq.u32 %p2, %r2, 0;
  mov.u64 %rd6, launches;
  mov.u32 %r4, 0;
  @%p2 atom.global.add.u32 %r4, [%rd6], 1;
  setp.eq.u32 %p3, %r4, 500;
  @%p3 trap;)"),
                                       1);
  EXPECT_THAT(reason, HasSubstr("trap"));
}

TEST_F(PartialEvidence, OneCtaThatWritesAPartOfItsRowIsNotLeftOut) {
  // The check always runs the last CTA of the grid.
  EXPECT_THAT(reason_of(kernel(R"(
  setp.ne.u32 %p2, %r1, 4095;
  setp.lt.or.u32 %p1, %r2, 32, %p2;)"),
                        4096),
              HasSubstr("y[" + std::to_string(4095 * 64 + 32) + "] was never written"));
}

TEST_F(PartialEvidence, AProblemThatChangesAnArgumentInPlaceIsNotSampled) {
  Json json = problem_json(4096);
  const auto is_possible = [&] {
    const Problem checked = problem(json);
    return SampledCheck::is_possible(checked, checked.shape("only").variables);
  };
  EXPECT_TRUE(is_possible());
  json["arguments"].push_back({{"name", "z"},
                               {"direction", "inout"},
                               {"dtype", "f32"},
                               {"extent", "64*R"},
                               {"row", 64},
                               {"generator", {{"distribution", "normal"}}}});
  EXPECT_FALSE(is_possible())
      << "a kernel's second launch depends on the results of its first launch";
}

}  // namespace
}  // namespace evo::partial_evidence_test
