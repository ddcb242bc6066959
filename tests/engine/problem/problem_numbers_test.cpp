// Tests numbers in problem files: the allowed values, and the errors for other values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The error for the problem "planted" if its input x has the given dtype and generator; "" if
/// there is no error.
std::string about_input(const char* dtype, const Json& generator) {
  return complaint([&](Json& j) {
    j["arguments"][0]["dtype"] = dtype;
    j["arguments"][0]["generator"] = generator;
  });
}

TEST(ProblemFile, IntegersStayWithinWhatTheTypeHolds) {
  const auto integers = [](const char* dtype, const Json& low, const Json& high) {
    return about_input(dtype, {{"distribution", "integers"}, {"low", low}, {"high", high}});
  };
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(integers("u64", 0, kAll), "");
  EXPECT_EQ(integers("i64", kLowest, std::numeric_limits<std::int64_t>::max()), "");
  EXPECT_EQ(integers("i8", -128, 127.0), "");
  EXPECT_EQ(integers("f32", -16777216, 16777216), "");
  EXPECT_THAT(integers("i64", kLowest, kAll), AllOf(HasSubstr("generator.high"), HasSubstr("i64")));
  EXPECT_THAT(integers("u64", -1, 5), AllOf(HasSubstr("generator.low: -1"), HasSubstr("0 to 184")));
  EXPECT_THAT(integers("u8", 0, 256), HasSubstr("allowed for u8 are whole numbers from 0 to 255"));
  EXPECT_THAT(integers("f64", 0, kAll), HasSubstr("from -9007199254740992 to"));
  EXPECT_THAT(integers("e4m3", 0, 17), HasSubstr("-16 to 16"));
  EXPECT_THAT(integers("i32", 0.5, 7), HasSubstr("whole numbers"));
  EXPECT_THAT(integers("f32", -1e308, 1e308), HasSubstr("whole numbers"));
  EXPECT_THAT(integers("i32", 5, 4), HasSubstr("more than low"));
}

TEST(ProblemFile, AnInputIsOnlyConstantWhereItSaysSo) {
  const auto drawn = [](const char* dtype, const char* distribution, const char* first, double a,
                        const char* second, double b) {
    return about_input(dtype, {{"distribution", distribution}, {first, a}, {second, b}});
  };
  EXPECT_THAT(drawn("f32", "normal", "mean", 0, "std", 0), HasSubstr("constant"));
  EXPECT_THAT(drawn("f32", "normal", "mean", 0, "std", -1), HasSubstr("allowed: more than 0"));
  EXPECT_THAT(drawn("f32", "uniform", "low", 2, "high", 2), HasSubstr("more than low"));
  EXPECT_THAT(drawn("i32", "integers", "low", 2, "high", 2), HasSubstr("constant"));
  // A generator is rejected if its lowest and highest values are equal after rounding to the type.
  EXPECT_THAT(drawn("f16", "uniform", "low", 1, "high", 1.0001), HasSubstr("the same f16"));
  EXPECT_THAT(drawn("i8", "normal", "mean", 0, "std", 0.1), HasSubstr("the same i8"));
  EXPECT_THAT(drawn("f64", "normal", "mean", 1, "std", 1e-20), HasSubstr("the same f64"));
  // A generator is rejected if its lowest or highest value is outside the type's range.
  EXPECT_THAT(drawn("e4m3", "normal", "mean", 0, "std", 1000), HasSubstr("cannot hold"));
  EXPECT_THAT(drawn("f16", "uniform", "low", 0, "high", 1e6), HasSubstr("cannot hold"));
  EXPECT_THAT(drawn("u8", "normal", "mean", 0, "std", 1), HasSubstr("cannot hold"));
  EXPECT_EQ(about_input("u8", {{"distribution", "constant"}, {"value", 127}}), "");
  EXPECT_THAT(about_input("u8", {{"distribution", "constant"}, {"value", 300}}),
              HasSubstr("cannot hold"));
  EXPECT_THAT(about_input("i32", {{"distribution", "constant"}, {"value", 0.5}}),
              HasSubstr("whole number"));
}

TEST(ProblemFile, ScalarsFitTheirType) {
  const auto scalar = [](const char* dtype, const char* value) {
    return complaint([&](Json& j) {
      j["arguments"][2]["dtype"] = dtype;
      j["arguments"][2]["value"] = value;
    });
  };
  EXPECT_EQ(scalar("u32", "4294967295"), "");
  EXPECT_EQ(scalar("i32", "-2147483648"), "");
  EXPECT_EQ(scalar("f32", "1 / 3"), "");
  EXPECT_THAT(scalar("i32", "N + 0.5"), AllOf(HasSubstr("shapes."), HasSubstr("arguments[2].value"),
                                              HasSubstr("4096.5"), HasSubstr("i32")));
  EXPECT_THAT(scalar("u32", "4294967296"), HasSubstr("u32 cannot hold"));
  EXPECT_THAT(scalar("u32", "N - 5000"), HasSubstr("u32 cannot hold"));
  EXPECT_THAT(scalar("u64", "2^64"), HasSubstr("u64 cannot hold"));
  EXPECT_THAT(scalar("i64", "2^63"), HasSubstr("i64 cannot hold"));
  EXPECT_THAT(scalar("f32", "1e39"), HasSubstr("f32 cannot hold"));
}

TEST(ProblemFile, NumbersThatOnlyDependOnTheShapeAreOfASensibleKind) {
  const auto with = [](const char* pointer, const Json& value) {
    return complaint([&](Json& j) { j[Json::json_pointer(pointer)] = value; });
  };
  EXPECT_THAT(with("/flops", 0), AllOf(HasSubstr("flops"), HasSubstr("more than 0")));
  EXPECT_THAT(with("/bytes", "N - 4096"), HasSubstr("more than 0"));
  EXPECT_THAT(with("/bytes", "1 / (N - 1)"),
              AllOf(HasSubstr("shapes.single: bytes: "), HasSubstr("with N=1: division by zero")));
  EXPECT_THAT(with("/tolerance/max_abs_error", -1), HasSubstr("≥ 0"));
  EXPECT_THAT(with("/tolerance/bad_share", 7), HasSubstr("≤ 1"));
  EXPECT_THAT(with("/tolerance/relative_l2", "N * 1e300"), HasSubstr("≤ 1"));
  EXPECT_THAT(with("/tolerance/relative_l2", "N * 1e307"), HasSubstr("no finite value"));
  EXPECT_THAT(
      with("/tolerance/max_abs_error", "0,001"),
      AllOf(HasSubstr("tolerance.max_abs_error"), HasSubstr("position 2"), HasSubstr("0.001")));
  EXPECT_THAT(with("/arguments/1/extent", "2^40"), HasSubstr("1 TiB"));
  EXPECT_THAT(with("/arguments/1/extent", "N - 5"), HasSubstr("whole number of elements"));
  EXPECT_THAT(with("/reference/grid/0", "N / 2"), HasSubstr("allowed: a whole number from 1"));
  EXPECT_THAT(with("/templates/planted/dynamic_shared_bytes", -4),
              HasSubstr("whole number from 0"));
}

TEST(Tolerance, WhatDependsOnMacrosNamesThemWhenItFails) {
  Json json = planted();
  json["tolerance"]["relative_l2"] = "1 / (ITEMS - 1)";
  json["tolerance"]["bad_share"] = "ITEMS / 4";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  const ToleranceExpressions& tolerance = problem.templates.front().tolerance;
  EXPECT_EQ(tolerance.evaluate({{"ITEMS", 2}}).relative_l2, 1);
  const auto message = [&](double items) -> std::string {
    try {
      (void)tolerance.evaluate({{"ITEMS", items}});
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(1), AllOf(HasSubstr("problem.json: tolerance.relative_l2"),
                                HasSubstr("ITEMS=1"), HasSubstr("division by zero")));
  EXPECT_THAT(message(5), AllOf(HasSubstr("problem.json: tolerance.bad_share"),
                                HasSubstr("ITEMS=5"), HasSubstr("1.25")));
  EXPECT_THAT(message(-1), HasSubstr("≥ 0"));
}

}  // namespace
}  // namespace evo
