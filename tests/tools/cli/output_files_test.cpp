#include "tools/cli/output_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~OutputFiles() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    return read_text_file(path(name));
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  static std::string refusal_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "written";
  }

  OutputOwner owner_ = {"the tool", {"// of the tool"}};

 private:
  fs::path folder_ =
      fs::path(testing::TempDir()) / ("output_files_test" + std::to_string(getpid()));
};

TEST_F(OutputFiles, SomebodysWorkIsNeverReplaced) {
  write_file(path("mine.cu"), "__global__ void mine();\n");
  EXPECT_THAT(refusal_of([&] {
                write_outputs({{path("mine.cu"), "// of the tool 2"}}, owner_);
              }),
              AllOf(HasSubstr(path("mine.cu").string()), HasSubstr("the tool did not write it"),
                    HasSubstr("name another")));
  EXPECT_EQ(text("mine.cu"), "__global__ void mine();\n");
  EXPECT_THAT(refusal_of([&] {
                write_outputs({{path("mine.cu"), "x"}}, {"the tool"});
              }),
              HasSubstr("mine.cu: file exists; name another"))
      << "nobody knows who wrote it";
  fs::create_symlink(path("nowhere"), path("link"));
  EXPECT_THAT(refusal_of([&] { write_outputs({{path("link"), "x"}}, owner_); }), HasSubstr("link"));
  owner_.force = true;
  EXPECT_EQ(refusal_of([&] { write_outputs({{path("mine.cu"), "new"}}, owner_); }), "written");
  EXPECT_EQ(text("mine.cu"), "new");
}

TEST_F(OutputFiles, WhatIsMissingTheSameOrOfTheToolIsWritten) {
  EXPECT_THAT(refusal_of([&] {
                write_outputs({{path("new/one.cu"), "1"}}, owner_);
              }),
              HasSubstr("cannot be written"));
  owner_.makes_folders = true;
  write_outputs({{path("new/one.cu"), "// of the tool 1"}}, owner_);
  write_outputs({{path("new/one.cu"), "// of the tool 2"}}, owner_);
  EXPECT_EQ(text("new/one.cu"), "// of the tool 2");
  write_file(path("raw"), "bytes");
  write_outputs({{path("raw"), "bytes"}}, owner_);
  write_file(path("packed.gz"), gzip_compressed("// of the tool 1"));
  write_outputs({{path("packed.gz"), "// of the tool 2"}}, owner_);
  EXPECT_EQ(text("packed.gz"), "// of the tool 2");
}

TEST_F(OutputFiles, WhatCannotCarryAMarkBelongsToTheLastOfItsSet) {
  const auto write = [&](const std::string& version) {
    write_outputs({{path("k.cubin"), "code " + version, true},
                   {path("k.cu"), "// of the tool " + version},
                   {path("k.json"), "// of the tool " + version}},
                  owner_);
  };
  write("1");
  write("2");
  EXPECT_EQ(text("k.cubin"), "code 2");
  fs::remove(path("k.json"));
  EXPECT_THAT(refusal_of([&] { write("3"); }), HasSubstr("k.cubin"));
  EXPECT_EQ(text("k.cu"), "// of the tool 2") << "none of the set is written";
}

TEST_F(OutputFiles, AFullDiskLeavesTheWholeSetAsItWas) {
  write_outputs({{path("a"), "// of the tool 1"}, {path("b"), "// of the tool 1"}}, owner_);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string refusal = refusal_of([&] {
    write_outputs({{path("a"), "// of the tool 2"}, {path("b"), std::string(1000, 'x')}}, owner_);
  });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(refusal, AllOf(HasSubstr(path("b").string()), HasSubstr("cannot be written")));
  EXPECT_EQ(text("a"), "// of the tool 1");
  EXPECT_EQ(text("b"), "// of the tool 1");
  EXPECT_EQ(files(), 2U) << "nothing is left beside them";
}

}  // namespace
}  // namespace evo
