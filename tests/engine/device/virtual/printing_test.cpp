#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Compares printf() in kernels with the host's printf(), and tests assert() in kernels.

namespace evo::test {
namespace {

template <typename... T>
std::string host_text(const char* format, T... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

class Printing : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
  std::optional<Fault> launch(const char* entry, std::uint32_t ctas, std::uint32_t threads,
                              const std::vector<KernelArgument>& arguments) {
    static const std::string ptx = compile_to_ptx(kernel_source("printing.cu"), "compute_89");
    return gpu_.run(ptx, entry, {{ctas, 1, 1}, {threads, 1, 1}, 0}, arguments);
  }
  const std::string& printed() { return gpu_.device().printed(); }

  TestGpu gpu_;
};

TEST_F(Printing, NumbersOfEveryLaneInOrder) {
  const std::vector<int> x = {0, -1, 7, 123456, -2147483647};
  const std::vector<double> d = {0, 1.5, -2.25e10, 3.14159265, 1e-7};
  const BufferId counts = gpu_.output<int>("counts", 5);
  ASSERT_EQ(
      text_of(launch("print_numbers", 1, 5, {gpu_.input("x", x), gpu_.input("d", d), counts})), "");
  std::string want;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto u = static_cast<unsigned>(x[i]);
    want += host_text("%d|%5u|%-6x|%+d|%08.3f|%e|%g\n", x[i], u, u, x[i], d[i], d[i], d[i]);
  }
  EXPECT_EQ(printed(), want);
  EXPECT_EQ(gpu_.read<int>(counts, 5), std::vector<int>(5, 7));
}

TEST_F(Printing, SizesOfIntegers) {
  const std::vector<long long> x = {1, -1, 0x123456789abcdefLL};
  const BufferId counts = gpu_.output<int>("counts", 3);
  ASSERT_EQ(text_of(launch("print_wide", 1, 3, {gpu_.input("x", x), counts})), "");
  std::string want;
  for (const long long v : x) {
    const auto u = static_cast<unsigned long long>(v);
    want += host_text("%lld %llu %#llx %lld %d %u\n", v, u, u, v, static_cast<short>(v),
                      static_cast<unsigned>(static_cast<unsigned char>(v)));
  }
  EXPECT_EQ(printed(), want);
  EXPECT_EQ(gpu_.read<int>(counts, 3), std::vector<int>(3, 6));
}

TEST_F(Printing, StringsWidthsAndPrecisions) {
  const std::vector<char> name = {'n', 'a', 'm', 'e', '\0'};
  const BufferId counts = gpu_.output<int>("counts", 1);
  ASSERT_EQ(text_of(launch("print_text", 1, 1,
                           {gpu_.input("name", name), ScalarArgument::of(7), counts})),
            "");
  EXPECT_EQ(printed(), "[name] [     abc] [abc     ] [abc] [     42] [3.14] [x] 100% []\n");
  EXPECT_EQ(gpu_.read<int>(counts, 1), std::vector<int>{10});
}

TEST_F(Printing, AFormatWithoutArguments) {
  const BufferId counts = gpu_.output<int>("counts", 2);
  ASSERT_EQ(text_of(launch("print_nothing", 1, 2, {counts})), "");
  EXPECT_EQ(printed(), "only text\nonly text\n");
  EXPECT_EQ(gpu_.read<int>(counts, 2), std::vector<int>(2, 0));
}

TEST_F(Printing, APointer) {
  ASSERT_EQ(text_of(launch("print_pointer", 1, 1, {ScalarArgument::of(std::uint64_t{0x1234abcd})})),
            "");
  EXPECT_EQ(printed(), "0x1234abcd");
}

TEST_F(Printing, SomeThreadsOfSomeCtasInTheOrderOfTheCtas) {
  std::vector<int> x(128, 1);
  x[3] = -4;
  x[70] = -5;
  x[90] = -6;
  x[127] = -7;
  const BufferId out = gpu_.output<int>("out", x.size());
  ASSERT_EQ(text_of(launch("print_seldom", 2, 64, {gpu_.input("x", x), out})), "");
  const std::string text = printed();
  EXPECT_TRUE(text.starts_with("negative: -4 at 3\n")) << text;
  for (const char* line : {"-5 at 70\n", "-6 at 90\n", "-7 at 127\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
  EXPECT_EQ(gpu_.read<int>(out, x.size())[127], -14);
}

TEST_F(Printing, ABranchThatIsNeverTakenPrintsNothing) {
  const std::vector<int> x(64, 1);
  const BufferId out = gpu_.output<int>("out", x.size());
  ASSERT_EQ(text_of(launch("print_seldom", 1, 64, {gpu_.input("x", x), out})), "");
  EXPECT_EQ(printed(), "");
  EXPECT_EQ(gpu_.read<int>(out, x.size()), std::vector<int>(64, 2));
}

TEST_F(Printing, MoreThanTheLimitIsDroppedAndCounted) {
  ASSERT_EQ(text_of(launch("print_much", 1, 32, {ScalarArgument::of(1000)})), "");
  constexpr std::size_t kLimit = 1 << 20;
  EXPECT_LT(printed().size(), kLimit + 200);
  const std::string dropped = std::to_string(32 * 1000 * 64 - kLimit);
  EXPECT_TRUE(
      printed().ends_with("[printf: " + dropped + " more bytes dropped, the limit is 1048576]\n"));
}

TEST_F(Printing, AnAssertionThatHoldsIsSilent) {
  const std::vector<int> x = {1, 2, 3};
  const BufferId out = gpu_.output<int>("out", 3);
  ASSERT_EQ(text_of(launch("check_all", 1, 3, {gpu_.input("x", x), out})), "");
  EXPECT_EQ(gpu_.read<int>(out, 3), (std::vector<int>{2, 3, 4}));
}

TEST_F(Printing, AFailedAssertionTellsMessageFileLineAndFunction) {
  const std::vector<int> x = {1, 13, 3};
  const auto fault = launch("check_all", 1, 3, {gpu_.input("x", x), gpu_.output<int>("out", 3)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_NE(fault->reason.find("trap: assertion 'x != 13 && \"unlucky\"' failed at"),
            std::string::npos)
      << fault->reason;
  EXPECT_NE(fault->reason.find("kernel.cu:36, int helper(int), in thread (1,0,0)"),
            std::string::npos)
      << fault->reason;
}

TEST_F(Printing, BytesThatNobodyWroteAreReported) {
  const auto fault = launch("print_missing", 1, 1, {gpu_.inout("out", std::vector<int>{0})});
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data:")) << fault->reason;
}

}  // namespace
}  // namespace evo::test
