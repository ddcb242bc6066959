#include "engine/intake/python_list.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

std::string read_list(std::string_view text) { return Json(python_list(text)).dump(); }

TEST(PythonList, EverySpellingFoundInTheWild) {
  EXPECT_EQ(read_list("[16, 32, 48]"), "[16,32,48]");
  EXPECT_EQ(read_list("[0]"), "[0]");
  EXPECT_EQ(read_list("(1, 2,)"), "[1,2]");
  EXPECT_EQ(read_list("list(range(1, 9))"), "[1,2,3,4,5,6,7,8]");
  EXPECT_EQ(read_list("range(6, 0, -2)"), "[6,4,2]");
  EXPECT_EQ(read_list("[2**i for i in range(5)]"), "[1,2,4,8,16]");
  EXPECT_EQ(read_list("[32 * i for i in range(1, 4)]"), "[32,64,96]");
  EXPECT_EQ(read_list("[i for i in range(1, 2+1)]"), "[1,2]");
  EXPECT_EQ(read_list("[1] + [2 * i for i in range(1, 4)]"), "[1,2,4,6]");
  EXPECT_EQ(read_list("[1, 2, 4] + list(range(32, 96+1, 32))"), "[1,2,4,32,64,96]");
  EXPECT_EQ(read_list("[128+64*i for i in range(3)]"), "[128,192,256]");
  EXPECT_EQ(read_list("[i*j for i in (1, 2) for j in [1, 3] if i*j != 3]"), "[1,2,6]");
  EXPECT_EQ(read_list("list(2**i for i in range(3))"), "[1,2,4]");
}

TEST(PythonList, KindsOfValuesAreKept) {
  EXPECT_EQ(read_list("[True, False]"), "[true,false]");
  EXPECT_EQ(read_list("['xor', \"a,b\"]"), R"(["xor","a,b"])");
  EXPECT_EQ(read_list("[0.5, 1.0]"), "[0.5,1.0]");
  EXPECT_EQ(read_list("[1/2, -3]"), "[0.5,-3]");
}

TEST(PythonList, SortedListsAreSortedAsInPython) {
  EXPECT_EQ(read_list("sorted([32, 4, 8.5, 16])"), "[4,8.5,16,32]");
  EXPECT_EQ(read_list("sorted(-i for i in range(3))"), "[-2,-1,0]");
  EXPECT_EQ(read_list("sorted(['b', 'ab', 'B'])"), R"(["B","ab","b"])");
  EXPECT_EQ(read_list("sorted([True, 0, False, 2])"), "[0,false,true,2]");
  EXPECT_EQ(read_list("list(sorted((2, 1))) + sorted([])"), "[1,2]");
}

TEST(PythonList, EverythingElseIsRefused) {
  for (const char* text : {"", "sorted([1, 'a'])", "sorted([1, 2], reverse=True)", "16", "[1, 2",
                           "range()", "range(1, 5, 0)", "[i for j in range(3)]", "open('x')",
                           "[x for x in 3]", "[1,,2]", "list(range(100000))", "[1] * 3",
                           "range(0.5)", "[0 for i in range(2000) for j in range(2000) if 0]"}) {
    EXPECT_THROW((void)python_list(text), InputError) << text;
  }
}

TEST(PythonList, SplitsOutsideOfBracketsAndQuotes) {
  EXPECT_EQ(split_outside(" a, f(b, c) ,'d,e'", ',').size(), 3U);
  EXPECT_EQ(split_outside(" a, f(b, c)", ',')[1], "f(b, c)");
  EXPECT_TRUE(split_outside("  ", ',').empty());
}

}  // namespace
}  // namespace evo
