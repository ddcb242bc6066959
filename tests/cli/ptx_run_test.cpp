// Tests evo-ptx-run: the output of a kernel, saved buffers, and bad arguments and files. For bad
// input, the program must print a message and end with an exit code of engine/core/error.hpp, not
// by a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/run_program.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

constexpr const char* kCopy = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  st.global.u32 [%rd5], %r2;
  ret;
}
)";

constexpr const char* kPrint = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[12] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 10, 0};
.visible .entry print()
{
  .local .align 8 .b8 buffer[8];
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  st.local.u32 [buffer], %r1;
  mov.u64 %rd1, buffer;
  cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, format;
  { .param .b64 p0;
    .param .b64 p1;
    .param .b32 r;
    st.param.b64 [p0], %rd3;
    st.param.b64 [p1], %rd2;
    call (r), vprintf, (p0, p1); }
  ret;
}
)";

class PtxRun : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::path(testing::TempDir()) / "ptx_run_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "copy.ptx") << kCopy;
    std::ofstream(folder_ / "print.ptx") << kPrint;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] ProgramResult run(const std::string& arguments) const {
    return run_program("evo-ptx-run " + arguments, folder_.string());
  }
  /// Runs evo-ptx-run with a valid launch and the additional options `more`.
  [[nodiscard]] ProgramResult copy(const std::string& more) const {
    return run("copy.ptx --entry copy --arg in:a=zeros:128 --arg out:b=128 --arg u32:32 " + more);
  }

  std::filesystem::path folder_;
};

TEST_F(PtxRun, ShowsWhatTheKernelPrints) {
  const ProgramResult result = run("print.ptx --entry print --block 3 --quiet");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "thread 0\nthread 1\nthread 2\n");
}

TEST_F(PtxRun, RunsAndSaves) {
  const ProgramResult result = copy("--save .");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("b: 128 bytes"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "b.out"), 128U);
}

TEST_F(PtxRun, DefectsAreCodeOne) { EXPECT_EQ(copy("--block 33").exit_code, 1); }

TEST_F(PtxRun, BadInputIsCodeTwoWithAMessage) {
  std::ofstream(folder_ / "empty.ptx");
  std::ofstream(folder_ / "bytes.ptx") << std::string("\x00\xff\x80garbage", 10);
  const std::string launch = "copy.ptx --entry copy --arg in:a=zeros:128 --arg out:b=128 ";
  for (const std::string& arguments : {std::string("missing.ptx --entry copy"),
                                       std::string(". --entry copy"),
                                       std::string("empty.ptx --entry copy"),
                                       std::string("bytes.ptx --entry copy"),
                                       std::string("copy.ptx --entry other"),
                                       launch + "--arg u32:",
                                       launch + "--arg u32:-1",
                                       launch + "--arg u32:4294967296",
                                       launch + "--arg u32:12x",
                                       launch + "--arg f32:1e99",
                                       launch + "--arg i32:99999999999999999999",
                                       launch + "--arg q8:1",
                                       launch + "--arg nothing",
                                       launch + "--arg in:c",
                                       launch + "--arg in:c=zeros:-1",
                                       launch + "--arg out:c=99999999999",
                                       launch + "--arg in:c=.",
                                       launch + "--arg out:../c=4",
                                       launch + "--arg out:=4",
                                       launch + "--arg u32:1 --grid 1,2,3,4",
                                       launch + "--arg u32:1 --block -1",
                                       launch + "--arg u32:1 --block 2000",
                                       launch + "--arg u32:1 --shared 1000000",
                                       launch,
                                       launch + "--arg u64:1",
                                       launch + "--arg u32:1 --threads 1000000",
                                       launch + "--arg u32:1 --device virtual:none",
                                       launch + "--arg u32:1 --device cuda:0",
                                       launch + "--arg u32:1 --save copy.ptx/folder"}) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.err;
    EXPECT_FALSE(result.err.empty()) << arguments;
  }
  EXPECT_EQ(run(launch + "--arg u32:1 --save missing/folder").exit_code, 0);
}

TEST_F(PtxRun, BuffersBeyondTheLimitAreNotMade) {
  const std::string half = "--arg out:c=3000000000 ";
  const ProgramResult result = run("copy.ptx --entry copy " + half + half);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("together"));
}

TEST_F(PtxRun, MemoryTheMachineLacksIsCodeThree) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than the limit of this test";
#endif
  const ProgramResult result = run_program(
      "evo-ptx-run copy.ptx --entry copy --arg in:a=zeros:128 --arg out:b=2000000000 --arg u32:1 "
      "--threads 1",
      folder_.string(), "ulimit -v 1000000; ");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("memory"));
}

}  // namespace
}  // namespace evo
