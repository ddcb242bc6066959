#include "engine/device/virtual/execute/print_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "engine/device/virtual/execute/print_log.hpp"

namespace evo::ptx {
namespace {

/// Formats the printf() format string `format`. `arguments`: the argument buffer of the call, in
/// words of 8 bytes.
PrintedText print(std::string_view format, const std::vector<std::uint64_t>& arguments) {
  return format_print(format, {.argument =
                                   [&](std::uint32_t offset, std::uint32_t bytes) {
                                     const std::uint64_t value = arguments.at(offset / 8);
                                     return bytes == 8 ? value
                                                       : value >> (offset % 8 * 8) & 0xffffffffU;
                                   },
                               .string = [](std::uint64_t) { return std::string("text"); }});
}

TEST(PrintFormat, ArgumentsLieOnMultiplesOfTheirSize) {
  const std::uint64_t two = 7ULL << 32 | 5;
  EXPECT_EQ(print("%d %d %lld", {two, 9}).text, "5 7 9");
  EXPECT_EQ(print("%d %lld %d", {5, 9, 4}).text, "5 9 4");
  EXPECT_EQ(print("%d %f", {5, std::bit_cast<std::uint64_t>(0.5)}).text, "5 0.500000");
}

TEST(PrintFormat, WhatItDoesNotKnowStandsAsItIsWritten) {
  EXPECT_EQ(print("%n %y %", {}).text, "%n %y %");
  EXPECT_EQ(print("%n", {}).arguments, 0);
  EXPECT_EQ(print("100%%", {}).text, "100%");
}

TEST(PrintFormat, WidthsAndPrecisions) {
  EXPECT_EQ(print("[%5d|%-5d|%05d|%+d|% d]", {1ULL | 2ULL << 32, 3ULL | 4ULL << 32, 5}).text,
            "[    1|2    |00003|+4| 5]");
  EXPECT_EQ(print("[%*d]", {static_cast<std::uint32_t>(-4) | 7ULL << 32}).text, "[7   ]");
  EXPECT_EQ(print("[%.*s]", {2, 1}).text, "[te]");
  EXPECT_EQ(print("[%.*s]", {0xffffffffU, 1}).text, "[text]");
  EXPECT_EQ(print("%99999999999d", {1}).text.size(), 4096U);
  EXPECT_EQ(print("%.4096f", {std::bit_cast<std::uint64_t>(-1e308)}).text.size(), 4096U + 311);
}

TEST(PrintFormat, NullStringsAndPointers) {
  EXPECT_EQ(print("%s", {0}).text, "(null)");
  EXPECT_EQ(print("%p", {255}).text, "0xff");
}

TEST(PrintFormat, AtMostThirtyTwoArguments) {
  std::string format;
  for (int i = 0; i < 34; ++i) format += "%lld ";
  const PrintedText printed = print(format, std::vector<std::uint64_t>(40, 1));
  EXPECT_EQ(printed.arguments, 32);
  EXPECT_TRUE(printed.text.ends_with("1 1 %lld %lld ")) << printed.text;
}

TEST(PrintLog, CtasInOrderAndWhatWasDropped) {
  PrintLog log;
  log.add(2, "two\n");
  log.add(0, "zero\n");
  log.add(2, "more\n");
  EXPECT_EQ(log.text(), "zero\ntwo\nmore\n");
  log.add(1, std::string(PrintLog::kMostBytes, 'x'));
  EXPECT_EQ(log.text().size(),
            PrintLog::kMostBytes +
                std::strlen("\n[printf: 14 more bytes dropped, the limit is 1048576]\n"));
  EXPECT_TRUE(log.text().ends_with("\n[printf: 14 more bytes dropped, the limit is 1048576]\n"));
}

}  // namespace
}  // namespace evo::ptx
