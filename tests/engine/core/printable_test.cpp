#include "engine/core/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/core/random.hpp"

namespace evo {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "plain\ttext\n", "Größe µs … 漢字 🚀"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatIsNoTextIsShown) {
  EXPECT_EQ(printable(std::string_view("\0ptxas", 6)), "\\x00ptxas");
  EXPECT_EQ(printable("a\x1b[31m\r\x7f"), "a\\x1b[31m\\x0d\\x7f");
  EXPECT_EQ(printable("\xff\xc0\xaf \xed\xa0\x80 \xe6\xbc"),
            "\\xff\\xc0\\xaf \\xed\\xa0\\x80 \\xe6\\xbc");
}

TEST(Printable, LongTextIsShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("longer", 4), "long…");
  EXPECT_EQ(shortened("aµµ", 4), "aµ…");
  EXPECT_EQ(shortened("漢字", 2), "…");
  EXPECT_EQ(shortened("\x80\x80\x80", 2), "…") << "no character at all";
}

TEST(Printable, AnyBytesBecomeTextThatJsonTakes) {
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random.below(40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    const std::string text = printable(bytes);
    EXPECT_NO_THROW((void)nlohmann::json(text).dump());
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(text.empty(), bytes.empty());
  }
}

}  // namespace
}  // namespace evo
