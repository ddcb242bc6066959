// Spellings that compilers emit now and then: masks of bits, addresses of parameters, clusters of
// one CTA.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

std::string module(const std::string& directives, const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out, .param .align 16 .b8 values[16])\n" +
         directives +
         "{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [out];\n" +
         body + "\nret;\n}\n";
}

struct Result {
  std::string fault;
  std::vector<std::uint32_t> out;
};

Result run(const std::string& directives, const std::string& body) {
  TestGpu gpu("virtual:h200");
  const BufferId out = gpu.inout("out", std::vector<std::uint32_t>(8));
  const std::array<std::uint32_t, 4> values = {10, 11, 12, 13};
  ScalarArgument block;
  block.bytes.resize(sizeof(values));
  std::memcpy(block.bytes.data(), values.data(), sizeof(values));
  const auto fault = gpu.run(module(directives, body), "k", {{1, 1, 1}, {1, 1, 1}}, {out, block});
  return {text_of(fault), gpu.read<std::uint32_t>(out, 8)};
}

TEST(BitMasks, ClampOrWrapAtTheEndOfTheRegister) {
  const auto mask = [](const std::string& mode, std::uint32_t first, std::uint32_t width) {
    const Result result = run("", "mov.u32 %r1, " + std::to_string(first) + ";\nmov.u32 %r2, " +
                                      std::to_string(width) + ";\nbmsk." + mode +
                                      ".b32 %r3, %r1, %r2;\nst.global.u32 [%rd1], %r3;");
    EXPECT_EQ(result.fault, "");
    return result.out[0];
  };
  for (const char* mode : {"clamp", "wrap"}) {
    EXPECT_EQ(mask(mode, 4, 3), 0x70U);
    EXPECT_EQ(mask(mode, 0, 0), 0U);
    EXPECT_EQ(mask(mode, 28, 12), 0xf0000000U);
    EXPECT_EQ(mask(mode, 31, 1), 0x80000000U);
  }
  EXPECT_EQ(mask("clamp", 0, 32), 0xffffffffU);
  EXPECT_EQ(mask("wrap", 0, 32), 0U);
  EXPECT_EQ(mask("clamp", 33, 2), 0U);
  EXPECT_EQ(mask("wrap", 33, 2), 6U);
}

TEST(ParameterAddresses, AreReadInTheirSpaceAndGeneric) {
  const Result result = run("", R"(
mov.b64 %rd2, values;
add.s64 %rd3, %rd2, 4;
ld.param.u32 %r1, [%rd3+4];
cvta.param.u64 %rd4, %rd3;
ld.u32 %r2, [%rd4];
ld.v2.u32 {%r3, %r4}, [%rd4+4];
cvta.to.param.u64 %rd5, %rd4;
ld.param.u32 %r5, [%rd5-4];
st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
st.global.u32 [%rd1+16], %r5;)");
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.out, (std::vector<std::uint32_t>{12, 11, 12, 13, 10, 0, 0, 0}));
}

TEST(ParameterAddresses, BeyondTheParametersAndWritesAreReported) {
  for (const char* access : {"ld.u32 %r1, [%rd3+16];", "ld.u32 %r1, [%rd3+4096];",
                             "st.u32 [%rd3], %r1;", "ld.param.u32 %r1, [%rd2+16];"}) {
    const Result result = run("", std::string("mov.b64 %rd2, values;\nmov.u32 %r1, 0;\n"
                                              "cvta.param.u64 %rd3, %rd2;\n") +
                                      access + "\nst.global.u32 [%rd1], %r1;");
    EXPECT_EQ(result.fault.find("out-of-bounds"), 0U) << access << "\n" << result.fault;
    EXPECT_NE(result.fault.find("kernel's parameters"), std::string::npos) << result.fault;
  }
}

TEST(Clusters, OfOneCtaAreNone) {
  const std::string body = "st.global.u32 [%rd1], 7;";
  const Result one = run(".explicitcluster\n.reqnctapercluster 1, 1, 1\n", body);
  EXPECT_EQ(one.fault, "");
  EXPECT_EQ(one.out[0], 7U);
  const Result two = run(".explicitcluster\n.reqnctapercluster 2, 1, 1\n", body);
  EXPECT_NE(two.fault.find("clusters of more than one CTA"), std::string::npos) << two.fault;
}

}  // namespace
}  // namespace evo::test
