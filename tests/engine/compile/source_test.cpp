#include "engine/compile/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    std::filesystem::create_directories(root() / "common");
    std::filesystem::create_directories(root() / "kernel");
    write_file(root() / "common/types.cuh", "#pragma once\nusing u8 = unsigned char;\n");
    write_file(root() / "kernel/parts.cuh",
               "#pragma once\n#include \"common/types.cuh\"\nconstexpr int kPart = 1;\n");
    write_file(root() / "kernel/k.cu",
               "  #  include \"parts.cuh\"\n#include \"common/types.cuh\"\n"
               "// #include \"none.cuh\"\n__global__ void k() {}\n");
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }

  sample::TemporaryFolder folder_;
};

TEST_F(SourceTest, FindsHeadersBesideTheFileAndInTheRoot) {
  const KernelSource source = load_source(root() / "kernel/k.cu", root());
  EXPECT_EQ(source.name, "k.cu");
  ASSERT_EQ(source.headers.size(), 2U);
  EXPECT_EQ(source.headers[0].first, "parts.cuh");
  EXPECT_EQ(source.headers[1].first, "common/types.cuh");
}

TEST_F(SourceTest, ExpandsEveryIncludeOnce) {
  const std::string text = load_source(root() / "kernel/k.cu", root()).expanded();
  EXPECT_EQ(text,
            "using u8 = unsigned char;\nconstexpr int kPart = 1;\n"
            "// #include \"none.cuh\"\n__global__ void k() {}\n");
}

TEST_F(SourceTest, HeadersThatIncludeEachOtherEnd) {
  write_file(root() / "kernel/a.cuh", "#pragma once\n#include \"b.cuh\"\nint a;\n");
  write_file(root() / "kernel/b.cuh", "#pragma once\n#include \"a.cuh\"\nint b;\n");
  write_file(root() / "kernel/k.cu", "#include \"a.cuh\"\n");
  EXPECT_EQ(load_source(root() / "kernel/k.cu", root()).expanded(), "int b;\nint a;\n");
}

TEST_F(SourceTest, AMissingHeaderIsNamedWithItsIncluder) {
  write_file(root() / "kernel/parts.cuh", "#include \"gone.cuh\"\n");
  try {
    (void)load_source(root() / "kernel/k.cu", root());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("parts.cuh"), HasSubstr("gone.cuh")));
  }
  EXPECT_THROW((void)load_source(root() / "none.cu", root()), InputError);
}

TEST(ShippedTemplates, ExpandWithoutIncludes) {
  const std::filesystem::path root = std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates";
  const std::string text = load_source(root / "sdpa_fp8/wmma.cu", root).expanded();
  EXPECT_THAT(text, Not(HasSubstr("#include")));
  EXPECT_THAT(text, HasSubstr("sdpa_fp8_wmma"));
}

}  // namespace
}  // namespace evo
