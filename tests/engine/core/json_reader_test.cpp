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

/// The error for a JSON text; "" if the reader accepts it.
std::string said_of(const std::string& text) {
  try {
    (void)parse_json(text, "f.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(JsonText, NamesAKeyThatIsThereTwiceAndWhereItStands) {
  EXPECT_THAT(said_of("{\"a\": 1,\n  \"b\": 2, \"a\": 3}"),
              AllOf(HasSubstr("f.json: a: "), HasSubstr("line 2, column 14")));
  EXPECT_THAT(said_of("{\"p\": [{\"x\": 1}, {\"v\": {\"q\\\"\": 1, \"q\\u0022\": 2}}]}"),
              HasSubstr("p[1].v.q\": this key appears twice"));
  EXPECT_EQ(said_of("{\"a\": {\"a\": [{\"a\": 1}, {\"a\": 1}]}}"), "");
}

TEST(JsonText, IsWhatTheLibraryItselfReads) {
  const std::string text =
      R"({"a": [1, -2, 3.5, 1e3, "x\n", true, null, {}], "b": {"c": [[], [18446744073709551615]]}})";
  EXPECT_EQ(parse_json(text, "f"), Json::parse(text));
}

TEST(JsonText, RefusesWhatIsNoPlainText) {
  EXPECT_THAT(said_of("\xef\xbb\xbf{}"), HasSubstr("byte order mark"));
  EXPECT_THAT(said_of(""), HasSubstr("empty"));
  EXPECT_THAT(said_of(" \n"), HasSubstr("empty"));
  EXPECT_THAT(said_of(std::string("{}\0", 3)), AllOf(HasSubstr("NUL"), HasSubstr("column 3")));
  EXPECT_THAT(said_of("{\"mis\xff\": 1}"), AllOf(HasSubstr("not UTF-8"), HasSubstr("column 6")));
  EXPECT_THAT(said_of("{} // \xc3("), HasSubstr("not UTF-8"));
  EXPECT_THAT(said_of("{\"a\": 1} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(said_of("{\"a\": 1e999}"), HasSubstr("f.json"));
  EXPECT_THAT(said_of("{\"a\": 18446744073709551616}"),
              AllOf(HasSubstr("a: 18446744073709551616"), HasSubstr("64 bits")));
}

TEST(JsonText, NestingHasALimit) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(said_of(nested(64)), "");
  EXPECT_THAT(said_of(nested(65)), HasSubstr("nested too deeply; allowed: 64"));
  EXPECT_THAT(said_of(std::string(1000000, '[')), HasSubstr("nested too deeply"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(said_of(objects), HasSubstr("nested too deeply"));
}

TEST(JsonText, TruncatedAndDamagedTextEndsInAnError) {
  const std::string text = R"({"a": [1, "x\u00e9", {"b": -1.5e3}], "c": "\ud83d\ude00 é"} // end)";
  for (std::size_t length = 0; length + 7 < text.size(); ++length) {
    EXPECT_NE(said_of(text.substr(0, length)), "") << length;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      (void)said_of(damaged);  // any result except a crash
    }
  }
}

TEST(JsonText, WhatIsTooLongOrTooLargeIsNamedAndNotQuotedWhole) {
  EXPECT_THAT(said_of(R"({"tolerance": {"max_abs_error": 1e400}})"),
              AllOf(HasSubstr("tolerance.max_abs_error: 1e400: allowed: numbers up to 1.7e308"),
                    HasSubstr("line 1")));
  const std::string large(1'000'000, 'k');
  const std::string twice = "{\"" + large + "\": 1, \"" + large + "\": 1}";
  EXPECT_THAT(said_of(twice), HasSubstr("kkk…: this key appears twice"));
  EXPECT_LT(said_of(twice).size(), 500U);
  EXPECT_LT(said_of("{\"" + large).size(), 600U);
  const Json object = {{large, 1}};
  const std::string unknown = message_of([&] { JsonReader(object, "file", "").finish(); });
  EXPECT_THAT(unknown, HasSubstr("kkk…: 1: unknown key"));
  EXPECT_LT(unknown.size(), 500U);
}

TEST(JsonFile, WhatHasNoEndIsNotReadForEver) {
  EXPECT_THAT(message_of([] { (void)read_text_file("/dev/zero"); }),
              AllOf(HasSubstr("/dev/zero"), HasSubstr("a device")));
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "long_file";
  write_file(file, std::string((1 << 20) + 1, 'x'));
  EXPECT_THAT(message_of([&] { (void)read_text_file(file, 1 << 20); }),
              AllOf(HasSubstr(file.string()), HasSubstr("1048576 bytes")));
  std::filesystem::remove(file);
  EXPECT_THAT(message_of([] { (void)read_text_file("/tmp"); }), HasSubstr("folder"));
}

/// Runs `body` in a child process in which files are limited to `bytes` bytes. Returns the child's
/// exit code, which is 1 after an InputError.
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
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1)
      << "no partial file is left in the folder";
  EXPECT_EQ(with_small_files(1000, [&] { write_file(file, std::string(1000, 'x')); }), 0);
  EXPECT_EQ(read_text_file(file), std::string(1000, 'x'));
  EXPECT_THROW(write_file(folder / "no/such/folder", "x"), InputError);
  EXPECT_THROW(write_file(folder, "x"), InputError) << "the path is a folder";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace evo
