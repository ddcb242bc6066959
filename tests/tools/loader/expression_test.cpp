// Tests that an expression has the same value in the loader of bundles (tools/loader) and in
// engine/core/expression.hpp.

#include "engine/core/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "engine/core/error.hpp"
#include "engine/core/expression_grammar.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tests/kernel_templates/placed_file.hpp"
#include "tools/loader/evo_tune.hpp"

namespace evo {
namespace {

const Values kValues = {{"A", 5}, {"B", -3}, {"C", 0}, {"D", 0.5}, {"E2", 64}};

std::optional<double> loaders(const std::string& text, const Values& values) {
  const std::string tree = translate_expression(text, {});
  const std::string json = R"({"expression": "x", "tree": )" + tree + "}";
  try {
    return evo_tune::detail::value_of(
        evo_tune::detail::JsonReader{json.c_str(), json.c_str()}.read(), values);
  } catch (const evo_tune::Error&) {
    return std::nullopt;
  }
}

/// The value of an expression by engine/core/expression.hpp; nullopt if the value is not finite.
/// Throws InputError if `text` is not an expression.
std::optional<double> engines(const std::string& text, const Values& values) {
  const Expression expression(text);
  std::vector<double> ordered;
  for (const std::string& name : expression.variables()) ordered.push_back(values.at(name));
  return expression.try_evaluate(ordered);
}

/// A random text that is an expression in most cases.
std::string random_text(std::mt19937_64& random, int depth) {
  const auto any = [&](const std::vector<const char*>& list) {
    return std::string(list[random() % list.size()]);
  };
  const auto inner = [&] { return random_text(random, depth - 1); };
  if (depth <= 0) {
    return any({"A", "B", "C", "D", "E2", "0", "1", "2", "7", "0.25", "1e2", "3.", ".5", "True",
                "false", "64"});
  }
  switch (random() % 12) {
    case 0:
      return "(" + inner() + ")";
    case 1:
      return any({"-", "+", "!", "not "}) + inner();
    case 2:
      return inner() + any({" + ", "-", " * "}) + inner();
    case 3:
      return inner() + any({"/", " // ", "%", " % "}) + inner();
    case 4:
      return inner() + any({"^", "**"}) + any({"2", "-1", "3", "0.5"});
    case 5:
      return inner() + any({" < ", "<=", " > ", ">=", "==", "!="}) + inner();
    case 6:
      return inner() + any({" && ", "||", " and ", " or "}) + inner();
    case 7:
      return inner() + " ? " + inner() + " : " + inner();
    case 8:
      return "(" + inner() + ") " + any({"in", "not in"}) + " [" + inner() + ", " + inner() + "]";
    case 9:
      return any({"ceil_div", "floor_div", "align_up", "min", "max"}) + "(" + inner() + "," +
             inner() + ")";
    case 10:
      return any({"floor", "ceil", "round", "sqrt", "exp", "ln", "log2", "abs", "is_pow2", "min"}) +
             "(" + inner() + ")";
    default:
      return inner() + any({" or ", " and ", "||", "&&", " == "}) + inner() +
             any({" or ", " and ", "||", "&&", " < "}) + inner();
  }
}

TEST(LoaderExpressions, MeanWhatTheyMeanToTheEngine) {
  std::mt19937_64 random(11);
  int read = 0;
  int valued = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_text(random, 1 + static_cast<int>(random() % 4));
    std::optional<double> expected;
    try {
      expected = engines(text, kValues);
    } catch (const InputError&) {
      continue;  // no expression
    }
    ++read;
    valued += expected.has_value() ? 1 : 0;
    const std::optional<double> found = loaders(text, kValues);
    ASSERT_EQ(found.has_value(), expected.has_value()) << text;
    if (expected) {
      ASSERT_EQ(*found, *expected) << text;
    }
  }
  EXPECT_GT(read, 10000);
  EXPECT_GT(valued, 5000);
  EXPECT_LT(valued, read);
}

TEST(LoaderExpressions, MeanWhatPythonMadeOfThem) {
  std::ifstream table(std::filesystem::path(EVO_SOURCE_DIR) /
                      "tests/engine/core/python_expressions.tsv");
  int count = 0;
  for (std::string line; std::getline(table, line);) {
    const std::string text = line.substr(0, line.find('\t'));
    const Values values = {{"A", 5}, {"B", -3}, {"C", 0}};
    try {
      const std::optional<double> expected = engines(text, values);
      EXPECT_EQ(loaders(text, values), expected) << line;
      ++count;
    } catch (const InputError&) {
      continue;  // the engine allows lists only after `in`
    }
  }
  EXPECT_GT(count, 1200);
}

/// The loader and the engine must give the same values for the grid and the dynamic shared memory
/// of the first step, and for the workspaces, of all milestones of three spaces of problem sdpa_fp8
/// on all its shapes.
TEST(LoaderExpressions, OfLaunchesAndWorkspacesAgree) {
  const std::filesystem::path root = EVO_SOURCE_DIR;
  int count = 0;
  for (const char* name : {"sdpa_fp8_mma_h200", "sdpa_fp8_wgmma_h200", "sdpa_fp8_wmma_h200"}) {
    const Space space(placed_file(root / "search_spaces" / (std::string(name) + ".json"),
                                  root / "kernel_templates"));
    const Problem problem = Problem::load(root / "kernel_templates/sdpa_fp8");
    const KernelSpec& kernel = problem.kernel(space.definition().template_name);
    for (const Shape& shape : problem.shapes) {
      for (const Milestone& milestone : space.definition().milestones) {
        const Values values = problem.values_for(shape, 132, space.values(milestone.candidate));
        const auto compare = [&](const Expression& expression) {
          EXPECT_EQ(loaders(expression.text(), values), expression.evaluate(values));
          ++count;
        };
        for (const Expression& size : kernel.steps.front().launch.grid) compare(size);
        compare(kernel.steps.front().launch.dynamic_shared_bytes);
        for (const auto& [argument, extent] : kernel.workspace) compare(extent);
      }
    }
  }
  EXPECT_GT(count, 1000);
}

TEST(LoaderExpressions, SayWhatIsWrong) {
  const auto message = [](const std::string& tree) -> std::string {
    const std::string json = R"({"expression": "X", "tree": )" + tree + "}";
    try {
      (void)evo_tune::detail::value_of(
          evo_tune::detail::JsonReader{json.c_str(), json.c_str()}.read(), kValues);
    } catch (const evo_tune::Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(R"(["/", 1, "C"])"), "X: division by zero");
  EXPECT_EQ(message(R"(["+", "A"])"), "X: '+' lacks an operand");
  EXPECT_EQ(message("[]"), "X: '' lacks an operand");
  EXPECT_EQ(message(R"(["+", "Y", 1])"), "X: 'Y' is unknown");
  EXPECT_EQ(message(R"(["sin", 1, 2])"), "X: 'sin' is unknown");
  EXPECT_EQ(message(R"(["^", 10, 400])"), "X: ^: no value");
  EXPECT_EQ(message(R"(["*", 1e200, 1e200])"), "X: the value is not finite");
  EXPECT_EQ(message(R"(["whole", 0.5, 0, 7])"), "X: 0.5; allowed: a whole number from 0 to 7");
  EXPECT_EQ(message(R"(["within", 9, -8, 8])"), "X: 9; allowed: a number from -8 to 8");
  EXPECT_EQ(message(R"(["?", 0, ["/", 1, 0], 2])"), "no error");
  EXPECT_NE(message(std::string(5000, '[')).find("nested too deeply"), std::string::npos);
}

TEST(LoaderExpressions, ATreeThatGrowsWithoutBoundIsRefused) {
  std::string text = "A";
  for (int i = 0; i < 40; ++i) text = "is_pow2(" + text + ")";
  EXPECT_THROW((void)translate_expression(text, {}), InputError);
}

}  // namespace
}  // namespace evo
