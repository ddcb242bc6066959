#include "engine/ptx/parser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "engine/core/random.hpp"
#include "engine/device/virtual/decode/decoder.hpp"
#include "engine/ptx/token_stream.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::ptx {
namespace {

std::string module_of(const std::string& body, const std::string& before = {}) {
  std::string text = ".version 8.0\n.target sm_89\n.address_size 64\n";
  text.append(before)
      .append("\n.visible .entry k(.param .u64 p)\n{\n")
      .append(body)
      .append("\n}\n");
  return text;
}

std::string decode_error(const std::string& text) {
  try {
    (void)decode_entry(parse_ptx(text), "k", {});
  } catch (const PtxError& error) {
    return error.what();
  }
  return {};
}

TEST(PtxLiteral, ReadsEveryNotation) {
  EXPECT_EQ(parse_literal("42", 1).bits, 42U);
  EXPECT_EQ(parse_literal("0x1F", 1).bits, 31U);
  EXPECT_EQ(parse_literal("017", 1).bits, 15U);
  EXPECT_EQ(parse_literal("0b101", 1).bits, 5U);
  EXPECT_EQ(parse_literal("7U", 1).bits, 7U);
  EXPECT_EQ(parse_literal("0f3F800000", 1).bits, 0x3f800000U);
  EXPECT_EQ(parse_literal("0f3F800000", 1).kind, Literal::Kind::kFloat32);
  EXPECT_EQ(parse_literal("0d3FF0000000000000", 1).bits, 0x3ff0000000000000U);
  EXPECT_EQ(parse_literal("1.5", 1).bits, 0x3ff8000000000000U);
  EXPECT_THROW((void)parse_literal("0x", 1), PtxError);
  EXPECT_THROW((void)parse_literal("12abc", 1), PtxError);
}

TEST(PtxParser, BracesOfInlineAssemblyHaveTheirOwnNames) {
  const Module module = parse_ptx(module_of(R"(
    .reg .pred p; .reg .b32 %r<3>;
    { .reg .pred p; .reg .b32 t; setp.eq.u32 p, %r1, 0; LOOP: @p bra LOOP; mov.u32 t, 1; }
    { .reg .pred p; setp.eq.u32 p, %r2, 0; LOOP: @p bra LOOP; }
    @p bra DONE;
    DONE: ret;)"));
  const Function& f = module.functions.at("k");
  ASSERT_EQ(f.body.size(), 7U);
  EXPECT_NE(f.body[0].operands[0].reg, f.body[3].operands[0].reg);
  EXPECT_NE(f.body[1].operands[0].label, f.body[4].operands[0].label);
  EXPECT_EQ(f.body[5].guard, 0);
  EXPECT_EQ(f.labels[static_cast<std::size_t>(f.body[5].operands[0].label)], 6);
}

TEST(PtxParser, ReadsVariablesAndSourceLines) {
  const Module module = parse_ptx(module_of(
      ".shared .align 8 .b8 tile[64];\n.loc 1 12 3, function_name $L1, inlined_at 1 5 1\nret;",
      ".const .align 4 .f32 c[2] = {0f3F800000, 2.0};\n.global .u64 table[2] = {c, 0};\n"
      ".extern .shared .align 16 .b8 dynamic[];\n.file 1 \"a.cu\""));
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[0].bytes, 8U);
  EXPECT_EQ(module.variables[0].initial[7], 0x40);
  EXPECT_EQ(module.variables[1].references.at(0), "c");
  EXPECT_EQ(module.variables[2].bytes, 0U);
  EXPECT_EQ(module.files.at(1), "a.cu");
  const Function& f = module.functions.at("k");
  EXPECT_EQ(f.variables.back().bytes, 64U);
  EXPECT_EQ(f.body[0].location.line, 12);
}

TEST(PtxParser, AMinusChangesTheSignOfAFloatInAnInitialiser) {
  const Module module = parse_ptx(module_of("ret;",
                                            ".global .align 4 .f32 a[2] = {-1.5, -0.0};\n"
                                            ".global .align 8 .f64 b = -1.5;\n"
                                            ".global .align 4 .s32 c = -2;"));
  const auto bytes = [](auto value) {
    const auto raw = std::bit_cast<std::array<std::uint8_t, sizeof value>>(value);
    return std::vector<std::uint8_t>(raw.begin(), raw.end());
  };
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[0].initial, bytes(std::array{-1.5F, -0.0F}));
  EXPECT_EQ(module.variables[1].initial, bytes(-1.5));
  EXPECT_EQ(module.variables[2].initial, bytes(-2));
}

TEST(PtxParser, ElementsOfAnInitialiserHaveTheBytesThatPtxasGivesThem) {
  const Module module = parse_ptx(module_of("ret;",
                                            ".global .align 16 .b128 a[2] = {1, -2};\n"
                                            ".global .align 16 .v2 .u64 b[2] = {{1, 2}, {3, 4}};"));
  const auto bytes = [](std::array<std::uint64_t, 4> values) {
    const auto raw = std::bit_cast<std::array<std::uint8_t, sizeof values>>(values);
    return std::vector<std::uint8_t>(raw.begin(), raw.end());
  };
  ASSERT_EQ(module.variables.size(), 2U);
  EXPECT_EQ(module.variables[0].initial, bytes({1, 0, ~1ULL, 0}));
  EXPECT_EQ(module.variables[1].initial, bytes({1, 2, 3, 4}));
}

TEST(PtxDecoder, NamesAnUnknownInstructionAndItsLine) {
  EXPECT_EQ(decode_error(module_of(".reg .b32 %r<2>;\nfrobnicate.u32 %r1, %r0;\nret;")),
            "not supported: frobnicate.u32 at line 8");
  EXPECT_EQ(decode_error(module_of(".reg .b32 %r<2>;\nadd.weird.u32 %r1, %r0, 1;\nret;")),
            "not supported: add.weird.u32 at line 8");
  EXPECT_NE(decode_error(module_of(".reg .b64 %rd<2>;\ncp.reduce.async.bulk.tensor;\nret;")), "");
}

TEST(PtxDecoder, IgnoresWhatTheEntryCannotReach) {
  EXPECT_EQ(decode_error(module_of(".reg .b32 %r<2>;\nret;\nfrobnicate.u32 %r1, %r0;")), "");
  EXPECT_NE(
      decode_error(module_of(".reg .b32 %r<2>;\nbra L;\nret;\nL: frobnicate.u32 %r1, %r0;\nret;")),
      "");
}

TEST(PtxDecoder, RefusesFp8MatricesBelowSm89) {
  const std::string text = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry k() { .reg .b32 %r<7>; .reg .f32 %f<4>;
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};
ret; })";
  EXPECT_NE(decode_error(text).find("fp8 matrices need sm_89"), std::string::npos);
}

TEST(PtxDecoder, ReusesSlotsOfRegistersThatAreNeverLiveTogether) {
  std::string body =
      ".reg .b32 %r<1001>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r0, 1;\n";
  for (int i = 1; i <= 1000; ++i) {
    body.append("add.u32 %r")
        .append(std::to_string(i))
        .append(", %r")
        .append(std::to_string(i - 1))
        .append(", 3;\n");
  }
  const auto program =
      decode_entry(parse_ptx(module_of(body + "st.global.u32 [%rd1], %r1000;\nret;")), "k", {});
  EXPECT_LT(program->register_bytes, 20 * kSlotBytes);
}

/// For PTX with random changes, the decoder reports an error with a line number or returns a
/// program; it never crashes.
TEST(PtxDecoder, SurvivesMutatedPtx) {
  const std::string original = test::kernel_source("sample.ptx");
  ASSERT_FALSE(original.empty());
  Random random(11);
  int errors = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = original;
    const std::uint64_t edits = 1 + random.below(4);
    for (std::uint64_t e = 0; e < edits; ++e) {
      const std::size_t at = random.below(text.size());
      const std::size_t length = std::min<std::size_t>(random.below(12), text.size() - at);
      switch (random.below(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, original.substr(random.below(original.size()), length));
          break;
        case 2:
          text[at] = static_cast<char>(32 + random.below(95));
          break;
        default:
          text.resize(at + 1);
          break;
      }
      if (text.empty()) text.push_back(' ');
    }
    evo::test::TestGpu gpu;
    const auto loaded = gpu.device().load({.ptx = text, .cubin = {}, .entries = {"k1"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) {
      ++errors;
      EXPECT_NE(fault->reason.find("at line "), std::string::npos) << fault->reason;
    }
  }
  EXPECT_GT(errors, 500);
}

}  // namespace
}  // namespace evo::ptx
