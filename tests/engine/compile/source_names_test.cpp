#include "engine/compile/source_names.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(SourceNames, FilesAreNamedAsTheSourceNamesThem) {
  const KernelSource source{"mma.cu", "", {{"common/exp2.cuh", ""}}};
  const std::string ptx =
      "// a comment\n\t.file\t1 \"/work/here/mma.cu\"\n"
      "\t.file\t2 \"/work/here/common/exp2.cuh\", 1, 2\n"
      "\t.file\t3 \"/work/here/__nv_nvrtc_builtin_header.h\"\n"
      "\t.file\t4 \"/usr/local/cuda/include/cuda_fp16.h\"\n"
      "\t.file\t5 \"/work/here/other.cuh\"\n"
      "ret;";
  EXPECT_EQ(with_source_names(ptx, source, "/work/here"),
            "// a comment\n\t.file\t1 \"mma.cu\"\n"
            "\t.file\t2 \"common/exp2.cuh\", 1, 2\n"
            "\t.file\t3 \"__nv_nvrtc_builtin_header.h\"\n"
            "\t.file\t4 \"/usr/local/cuda/include/cuda_fp16.h\"\n"
            "\t.file\t5 \"/work/here/other.cuh\"\n"
            "ret;");
}

TEST(SourceNames, AnythingElseStaysAsItIs) {
  const KernelSource source{"mma.cu", "", {}};
  for (const char* ptx : {"", "\n", ".file", ".file 1 \"", ".file 1 \"\"\n", "mov \"/w/mma.cu\";",
                          ".file 1 \"/w/\"\n", ".file 1 \"/w\"\n"}) {
    EXPECT_EQ(with_source_names(ptx, source, "/w"), ptx);
  }
}

}  // namespace
}  // namespace evo
