// Tests which files the compiler may open, and on which files a stored compilation depends. Starts
// the program evo-worker, because only this program intercepts the functions that open files.

#include "engine/compile/file_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/worker/compile_pool.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FileWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)pool_.version();
    } catch (const MissingError& error) {
      GTEST_SKIP() << error.what();
    }
    std::filesystem::create_directories(include());
    write_file(include() / "a.h", "#define A 1.0f\n");
  }

  [[nodiscard]] std::filesystem::path include() const {
    return std::filesystem::canonical(folder_.path()) / "include";
  }

  CompilePool::Finished compile(const std::string& head, bool with_path = true) {
    CompileRequest request{{"k.cu",
                            head + "\n#ifndef A\n#define A 9.0f\n#endif\n"
                                   "extern \"C\" __global__ void k(float* y) { y[0] = A; }\n",
                            {}},
                           {"k"},
                           "sm_89",
                           {}};
    if (with_path) request.options.push_back("-I" + include().string());
    return loop_.run(pool_.compile(request));
  }

  std::string reason(const CompilePool::Finished& finished) {
    const auto* rejection = std::get_if<Rejection>(&finished.outcome);
    return rejection == nullptr ? "compiled" : rejection->reason + "\n" + rejection->detail;
  }

  sample::TemporaryFolder folder_;
  SystemLoop loop_;
  CompilePool pool_{
      loop_, std::filesystem::read_symlink("/proc/self/exe").parent_path() / "evo-worker", {}};
};

TEST_F(FileWatchTest, WhatIsOpenedInAnIncludePathIsADependency) {
  const CompilePool::Finished first = compile("#include \"a.h\"");
  EXPECT_EQ(reason(first), "compiled");
  ASSERT_FALSE(first.dependencies.empty());
  EXPECT_TRUE(is_current(first.dependencies));
  EXPECT_THAT(first.dependencies,
              testing::Contains(testing::Field(&Dependency::path, (include() / "a.h").string())));
  write_file(include() / "a.h", "#define A 2.0f\n");
  EXPECT_FALSE(is_current(first.dependencies));
  const CompilePool::Finished second = compile("#include \"a.h\"");
  EXPECT_NE(std::get<Compiled>(first.outcome).ptx_hash,
            std::get<Compiled>(second.outcome).ptx_hash);
  std::filesystem::remove(include() / "a.h");
  EXPECT_FALSE(is_current(second.dependencies));
}

/// A header that is missing during a compilation is a dependency, because the kernel may change
/// when the header appears.
TEST_F(FileWatchTest, WhatWasMissingIsADependencyToo) {
  const CompilePool::Finished without =
      compile("#if __has_include(\"b.h\")\n#include \"b.h\"\n#endif");
  EXPECT_EQ(reason(without), "compiled");
  EXPECT_TRUE(is_current(without.dependencies));
  write_file(include() / "b.h", "#define A 5.0f\n");
  EXPECT_FALSE(is_current(without.dependencies));
}

TEST_F(FileWatchTest, NothingElseIsOpenedAndNothingOfItIsTold) {
  write_file(folder_.path() / "secret.h", "hunter2\n");
  std::filesystem::create_symlink(folder_.path() / "secret.h", include() / "linked.h");
  const std::string outside = (folder_.path() / "secret.h").string();
  for (const std::string& include :
       {"\"" + outside + "\"", "<" + outside + ">", std::string("\"../secret.h\""),
        std::string("\"linked.h\""), std::string("<../secret.h>")}) {
    for (const std::string& head :
         {"#include " + include, "#define FILE " + include + "\n#include FILE"}) {
      const CompilePool::Finished finished = compile(head);
      EXPECT_THAT(reason(finished),
                  AllOf(HasSubstr("cannot open source file"),
                        HasSubstr(".h was not opened: after following links, it is outside"),
                        Not(HasSubstr("hunter2"))))
          << head;
    }
  }
  EXPECT_THAT(reason(compile("#include \"/dev/zero\"")), HasSubstr("cannot open source file"));
  EXPECT_THAT(reason(compile("#include \"/etc/passwd\"", false)), Not(HasSubstr("root:")));
  EXPECT_EQ(reason(compile("#if __has_include(\"/etc/passwd\")\n#error there\n#endif")),
            "compiled");
}

TEST_F(FileWatchTest, WithoutIncludePathsNothingDepends) {
  const CompilePool::Finished finished = compile("", false);
  EXPECT_EQ(reason(finished), "compiled");
  EXPECT_TRUE(finished.dependencies.empty());
}

/// A stored binary is reused only if the headers from the space's include path are unchanged.
TEST_F(FileWatchTest, AChangedHeaderNeverGivesTheOldBinary) {
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  setenv("EVO_WORKER", (programs / "evo-worker").c_str(), 1);
  const std::filesystem::path project = folder_.path() / "project";
  std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted", project,
                        std::filesystem::copy_options::recursive);
  std::filesystem::create_directories(project / "include");
  Json space = read_json_file(project / "search_spaces/planted.json");
  space["compiler_options"] = {"-I", "../include"};
  write_file(project / "search_spaces/planted.json", space.dump());
  const auto kernel = project / "kernel_templates/planted/planted.cu";
  write_file(kernel,
             "#include <factor.h>\n__device__ float factor = FACTOR;\n" + read_text_file(kernel));
  Store store = Store::in_memory();
  WorkbenchOptions options;
  options.space_file = project / "search_spaces/planted.json";
  const auto built = [&](const std::string& factor) {
    write_file(project / "include/factor.h", "#define FACTOR " + factor + "\n");
    auto loop = std::make_unique<SystemLoop>();
    auto pool = std::make_unique<CompilePool>(*loop, worker_program(), CompilePoolOptions{});
    Workbench bench(options, {std::move(loop), store, std::move(pool)});
    return bench.wait(bench.evaluator().evaluate(bench.task().space().defaults(), {})).compilation;
  };
  const CompilationRecord one = built("1");
  ASSERT_TRUE(one.ok) << one.log;
  EXPECT_EQ(built("1").wall_ms, 0) << "the binary comes from the database";
  const CompilationRecord two = built("2");
  EXPECT_GT(two.wall_ms, 0);
  EXPECT_NE(two.ptx_hash, one.ptx_hash);
  EXPECT_NE(two.key, one.key);
  const CompilationRecord again = built("1");
  EXPECT_EQ(again.wall_ms, 0);
  EXPECT_EQ(again.ptx_hash, one.ptx_hash);
  unsetenv("EVO_WORKER");
}

}  // namespace
}  // namespace evo
