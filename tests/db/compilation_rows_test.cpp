// Tests storing compilations in the database and finding them by the key of their request.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(Compilations, KeepsCompilationsWithTheirBlobs) {
  Store store = Store::in_memory();
  CompilationRecord record = sample::compilation("a");
  for (int byte = 0; byte < 256; ++byte) record.cubin += static_cast<char>(byte);
  const CompilationId id = store.put_compilation(record);
  const CompilationRecord found = store.compilation(store.compilation_id(record.key).value());
  EXPECT_TRUE(found.ok);
  EXPECT_EQ(found.cubin, record.cubin);
  EXPECT_EQ(found.ptx, record.ptx);
  EXPECT_EQ(found.source, record.source);
  EXPECT_EQ(found.resources, record.resources);
  EXPECT_EQ(found.ptx_hash, record.ptx_hash);
  EXPECT_EQ(store.compilation_id(record.key), id);
  EXPECT_FALSE(store.compilation_id("unknown").has_value());
}

TEST(Compilations, KeepsFailedCompilationsAsWell) {
  Store store = Store::in_memory();
  store.put_compilation(sample::failed_compilation("bad"));
  const CompilationRecord found = store.compilation(store.compilation_id("key-bad").value());
  EXPECT_FALSE(found.ok);
  EXPECT_THAT(found.error, HasSubstr("expected a ';'"));
  EXPECT_EQ(found.ptx_hash, "");
}

TEST(Compilations, TheFirstCompilationOfAKeyWins) {
  Store store = Store::in_memory();
  const CompilationId id = store.put_compilation(sample::compilation("a"));
  CompilationRecord again = sample::compilation("a");
  again.cubin = "other";
  EXPECT_EQ(store.put_compilation(again), id);
  EXPECT_NE(store.compilation(id).cubin, "other");
}

TEST(Compilations, KeepsWhatEachStateOfTheIncludedFilesGave) {
  Store store = Store::in_memory();
  CompilationRecord first = sample::compilation("a");
  first.request_key = "request";
  first.dependencies = {{"/include/a.h", "content 1"}, {"/include/b.h", ""}};
  CompilationRecord second = sample::compilation("b");
  second.request_key = "request";
  second.dependencies = {{"/include/a.h", "content 2"}};
  store.put_compilation(first);
  store.put_compilation(second);
  store.put_compilation(sample::compilation("c"));
  const auto found = store.find_compilation_facts("request");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].key, second.key);
  EXPECT_EQ(found[0].dependencies, second.dependencies);
  EXPECT_EQ(found[1].dependencies, first.dependencies);
  // Compilation "c" has no dependencies, so its own key is also the key of its request.
  EXPECT_EQ(store.find_compilation_facts("key-c").size(), 1U);
  EXPECT_TRUE(store.find_compilation_facts("key-a").empty());
}

TEST(Compilations, ErrorsAndLogsOfAnyBytesAreKept) {
  Store store = Store::in_memory();
  CompilationRecord failed;
  failed.key = "bytes";
  failed.error = std::string("\0ptxas \xff", 8);
  failed.log = std::string("a\0b", 3);
  store.put_compilation(failed);
  const CompilationRecord back = store.compilation(store.compilation_id("bytes").value());
  EXPECT_EQ(back.error, "\\x00ptxas \\xff");
  EXPECT_EQ(back.log, "a\\x00b");
}

TEST(Compilations, FactsOfACompilationNeedNoTexts) {
  Store store = Store::in_memory();
  CompilationRecord record = sample::compilation("a");
  record.request_key = "request";
  record.dependencies = {{"/include/a.h", "content 1"}};
  const CompilationId id = store.put_compilation(record);
  store.connection().database().exec("UPDATE artifact SET ptx = x'00'");
  const auto found = store.find_compilation_facts("request");
  ASSERT_EQ(found.size(), 1U);
  for (const CompilationFacts& facts : {found[0], store.compilation_facts(id)}) {
    EXPECT_EQ(facts.id, id);
    EXPECT_EQ(facts.key, record.key);
    EXPECT_EQ(facts.ptx_hash, record.ptx_hash);
    EXPECT_EQ(facts.resources, record.resources);
  }
  EXPECT_EQ(found[0].dependencies, record.dependencies);
  EXPECT_EQ(store.compilation_id(record.key), id);
  EXPECT_EQ(store.put_compilation(record), id) << "the key is already stored";
  EXPECT_THROW((void)store.compilation(id), DbError);
  EXPECT_THROW((void)store.compilation_facts(id + 1), DbError);
}

TEST(Compilations, KeepsASourceOnce) {
  Store store = Store::in_memory();
  CompilationRecord record = sample::compilation("a");
  for (const char* key : {"1", "2", "3"}) {
    record.key = key;
    store.put_compilation(record);
  }
  record.key = "4";
  record.source += "// another";
  const CompilationId last = store.put_compilation(record);
  SQLite::Database& database = store.connection().database();
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM source").getInt(), 2);
  EXPECT_EQ(store.compilation(last).source, record.source);
  EXPECT_NE(store.compilation(last - 1).source, record.source);
}

TEST(Compilations, RefusesACompilationThatIsNeitherGoodNorBad) {
  Store store = Store::in_memory();
  CompilationRecord record = sample::compilation("a");
  record.ptx_hash.clear();
  try {
    store.put_compilation(record);
    FAIL();
  } catch (const DbError& error) {
    EXPECT_THAT(error.what(), HasSubstr("PTX hash or an error"));
  }
}

TEST(Compilations, FindsACachedCompilationInUnderAMillisecond) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  constexpr int kCompilations = 500;
  for (int i = 0; i < kCompilations; ++i) {
    CompilationRecord record = sample::compilation(std::to_string(i));
    record.cubin.resize(30'000, 'c');
    record.ptx.resize(60'000, 'p');
    record.source.resize(20'000, 's');
    store.put_compilation(record);
  }
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCompilations; ++i) {
    const auto id = store.compilation_id("key-" + std::to_string(i));
    ASSERT_EQ(store.compilation(id.value()).cubin.size(), 30'000U);
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  RecordProperty("lookup_us", static_cast<int>(elapsed.count() / kCompilations * 1000));
  EXPECT_LT(elapsed.count() / kCompilations, 1.0);
}

}  // namespace
}  // namespace evo
