#include "engine/ptx/lexer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/ptx/token_stream.hpp"

namespace evo::ptx {
namespace {

using Kind = Token::Kind;

TEST(PtxLexer, KeepsOpcodesWholeAndCutsDirectives) {
  const auto tokens =
      split_tokens("ld.global.v2.u32 {%r1,_}, [%rd1+-4]; .reg.b16 a; // x\n/* y\n */ L:");
  std::vector<std::string> texts;
  for (const Token& token : tokens) texts.emplace_back(token.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"ld.global.v2.u32",
                                             "{",
                                             "%r1",
                                             ",",
                                             "_",
                                             "}",
                                             ",",
                                             "[",
                                             "%rd1",
                                             "+",
                                             "-",
                                             "4",
                                             "]",
                                             ";",
                                             ".reg",
                                             ".b16",
                                             "a",
                                             ";",
                                             "L",
                                             ":",
                                             ""}));
  EXPECT_EQ(tokens[tokens.size() - 2].line, 3);
}

TEST(PtxLexer, KeepsCacheHintsInOpcodes) {
  for (const std::string opcode :
       {"cp.async.cg.shared.global.L2::128B", "ld.global.nc.L1::no_allocate.L2::256B.v4.f32"}) {
    const std::string text = opcode + " [%r1], 16;";
    const auto tokens = split_tokens(text);
    EXPECT_EQ(tokens[0].text, opcode);
    EXPECT_EQ(tokens[1].text, "[");
  }
}

std::vector<Kind> kinds_of(std::string_view text) {
  std::vector<Kind> kinds;
  for (const Token& token : split_tokens(text)) kinds.push_back(token.kind);
  return kinds;
}

std::string error_of(const std::string& text) {
  try {
    const TokenStream tokens(text);
  } catch (const PtxError& error) {
    return error.what();
  }
  return {};
}

TEST(PtxLexer, TellsTheKindsOfTokens) {
  EXPECT_EQ(kinds_of("@%p bra $L; .f 0f3F 1.5e-3 \"a // b\" cp.shared::cta"),
            (std::vector{Kind::kPunctuation, Kind::kWord, Kind::kWord, Kind::kWord,
                         Kind::kPunctuation, Kind::kDirective, Kind::kNumber, Kind::kNumber,
                         Kind::kString, Kind::kWord, Kind::kEnd}));
}

TEST(PtxLexer, WhatHasNoEndIsOneTokenWithAllThatFollows) {
  for (const std::string rest : {"/* x\nret;", "\"x; ret;", "\"x\n\" ret;"}) {
    const std::string text = "a " + rest;
    const auto tokens = split_tokens(text);
    ASSERT_EQ(tokens.size(), 3U) << rest;
    EXPECT_EQ(tokens[1].kind, Kind::kUnknown);
    EXPECT_EQ(tokens[1].text, rest);
  }
}

TEST(PtxLexer, GoesOnBehindACharacterThatPtxHasNot) {
  EXPECT_EQ(kinds_of("a # b"), (std::vector{Kind::kWord, Kind::kUnknown, Kind::kWord, Kind::kEnd}));
  EXPECT_EQ(kinds_of({"a\0b", 3}),
            (std::vector{Kind::kWord, Kind::kUnknown, Kind::kWord, Kind::kEnd}));
}

TEST(TokenStream, SaysWhatIsNoPtxAndWhere) {
  EXPECT_EQ(error_of("ret;\n# x"), "unexpected character at line 2");
  EXPECT_EQ(error_of("ret;\n\n\"x"), "unfinished string at line 3");
  EXPECT_EQ(error_of("ret;\n/* x\n"), "unfinished comment at line 2");
  EXPECT_EQ(error_of("/* a\n */ ret; // # \" /*"), "");
}

}  // namespace
}  // namespace evo::ptx
