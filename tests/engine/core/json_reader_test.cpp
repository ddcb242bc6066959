#include "engine/core/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>
#include <string>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(JsonReader, NamesFileKeyValueAndWhatIsAllowed) {
  const Json object = {{"tiles", "many"}, {"mode", "slow"}};
  const JsonReader reader(object, "space.json", "parameters[2]");
  EXPECT_THAT(message_of([&] { (void)reader.integer("tiles"); }),
              AllOf(HasSubstr("space.json"), HasSubstr("parameters[2].tiles"),
                    HasSubstr("\"many\""), HasSubstr("an integer")));
  EXPECT_THAT(message_of([&] {
                (void)reader.one_of("mode", {"fast", "exact"});
              }),
              AllOf(HasSubstr("\"slow\""), HasSubstr("fast, exact")));
  EXPECT_THAT(message_of([&] { (void)reader.string("absent"); }), HasSubstr("missing"));
}

TEST(JsonReader, RejectsKeysNobodyAskedFor) {
  const Json object = {{"known", 1}, {"unknwon", 2}};
  const JsonReader reader(object, "f.json");
  EXPECT_EQ(reader.integer("known"), 1);
  EXPECT_THAT(message_of([&] { reader.finish(); }),
              AllOf(HasSubstr("unknwon"), HasSubstr("allowed: known")));
}

TEST(JsonReader, ReadsNumbersAsExpressions) {
  const Json object = {{"a", 64}, {"b", "S * 2"}};
  const JsonReader reader(object, "f.json");
  EXPECT_EQ(reader.expression("a"), "64");
  EXPECT_EQ(reader.expression("b"), "S * 2");
}

TEST(JsonFile, NamesTheFileThatIsMissingOrBroken) {
  EXPECT_THAT(message_of([] { (void)read_json_file("/nowhere/x.json"); }),
              HasSubstr("/nowhere/x.json"));
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / "json_reader_test_broken.json";
  write_file(file, "{ \"a\": }");
  EXPECT_THAT(message_of([&] { (void)read_json_file(file); }),
              AllOf(HasSubstr("broken.json"), HasSubstr("line 1")));
  std::filesystem::remove(file);
}

/// Runs `body` in a process of its own in which no file may grow beyond `bytes`.
int with_small_files(rlim_t bytes, const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      body();
    } catch (const InputError&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(WriteFile, WritesAllOrLeavesWhatWasThere) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "write_file_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path file = folder / "text";
  write_file(file, "old");
  EXPECT_EQ(with_small_files(1000, [&] { write_file(file, std::string(1001, 'x')); }), 1);
  EXPECT_EQ(read_text_file(file), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing partial stays";
  EXPECT_EQ(with_small_files(1000, [&] { write_file(file, std::string(1000, 'x')); }), 0);
  EXPECT_EQ(read_text_file(file), std::string(1000, 'x'));
  EXPECT_THROW(write_file(folder / "no/such/folder", "x"), InputError);
  EXPECT_THROW(write_file(folder, "x"), InputError) << "a folder";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace evo
