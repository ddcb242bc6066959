#include "engine/study/recorded_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/random.hpp"
#include "tests/engine/space/replay_files.hpp"

namespace evo {
namespace {

const std::string kHead = R"({"device_name": "GPU", "kernel_name": "k",
  "tune_params_keys": ["B", "A"], "tune_params": {"B": [16, 8, 4], "A": ["x", "y"]}, "cache": {)";

std::string entry(int b, const char* a, const std::string& rest) {
  const std::string key = std::to_string(b) + "," + a;
  return "\"" + key + "\": {\"B\": " + std::to_string(b) + ", \"A\": \"" + a + "\", " + rest + "}";
}

class RecordingFile : public testing::Test {
 protected:
  RecordedSpace load(const std::string& content) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) /
        (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".json");
    write_file(file, content);
    RecordedSpace space(read_recording(file));
    std::filesystem::remove(file);
    return space;
  }
};

TEST_F(RecordingFile, ReadsEverySpellingOfAFailure) {
  const RecordedSpace space =
      load(kHead + entry(4, "x", R"("time": 2.5, "compilation_time": 3)") + "," +
           entry(8, "x", R"("time": "CompilationFailedConfig")") + "," +
           entry(16, "x", R"("time": 1e20)") + "," +
           entry(4, "y", R"("__error__": "RuntimeFailedConfig")") + "," +
           entry(8, "y", R"("time": null)") + "," + entry(16, "y", R"("time": 1.5)") + "}}");
  EXPECT_EQ(space.rank_count(), 6U);
  EXPECT_EQ(space.sorted_times_ms().size(), 2U);
  EXPECT_EQ(space.value_text(0, 0), "4");  // ascending, whatever the file's order
  EXPECT_TRUE(space.is_ordered(0));
  EXPECT_FALSE(space.is_ordered(1));
  EXPECT_EQ(space.entry(Candidate{{2, 1}}).time_ms, 1.5);
  EXPECT_EQ(space.entry(Candidate{{1, 0}}).failure, "CompilationFailedConfig");
  EXPECT_EQ(space.entry(Candidate{{0, 1}}).failure, "RuntimeFailedConfig");
  EXPECT_EQ(space.entry(Candidate{{2, 0}}).time_ms, std::nullopt);
}

TEST_F(RecordingFile, RefusesMoreValuesThanAChoiceCanName) {
  std::string content = kHead + entry(0, "x", R"("time": 1)");
  for (int b = 1; b <= 65535; ++b) content += "," + entry(b, "x", R"("time": 1)");
  try {
    (void)load(content + "}}");
    FAIL() << "65536 values were taken";
  } catch (const SpaceError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("parameter 'B' has 65536 values"));
  }
}

TEST_F(RecordingFile, RefusesGzipThatUnpacksToTheMachinesMemory) {
  const std::string member = gzip_compressed(std::string(std::size_t{1} << 24, ' '));
  std::string members;
  for (int i = 0; i < 33; ++i) members += member;
  try {
    (void)load(members);
    FAIL() << "528 MiB were unpacked";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("holds more than"));
  }
}

TEST_F(RecordingFile, ValuesAreNotNestedWithoutEnd) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THROW((void)load(kHead + entry(4, "x", R"("time": )" + deep) + "}}"), SpaceError);
  EXPECT_THROW((void)load(R"({"results": [{"configuration": {"a": )" + deep + "}}]}"), SpaceError);
}

TEST_F(RecordingFile, ReadsAnUnfinishedCache) {
  const std::string two = entry(4, "x", R"("time": 2.5)") + ",\n" + entry(8, "x", R"("time": 3)");
  EXPECT_EQ(load(kHead + two + ",\n").rank_count(), 2U);
  EXPECT_EQ(load(kHead + two + "}").rank_count(), 2U);
  EXPECT_EQ(load(kHead + two + ",\n" + R"("16,x": {"B": 16, "A")").rank_count(), 2U);
}

TEST_F(RecordingFile, ReadsT4) {
  const RecordedSpace space = load(R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"B": 1, "A": 2}, "objectives": ["time"], "invalidity": "correct",
     "measurements": [{"name": "other", "value": 9}, {"name": "time", "value": 0.5, "unit": "ms"}]},
    {"configuration": {"B": 2, "A": 2}, "objectives": ["time"], "invalidity": "compile",
     "measurements": []},
    {"configuration": {"B": 3, "A": 2}, "objectives": ["time"], "invalidity": "constraints",
     "measurements": []}]})");
  EXPECT_EQ(space.rank_count(), 2U);
  EXPECT_EQ(space.sorted_times_ms().front(), 0.5);
}

TEST_F(RecordingFile, ReadsGzipAndRejectsDamage) {
  const std::string text = kHead + entry(4, "x", R"("time": 2.5)") + "}}";
  std::string packed = gzip_compressed(text);
  EXPECT_EQ(load(packed).rank_count(), 1U);
  packed.resize(packed.size() - 12);
  EXPECT_THROW(load(packed), InputError);
  EXPECT_THROW(load("{}"), SpaceError);
  EXPECT_THROW(load(kHead + entry(4, "x", R"("speed": 2.5)") + "}}"), SpaceError);
  EXPECT_THROW(load(kHead + entry(4, "x", R"("time": 1e20)") + "}}"), SpaceError);  // nothing ran
}

TEST_F(RecordingFile, ASmallFileThatUnpacksToMuchIsRefused) {
  const auto file = std::filesystem::path(testing::TempDir()) / "bomb.json.gz";
  write_file(file, gzip_compressed(std::string(1 << 22, ' ')));
  EXPECT_LT(std::filesystem::file_size(file), 10000U);
  EXPECT_EQ(read_plain_or_gzip(file, 1 << 22).size(), std::size_t{1} << 22);
  try {
    (void)read_plain_or_gzip(file, (1 << 22) - 1);
    ADD_FAILURE() << "unpacked";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("bomb.json.gz"),
                                             testing::HasSubstr("4194303 bytes")));
  }
  std::filesystem::remove(file);
}

TEST_F(RecordingFile, DamageEndsInAnInputError) {
  const std::string t4 = R"({"results": [{"configuration": {"B": 1}, "objectives": ["time"],
    "invalidity": "correct", "measurements": [{"name": "time", "value": 0.5}]}]})";
  const std::string cache = kHead + entry(4, "x", R"("time": 2.5)") + "," +
                            entry(8, "y", R"("time": [1, {"a": 2}])") + "}}";
  Random random(31);
  for (const std::string& good : {t4, cache, gzip_compressed(cache)}) {
    for (int i = 0; i < 200; ++i) {
      std::string text = good;
      for (std::size_t n = 1 + random.below(3); n > 0; --n) {
        const std::size_t at = random.below(text.size());
        const std::string piece = text.substr(random.below(text.size()), random.below(12));
        text.replace(at, random.below(12), random.below(2) == 0 ? piece : "");
      }
      try {
        (void)load(text);
      } catch (const InputError&) {
      }
    }
  }
  EXPECT_THROW(load("{\"cache\": " + std::string(100000, '[')), InputError);
  EXPECT_THROW(load(R"({"results": [{"configuration": {"B": 1}, "objectives": ["time"],
    "measurements": [{"name": "time"}]}]})"),
               InputError);
  EXPECT_THROW(load(R"({"tune_params_keys": ["A", "A"], "cache": {"1": {"A": 1, "time": 1}}})"),
               InputError);
}

TEST(RecordedSpace, ValidAreExactlyTheRecordedConfigurations) {
  if (replay_files().empty()) GTEST_SKIP() << "no recorded spaces: set EVO_REPLAY_DIR";
  for (const auto& file : replay_files()) {
    const RecordedSpace space(read_recording(file));
    std::size_t valid = 0;
    Candidate candidate;
    candidate.choice.assign(space.parameter_count(), 0);
    for (std::size_t p = 0; p < candidate.choice.size();) {
      valid += space.is_valid(candidate) ? 1 : 0;
      p = 0;
      while (p < candidate.choice.size() && ++candidate.choice[p] == space.value_count(p)) {
        candidate.choice[p++] = 0;
      }
    }
    EXPECT_EQ(valid, space.rank_count()) << file;
    Random random(1);
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(space.is_valid(space.sample(random)));
  }
}

}  // namespace
}  // namespace evo
