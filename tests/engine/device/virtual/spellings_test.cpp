// Tests PTX that compilers rarely emit, such as bit masks, addresses of parameters and clusters of
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

/// Multiplies two 64-bit numbers in 32-bit parts with carries, as sin and cos of doubles do.
TEST(Carries, LinkProductsOfSeveralWords) {
  const std::uint64_t a = 0xfedcba9876543210U;
  const std::uint64_t b = 0xffffffff89abcdefU;
  const auto word = [](const std::string& reg, std::uint64_t value, int place) {
    return "mov.u32 " + reg + ", " +
           std::to_string(static_cast<std::uint32_t>(value >> (32 * place))) + ";\n";
  };
  const Result result =
      run("", word("%r1", a, 0) + word("%r2", a, 1) + word("%r3", b, 0) + word("%r4", b, 1) + R"(
mul.lo.u32 %r5, %r1, %r3;
mul.hi.u32 %r6, %r1, %r3;
mad.lo.cc.u32 %r6, %r1, %r4, %r6;
madc.hi.u32 %r7, %r1, %r4, 0;
mad.lo.cc.u32 %r6, %r2, %r3, %r6;
madc.hi.cc.u32 %r7, %r2, %r3, %r7;
madc.hi.u32 %r8, %r2, %r4, 0;
mad.lo.cc.u32 %r7, %r2, %r4, %r7;
addc.u32 %r8, %r8, 0;
st.global.u32 [%rd1], %r5;
st.global.u32 [%rd1+4], %r6;
st.global.u32 [%rd1+8], %r7;
st.global.u32 [%rd1+12], %r8;
mov.u32 %r9, -3;
mad.hi.cc.s32 %r10, %r9, 2, 0;
addc.u32 %r11, 0, 0;
st.global.u32 [%rd1+16], %r10;
st.global.u32 [%rd1+20], %r11;
mad.hi.cc.s32 %r10, %r9, 2, 1;
addc.u32 %r11, 0, 0;
st.global.u32 [%rd1+24], %r11;)");
  EXPECT_EQ(result.fault, "");
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(result.out[static_cast<std::size_t>(i)],
              static_cast<std::uint32_t>(product >> (32 * i)))
        << i;
  }
  EXPECT_EQ(result.out[4], 0xffffffffU);  // the high half of -6
  EXPECT_EQ(result.out[5], 0U);
  EXPECT_EQ(result.out[6], 1U);  // the carry of -1 + 1
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

TEST(BulkCopySpellings, AreRefusedByName) {
  for (const std::string spelling :
       {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r1], [%rd1], 16, [%r2]",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
        "[%rd1, {%r2, %r2, %r2}], [%r3], {%r4}",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1}], "
        "[%r2]",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1]",
        "cp.async.bulk.wait_group.write 0"}) {
    const std::string fault = run("", spelling + ";").fault;
    EXPECT_TRUE(fault.starts_with("not supported: " + spelling.substr(0, spelling.find(' '))))
        << fault;
  }
}

TEST(BulkCopySpellings, OfPrefetchesAndFencesAreTaken) {
  EXPECT_EQ(run("", R"(
mov.u32 %r1, 0;
cp.async.bulk.prefetch.L2.global [%rd1], 16;
cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd1, {%r1}];
prefetch.tensormap [%rd1];
fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
griddepcontrol.launch_dependents;
griddepcontrol.wait;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;)")
                .fault,
            "");
}

TEST(ClusterAddresses, BelongToSpacesAndRanks) {
  const Result result = run("", R"(
.shared .align 4 .b32 word;
mov.u32 %r1, word;
cvta.shared.u64 %rd2, 0;
mapa.u64 %rd3, %rd2, %cluster_ctarank;
getctarank.u64 %r2, %rd3;
mapa.shared::cluster.u32 %r3, %r1, 0;
getctarank.shared::cluster.u32 %r3, %r3;
isspacep.shared::cluster %p1, %rd3;
selp.u32 %r4, 1, 0, %p1;
isspacep.shared %p1, %rd1;
selp.u32 %r5, 1, 0, %p1;
isspacep.global %p1, %rd1;
selp.u32 %r6, 1, 0, %p1;
st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
st.global.v2.u32 [%rd1+16], {%r6, %r6};)");
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.out, (std::vector<std::uint32_t>{0, 0, 1, 0, 1, 1, 0, 0}));
}

TEST(Clusters, OfOneCtaAreNone) {
  const std::string body = "st.global.u32 [%rd1], 7;";
  const Result one = run(".explicitcluster\n.reqnctapercluster 1, 1, 1\n", body);
  EXPECT_EQ(one.fault, "");
  EXPECT_EQ(one.out[0], 7U);
  const Result two = run(".explicitcluster\n.reqnctapercluster 2, 1, 1\n", body);
  EXPECT_NE(two.fault.find("not a multiple of the clusters of 2x1x1"), std::string::npos)
      << two.fault;
  for (const std::string directives : {".explicitcluster\n", ".reqnctapercluster 2, 0, 1\n",
                                       ".reqnctapercluster 1, 1, 1\n.blocksareclusters\n"}) {
    const Result refused = run(directives, body);
    EXPECT_TRUE(refused.fault.starts_with("not supported")) << refused.fault;
  }
}

}  // namespace
}  // namespace evo::test
