// Compares the values of expressions in Python's syntax with Python's results, which
// python_expressions.py recorded.

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

TEST(PythonExpressions, MeanTheSameOrAreRefused) {
  std::istringstream table(read_text_file(std::filesystem::path(EVO_SOURCE_DIR) /
                                          "tests/engine/core/python_expressions.tsv"));
  int count = 0;
  int refused = 0;
  for (std::string line; std::getline(table, line); ++count) {
    const std::size_t tab = line.find('\t');
    const std::string text = line.substr(0, tab);
    const std::string expected = line.substr(tab + 1);
    try {
      const Expression expression(text, {{"A", 5}, {"B", -3}, {"C", 0}});
      const std::optional<double> value = expression.try_evaluate({});
      ASSERT_EQ(value.has_value(), expected != "none") << line;
      if (value) {
        EXPECT_EQ(*value, std::stod(expected)) << line;
      }
    } catch (const InputError&) {
      // Only expressions with lists are rejected: lists are supported after `in` only, whereas
      // Python can also compare, add and repeat lists.
      EXPECT_NE(text.find(" in "), std::string::npos) << line;
      ++refused;
    }
  }
  EXPECT_EQ(count, 1500);
  EXPECT_LT(refused, count / 5);
}

}  // namespace
}  // namespace evo
