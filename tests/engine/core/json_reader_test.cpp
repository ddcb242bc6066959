#include "engine/core/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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

}  // namespace
}  // namespace evo
