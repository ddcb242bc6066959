// Tests checks that run a part of the grid and compare its elements with expected data: which
// errors they must find, and when a part cannot represent the whole grid.

#include "engine/gate/correctness/element_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/core/json_reader.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/problem/npy.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/gate/made_gates.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kWidth = 64;  ///< elements of a CTA
constexpr std::size_t kCtas = 4096;

/// PTX of a kernel with CTAs of 64 threads that computes y[i] = x[i] + 1 for i < n. The
/// instructions in `before_store` may change %f2 (the result), %r3 (the index i) and %p1 (whether
/// the thread stores); %r1 is the CTA, %r2 the thread, and %r5 is n.
std::string kernel(const std::string& before_store = "", const std::string& more = "") {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<6>;
  .reg .b32 %r<8>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 64, %r2;
  setp.lt.u32 %p1, %r3, %r5;
  @!%p1 bra DONE;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, 0f3F800000;)" +
         before_store + R"(
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd5, %rd2, %rd3;
  @%p1 st.global.f32 [%rd5], %f2;)" +
         more + R"(
DONE:
  ret;
}
)";
}

float x_of(std::size_t i) { return static_cast<float>(i % 1021) / 8; }

class ElementSampleTest : public testing::Test {
 protected:
  CorrectnessResult check(const std::string& ptx) {
    write_file(folder_.path() / "add.cu", "");
    std::vector<float> expected = before_;
    expected.resize(elements_);
    for (std::size_t i = first_; i + first_ < elements_; ++i) expected[i] = x_of(i) + 1;
    write_npy(folder_.path() / "y.npy", Dtype::kF32, std::as_bytes(std::span(expected)));
    const Problem problem = Problem::parse(json_.dump(), folder_.path());
    const auto device = open_virtual_device("virtual:l4", {.threads = 2});
    const auto work = make_host_work(*device);
    MadeGates made(*work, problem, std::nullopt, 1);
    const auto id = device->load({.ptx = ptx, .cubin = {}, .entries = {"add"}});
    if (const auto* fault = std::get_if<Fault>(&id)) throw std::runtime_error(fault->reason);
    const LoadedKernel loaded = {std::get<KernelId>(id), &problem.templates.front(), {}};
    CorrectnessGate gate(*work, problem, made.cases, made.judge, {.flops_of_whole_grids = 4096});
    return gate.check(loaded, {&problem.shape("long")}, CheckKind::kFull, {},
                      [](const std::string&) {});
  }
  static std::string reason_of(const CorrectnessResult& result) {
    return result.rejection ? result.rejection->reason : "passed";
  }
  /// Returns the part of the grid that ran, in words ("": the whole grid), or the reason if the
  /// kernel was rejected.
  static std::string sampled(const CorrectnessResult& result) {
    return result.rejection ? result.rejection->reason : result.checks.front().sampled;
  }
  void set_elements(std::size_t elements) {
    elements_ = elements;
    json_["shapes"]["long"]["variables"]["N"] = elements;
  }
  /// Makes y an inout argument whose first and last `border` elements must keep their content.
  void make_inout(std::size_t border) {
    first_ = border;
    json_["arguments"][1]["direction"] = "inout";
    json_["arguments"][1]["generator"] = {{"formula", "-1 - INDEX % 7"}};
    for (std::size_t i = 0; i < elements_; ++i) before_.push_back(-1 - static_cast<float>(i % 7));
  }

  sample::TemporaryFolder folder_;
  std::size_t elements_ = kWidth * kCtas;
  std::size_t first_ = 0;
  std::vector<float> before_;
  Json json_ = Json::parse(R"json({
    "format": "evo-tune problem 1", "name": "add",
    "arguments": [
      {"name": "x", "direction": "in", "dtype": "f32", "extent": "N",
       "generator": {"formula": "INDEX % 1021 / 8"}},
      {"name": "y", "direction": "out", "dtype": "f32", "extent": "N"},
      {"name": "n", "direction": "scalar", "dtype": "u32", "value": "N"}],
    "shapes": {"long": {"variables": {"N": 262144}}},
    "tolerance": {"max_abs_error": 0.01, "bad_abs_error": 0.001, "bad_share": 0.5,
                  "relative_l2": 1},
    "flops": "N", "bytes": "8*N",
    "reference": {"files": {"y": "y.npy"}},
    "templates": {"add": {"source": "add.cu", "entry": "add", "grid": ["ceil_div(N, 64)"],
                          "block": [64], "independent_ctas": 1}}})json");
};

TEST_F(ElementSampleTest, AnHonestKernelPassesAndTheReportSaysWhatWasRun) {
  EXPECT_EQ(sampled(check(kernel())), "65 of 4096 CTAs, 4160 of 262144 elements compared");
}

TEST_F(ElementSampleTest, ARaggedLastCtaIsAPlaceOfItsOwn) {
  set_elements(kWidth * kCtas - 10);
  EXPECT_EQ(sampled(check(kernel())), "66 of 4096 CTAs, 4214 of 262134 elements compared");
}

TEST_F(ElementSampleTest, OneWrongElementOfEveryCtaIsFoundWhereItIs) {
  const std::string reason = reason_of(check(kernel(R"(
  setp.eq.u32 %p2, %r2, 5;
  @%p2 add.f32 %f2, %f2, 0f3F000000;)")));
  EXPECT_THAT(reason, AllOf(StartsWith("shape long, seed "), HasSubstr("max abs error 0.5")));
  const std::size_t name = reason.find("y[");
  ASSERT_NE(name, std::string::npos) << reason;
  EXPECT_EQ(std::stoul(reason.substr(name + 2)) % kWidth, 5U)
      << "the index counts from the start of the whole output";
}

TEST_F(ElementSampleTest, TheFirstAndTheLastCtaAlwaysRun) {
  for (const char* cta : {"0", "4095"}) {
    EXPECT_THAT(reason_of(check(kernel("\n  setp.eq.u32 %p2, %r1, " + std::string(cta) +
                                       ";\n  @%p2 add.f32 %f2, %f2, 0f3F000000;"))),
                HasSubstr("max abs error 0.5"));
  }
}

/// If a CTA leaves out an element, no CTA writes the element, so the traced stores do not cover the
/// output and the whole grid runs.
TEST_F(ElementSampleTest, AnElementThatIsLeftOutIsNeverMissed) {
  for (const char* thread : {"0", "31", "63"}) {
    EXPECT_THAT(reason_of(check(kernel("\n  setp.ne.u32 %p1, %r2, " + std::string(thread) + ";"))),
                ContainsRegex("y.[0-9]+. was never written"));
  }
}

TEST_F(ElementSampleTest, CtasThatOverlapCannotStandForAll) {
  // Each CTA also writes the first element of the next CTA.
  EXPECT_EQ(sampled(check(kernel("", R"(
  add.s32 %r6, %r3, 64;
  setp.lt.u32 %p3, %r6, %r5;
  setp.eq.u32 %p4, %r2, 0;
  and.pred %p3, %p3, %p4;
  @%p3 ld.global.f32 %f3, [%rd4+256];
  add.f32 %f3, %f3, 0f3F800000;
  @%p3 st.global.f32 [%rd5+256], %f3;)"))),
            "");
}

/// All written values are right, but several CTAs write the same part of the output, so other parts
/// are never written.
TEST_F(ElementSampleTest, CtasThatLoseAPartOfTheirIndexCannotStandForAll) {
  for (const char* cta : {"and.b32 %r6, %r1, 2047", "shr.u32 %r6, %r1, 1"}) {
    EXPECT_THAT(reason_of(check(kernel("\n  " + std::string(cta) + R"(;
  mad.lo.s32 %r3, %r6, 64, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, 0f3F800000;)"))),
                HasSubstr("was never written"))
        << cta;
  }
}

TEST_F(ElementSampleTest, WhatTheDeviceSeesInAPartCounts) {
  // The stored values are right, but the kernel also reads before the buffer.
  EXPECT_THAT(reason_of(check(kernel("\n  ld.global.f32 %f3, [%rd1+-4096];"))),
              AllOf(StartsWith("shape long, seed "), HasSubstr("out-of-bounds")));
}

TEST_F(ElementSampleTest, AGridOfFewCtasRunsWhole) {
  set_elements(kWidth * 8);
  json_["flops"] = "1000*N";
  EXPECT_EQ(sampled(check(kernel())), "");
}

TEST_F(ElementSampleTest, APartInWhichNothingIsComparedIsNone) {
  // No element is expected to change, which the problem file allows by "degenerate": true.
  make_inout(elements_);
  json_["arguments"][1]["degenerate"] = true;
  EXPECT_EQ(sampled(check(kernel("\n  setp.eq.u32 %p1, %r2, 64;"))), "");
}

TEST_F(ElementSampleTest, OnlyKernelsThatSaySoAreSampled) {
  json_["templates"]["add"]["independent_ctas"] = 0;
  EXPECT_EQ(sampled(check(kernel())), "");
}

/// The norm of a row cannot be computed from a part of the row, so the whole grid runs if there is
/// a bound on row errors.
TEST_F(ElementSampleTest, ABoundOfRowsNeedsTheWholeGrid) {
  json_["arguments"][1]["row"] = 16;
  EXPECT_EQ(sampled(check(kernel())), "65 of 4096 CTAs, 4160 of 262144 elements compared");
  json_["tolerance"]["max_row_error"] = 0.1;
  EXPECT_EQ(sampled(check(kernel())), "");
}

TEST_F(ElementSampleTest, OfAnInoutArgumentWhatChangesAddsUp) {
  constexpr std::size_t kBorder = 3;
  make_inout(kBorder);
  const std::string inside = R"(
  setp.ge.u32 %p2, %r3, 3;
  and.pred %p1, %p1, %p2;
  sub.s32 %r6, %r5, 3;
  setp.lt.u32 %p2, %r3, %r6;
  and.pred %p1, %p1, %p2;)";
  EXPECT_EQ(sampled(check(kernel(inside))), "65 of 4096 CTAs, 4154 of 262144 elements compared");
  // The first and the last CTA also change the elements of the border, so the whole grid runs and
  // the check fails.
  EXPECT_THAT(reason_of(check(kernel())), HasSubstr("y["));
  // Each CTA leaves one element unchanged.
  EXPECT_THAT(reason_of(check(kernel(inside + R"(
  setp.ne.u32 %p2, %r2, 17;
  and.pred %p1, %p1, %p2;)"))),
              HasSubstr("y["));
}

}  // namespace
}  // namespace evo
