#include "engine/ptx/opcode.hpp"

#include <gtest/gtest.h>

#include "engine/ptx/parser.hpp"

namespace evo::ptx {
namespace {

TEST(Opcode, IsTheWholeFirstWord) {
  EXPECT_EQ(opcode_from_name("ld"), Opcode::kLd);
  EXPECT_EQ(opcode_from_name("ldmatrix"), Opcode::kLdmatrix);
  EXPECT_EQ(opcode_from_name("abs"), Opcode::kAbs);
  EXPECT_EQ(opcode_from_name("xor"), Opcode::kXor);
  for (const char* name : {"", "l", "ld.global", "LD", "ldx", "zzz"})
    EXPECT_EQ(opcode_from_name(name), Opcode::kOther) << name;
}

TEST(Opcode, IsTakenFromTheSpelling) {
  const Module module = parse_ptx(
      ".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry k()\n"
      "{ .reg .b32 %r<2>; mul.wide.s32 %r0, %r1, %r1; ret; }\n");
  const auto& body = module.functions.at("k").body;
  EXPECT_EQ(body.at(0).opcode, Opcode::kMul);
  EXPECT_EQ(body.at(0).spelling, "mul.wide.s32");
  EXPECT_EQ(body.at(0).modifiers, (std::vector<std::string>{"wide", "s32"}));
  EXPECT_EQ(body.at(1).opcode, Opcode::kRet);
  EXPECT_TRUE(body.at(1).modifiers.empty());
}

}  // namespace
}  // namespace evo::ptx
