#include "engine/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest() {
    const char* was = std::getenv("TMPDIR");
    if (was != nullptr) was_ = was;
    has_been_set_ = was != nullptr;
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  ~TemporaryFolderTest() override {
    has_been_set_ ? setenv("TMPDIR", was_.c_str(), 1) : unsetenv("TMPDIR");
    fs::remove_all(place_);
  }

  [[nodiscard]] const fs::path& place() const { return place_; }

  static std::string refusal_of(const std::string& place) {
    setenv("TMPDIR", place.c_str(), 1);
    try {
      const TemporaryFolder folder("evo-test");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  std::string was_;
  bool has_been_set_ = false;
  fs::path place_ =
      fs::path(::testing::TempDir()) / ("temporary_folder_test" + std::to_string(getpid()));
};

TEST_F(TemporaryFolderTest, IsMadeWhereTheUserSaysAndGoes) {
  EXPECT_EQ(refusal_of(place().string()), "accepted");
  fs::path made;
  {
    const TemporaryFolder folder("evo-test");
    const TemporaryFolder other("evo-test");
    made = folder.path();
    EXPECT_EQ(made.parent_path(), place());
    EXPECT_NE(made, other.path());
    write_file(made / "file", "text");
  }
  EXPECT_FALSE(fs::exists(made));
  EXPECT_EQ(refusal_of(""), "accepted") << "an empty TMPDIR is ignored";
}

TEST_F(TemporaryFolderTest, ThatCannotBeMadeNamesTheVariableAndItsValue) {
  write_file(place() / "file", "text");
  for (const char* wrong : {"missing", "file"}) {
    const std::string named = (place() / wrong).string();
    EXPECT_THAT(refusal_of(named), AllOf(HasSubstr("TMPDIR: '" + named + "'"),
                                         HasSubstr("allowed: a folder in which you may")));
  }
  EXPECT_THAT(refusal_of("/proc"), HasSubstr("TMPDIR: '/proc'"));
}

TEST_F(TemporaryFolderTest, HasAWholePathForProgramsThatAreStartedElsewhere) {
  const fs::path was = fs::current_path();
  fs::current_path(place().parent_path());
  EXPECT_EQ(refusal_of(place().filename().string()), "accepted");
  EXPECT_TRUE(temporary_place().is_absolute());
  EXPECT_TRUE(fs::equivalent(temporary_place(), place()));
  fs::current_path(was);
}

}  // namespace
}  // namespace evo
