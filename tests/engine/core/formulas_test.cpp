#include "engine/core/formulas.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

TEST(Formulas, StandWhereTheirNamesDo) {
  const Formulas formulas = {{"A", "B + 1"}, {"B", "7"}, {"C", "-1"}, {"D", "A"}};
  EXPECT_EQ(with_formulas("A * AB", formulas), "(7 + 1) * AB");
  EXPECT_EQ(with_formulas("min(D, C)^B", formulas), "min(((7 + 1)), (-1))^7");
  EXPECT_EQ(with_formulas("x = 1", {}), "x = 1")
      << "with_formulas() does not parse a text that contains no name of a formula";
  EXPECT_EQ(with_formulas(" N ", formulas), " N ");
  EXPECT_THROW((void)with_formulas("A = 1", formulas), InputError);
}

TEST(Formulas, NoFormulaNeedsItself) {
  EXPECT_THROW((void)with_formulas("A", {{"A", "A"}}), InputError);
  EXPECT_THROW((void)with_formulas("A", {{"A", "1 + B"}, {"B", "2 * A"}}), InputError);
  EXPECT_EQ(with_formulas("X", {{"A", "A"}, {"X", "1"}}), "1");
}

TEST(Formulas, NumbersKeepTheirValue) {
  EXPECT_EQ(formula_of(4096), "4096");
  EXPECT_EQ(formula_of(-3), "-3");
  EXPECT_EQ(formula_of(0.1), "0.1");
}

}  // namespace
}  // namespace evo
