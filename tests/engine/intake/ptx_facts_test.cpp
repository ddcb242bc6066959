#include "engine/intake/ptx_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// PTX of a kernel k with the pointers p0, p1, p2 and the int p3 as parameters. The kernel loads
/// p0, p1 and p3 into %rd1, %rd2 and %r1, converts the pointers to global addresses in %rd3 and
/// %rd4, and executes `body`. `before`: PTX in front of the kernel.
std::string kernel(const std::string& body, const std::string& before = {}) {
  return ".version 8.0\n.target sm_89\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3)\n{\n"
         ".reg .b32 %r<9>;\n.reg .b64 %rd<19>;\n.reg .pred %p<3>;\n"
         "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nld.param.u32 %r1, [p3];\n"
         "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n" +
         body + "ret;\n}\n";
}

TEST(PtxFacts, DirectionsFollowAddressesAndNotLoadedValues) {
  const PtxFacts facts = ptx_facts(kernel("mul.wide.s32 %rd5, %r1, 4;\n"
                                          "add.s64 %rd6, %rd3, %rd5;\n"
                                          "ld.global.nc.u32 %r2, [%rd6+4];\n"
                                          "mul.wide.s32 %rd7, %r2, 4;\n"
                                          "add.s64 %rd8, %rd4, %rd7;\n"
                                          "st.global.u32 [%rd8], %r2;\n"),
                                   "k");
  ASSERT_EQ(facts.parameters.size(), 4U);
  EXPECT_TRUE(facts.parameters[0].is_loaded);
  EXPECT_FALSE(facts.parameters[0].is_stored);
  EXPECT_TRUE(facts.parameters[0].is_address);
  EXPECT_TRUE(facts.parameters[1].is_stored);
  EXPECT_FALSE(facts.parameters[1].is_loaded);
  EXPECT_FALSE(facts.parameters[2].is_used);
  EXPECT_EQ(facts.parameters[2].bytes, 8U);
  EXPECT_TRUE(facts.parameters[3].is_used);
  EXPECT_EQ(facts.dependence, "");
}

TEST(PtxFacts, PrefetchesAndPoliciesStoreNothing) {
  const PtxFacts facts =
      ptx_facts(kernel("cp.async.bulk.prefetch.L2.global [%rd3], 16;\n"
                       "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd3, {%r1}];\n"
                       "createpolicy.range.global.L2::evict_last.b64 %rd5, [%rd3], %r1, %r1;\n"
                       "ld.global.L2::cache_hint.u32 %r2, [%rd3], %rd5;\n"
                       "st.L2::cache_hint.u64 [%rd2], %rd4, %rd5;\n"
                       "ld.u64 %rd6, [%rd2];\n"
                       "st.global.L2::128B.u32 [%rd6], %r2;\n"),
                "k");
  EXPECT_TRUE(facts.parameters[0].is_loaded);
  EXPECT_FALSE(facts.parameters[0].is_stored);
  EXPECT_TRUE(facts.parameters[1].is_stored);
}

TEST(PtxFacts, PointersTravelThroughLocalMemory) {
  const PtxFacts facts = ptx_facts(kernel(".local .align 8 .b8 keep[16];\n"
                                          "mov.u64 %rd10, keep;\n"
                                          "st.local.u64 [%rd10], %rd3;\n"
                                          "ld.local.u64 %rd11, [%rd10];\n"
                                          "st.global.u32 [%rd11], %r1;\n"),
                                   "k");
  EXPECT_TRUE(facts.parameters[0].is_stored);
  EXPECT_FALSE(facts.parameters[1].is_stored);
}

TEST(PtxFacts, WhatTiesCtasTogether) {
  const auto dependence = [](const std::string& body) {
    return ptx_facts(kernel(body), "k").dependence;
  };
  EXPECT_THAT(dependence("red.global.add.u32 [%rd3], %r1;\n"), HasSubstr("atomic"));
  EXPECT_THAT(dependence("atom.add.u32 %r2, [%rd1], %r1;\n"), HasSubstr("atomic"));
  EXPECT_THAT(dependence("membar.gl;\n"), HasSubstr("fence"));
  EXPECT_THAT(dependence("fence.acq_rel.gpu;\n"), HasSubstr("fence"));
  EXPECT_THAT(dependence("ld.volatile.global.u32 %r2, [%rd3];\n"), HasSubstr("other CTAs"));
  EXPECT_THAT(dependence("st.release.gpu.global.u32 [%rd3], %r1;\n"), HasSubstr("other CTAs"));
  EXPECT_EQ(dependence("atom.shared.add.u32 %r2, [%r1], %r1;\n"), "");
  EXPECT_EQ(dependence("membar.cta;\n"), "");
}

TEST(PtxFacts, TexturesAreRead) {
  const auto facts = [](const std::string& geometry, const std::string& at) {
    return ptx_facts(kernel(".reg .f32 %f<9>;\ntex." + geometry +
                            ".v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {" + at + "}];\n"),
                     "k");
  };
  EXPECT_EQ(facts("2d", "%f5, %f6").parameters[1].texture, 2);
  EXPECT_EQ(facts("2d", "%f5, %f6").parameters[0].texture, 0);
  EXPECT_EQ(facts("2d", "%f5, %f6").dependence, "") << "no kernel writes to a texture";
  EXPECT_EQ(facts("1d", "%f5").parameters[1].texture, 1);
  EXPECT_FALSE(facts("1d", "%f5").parameters[1].is_other_object);
  EXPECT_TRUE(facts("3d", "%f5, %f6, %f7, %f7").parameters[1].is_other_object);
  EXPECT_THAT(facts("3d", "%f5, %f6, %f7, %f7").dependence, HasSubstr("not supported"));
}

TEST(PtxFacts, AtomicsReadAndWrite) {
  const PtxFacts facts = ptx_facts(kernel("red.global.add.u32 [%rd4+8], %r1;\n"), "k");
  EXPECT_TRUE(facts.parameters[1].is_loaded);
  EXPECT_TRUE(facts.parameters[1].is_stored);
}

TEST(PtxFacts, AsynchronousCopiesRead) {
  const PtxFacts facts = ptx_facts(kernel("cp.async.ca.shared.global [%r1], [%rd4], 16;\n"), "k");
  EXPECT_TRUE(facts.parameters[1].is_loaded);
  EXPECT_FALSE(facts.parameters[1].is_stored);
}

TEST(PtxFacts, ConstantsDimensionsAndSharedMemory) {
  const PtxFacts facts =
      ptx_facts(kernel("mov.u32 %r2, %tid.y;\nmov.u32 %r3, %ctaid.z;\n"
                       "ld.const.f32 %r4, [_ZN2ns6filterE+4];\nmov.u32 %r5, dynamic;\n",
                       ".const .align 4 .b8 _ZN2ns6filterE[64];\n.const .align 4 .b8 other[4];\n"
                       ".extern .shared .align 16 .b8 dynamic[];\n"),
                "k");
  ASSERT_EQ(facts.constants.size(), 1U);
  EXPECT_EQ(facts.constants[0].name, "ns::filter");
  EXPECT_EQ(facts.constants[0].bytes, 64U);
  EXPECT_FALSE(facts.constants[0].has_value);
  EXPECT_EQ(facts.block_dimensions, 2);
  EXPECT_EQ(facts.grid_dimensions, 3);
  EXPECT_TRUE(facts.has_dynamic_shared);
}

TEST(PtxFacts, JoinedSaysWhatEitherSays) {
  const PtxFacts one = ptx_facts(kernel("ld.global.u32 %r2, [%rd3];\n"), "k");
  const PtxFacts two = ptx_facts(kernel("st.global.u32 [%rd3], %r1;\nmembar.gl;\n"), "k");
  const PtxFacts both = joined(one, two);
  EXPECT_TRUE(both.parameters[0].is_loaded);
  EXPECT_TRUE(both.parameters[0].is_stored);
  EXPECT_THAT(both.dependence, HasSubstr("fence"));
}

TEST(PtxFacts, WhatCannotBeReadSaysSo) {
  EXPECT_THROW((void)ptx_facts("no ptx", "k"), InputError);
  EXPECT_THROW((void)ptx_facts(kernel(""), "other"), InputError);
}

}  // namespace
}  // namespace evo
