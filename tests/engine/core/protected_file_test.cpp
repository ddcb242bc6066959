#include "engine/core/protected_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ProtectedFile : public testing::Test {
 protected:
  ProtectedFile() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ProtectedFile() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / name; }

  static std::string refusal_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  fs::path folder_ =
      fs::path(::testing::TempDir()) / ("protected_file_test" + std::to_string(getpid()));
};

TEST_F(ProtectedFile, APipeIsNeitherWaitedForNorReplaced) {
  const fs::path pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of([&] { (void)read_text_file(pipe); }),
              AllOf(HasSubstr(pipe.string()), HasSubstr("cannot be read"), HasSubstr("a pipe"),
                    HasSubstr("allowed: a regular file")));
  EXPECT_THAT(refusal_of([&] { write_file(pipe, "x"); }),
              AllOf(HasSubstr(pipe.string()), HasSubstr("cannot be written")));
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(ProtectedFile, ALinkToADeviceIsNotReplaced) {
  fs::create_symlink("/dev/null", path("link"));
  EXPECT_THAT(refusal_of([&] { write_file(path("link"), "x"); }), HasSubstr("a device"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
}

TEST_F(ProtectedFile, ADatabaseAndWhatLiesBesideItAreNotReplaced) {
  const std::string database = std::string("SQLite format 3\0", 16) + std::string(100, 'x');
  write_file(path("evo.db"), database);
  for (const char* name : {"evo.db", "evo.db-wal", "evo.db-journal"}) {
    EXPECT_THAT(refusal_of([&] { write_file(path(name), "results"); }),
                AllOf(HasSubstr(path(name).string()), HasSubstr("a database"),
                      HasSubstr("name another file")));
  }
  EXPECT_EQ(read_text_file(path("evo.db")), database);
  EXPECT_EQ(refusal_of([&] { write_file(path("other-wal"), "results"); }), "accepted");
}

}  // namespace
}  // namespace evo
