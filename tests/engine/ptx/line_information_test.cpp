#include "engine/ptx/line_information.hpp"

#include <gtest/gtest.h>

#include <string>

namespace evo::ptx {
namespace {

/// The first token after the line information at the start of `text`; "none" if `text` does not
/// start with line information.
std::string behind(const std::string& text) {
  const auto tokens = split_tokens(text);
  const std::size_t length = length_of_line_information(tokens);
  return length == 0 ? "none" : std::string(tokens.at(length).text);
}

TEST(LineInformation, EndsWhereThePtxIsaSays) {
  EXPECT_EQ(behind(".loc 1 2 3 ret;"), "ret");
  EXPECT_EQ(behind(".loc 1 2 3, function_name $L, inlined_at 1 2 3 ret;"), "ret");
  EXPECT_EQ(behind(".loc 1 2 3, function_name $L+4, inlined_at 1 2 3 ret;"), "ret");
  EXPECT_EQ(behind(".file 1 \"a.cu\" ret;"), "ret");
  EXPECT_EQ(behind(".file 1 \"a.cu\", 12, 34 ret;"), "ret");
  EXPECT_EQ(behind(".section .debug_str { { } 1 } ret;"), "ret");
}

TEST(LineInformation, IsNoneWhereItIsWrittenInAnotherWay) {
  for (const char* text :
       {"", "ret;", ".loc", ".loc 1 2", ".loc 1 2 x", ".loc 1 2 0f3", ".loc 1 2 3,",
        ".loc 1 2 3, function_name L", ".loc 1 2 3, inlined_at 1 2", ".file", ".file 1",
        ".file x \"a\"", ".section .debug_str", ".section .x { }", ".section .debug_str { {"})
    EXPECT_EQ(behind(text), "none") << text;
}

}  // namespace
}  // namespace evo::ptx
