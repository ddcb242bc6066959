#include "db/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "db/connection.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class QueryTest : public testing::Test {
 protected:
  /// Binds `value` to a statement that returns it, and reads the result.
  template <typename Value>
  Value through(const Value& value) {
    return db_.query("SELECT ?", value).template first<Value>().value();
  }
  template <typename Value>
  std::string type_of(const Value& value) {
    return db_.query("SELECT typeof(?)", value).template first<std::string>().value();
  }

  Connection db_{":memory:", Connection::Mode::kReadWrite};
};

TEST_F(QueryTest, GivesBackWhatWasBound) {
  EXPECT_EQ(through(-7), -7);
  EXPECT_EQ(through(true), true);
  EXPECT_EQ(through(std::numeric_limits<std::int64_t>::min()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(through(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(through(0.1), 0.1);
  EXPECT_EQ(through(std::numeric_limits<double>::infinity()),
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(through(std::nan(""))));
  EXPECT_EQ(through(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(through(std::optional<int>()), std::optional<int>());
  EXPECT_EQ(through(std::optional<double>(2.5)), std::optional<double>(2.5));
  EXPECT_EQ(through(Gate::kProfile), Gate::kProfile);
  EXPECT_EQ(through(TimeKind::kPredicted), TimeKind::kPredicted);
  for (const RunStatus status :
       {RunStatus::kRunning, RunStatus::kFinished, RunStatus::kInterrupted, RunStatus::kFailed}) {
    EXPECT_EQ(through(status), status);
  }
  for (const Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kTie}) {
    EXPECT_EQ(through(verdict), verdict);
  }
}

TEST_F(QueryTest, StoresValuesByTheirKind) {
  EXPECT_EQ(type_of(1), "integer");
  EXPECT_EQ(type_of(1.0), "real");
  EXPECT_EQ(type_of(std::nan("")), "null");
  EXPECT_EQ(type_of(std::optional<std::string>()), "null");
  EXPECT_EQ(type_of("x"), "text");
  EXPECT_EQ(type_of(std::uint64_t{1}), "text");
  EXPECT_EQ(type_of(Verdict::kTie), "text");
  EXPECT_EQ(type_of(Blob{"x"}), "blob");
  EXPECT_EQ(type_of(Blob{}), "blob") << "an empty Blob is not NULL";
}

TEST_F(QueryTest, ReadsColumnsInTheirOrderAndRowsFromTheirFirstColumn) {
  Query row = db_.query("VALUES (1, 'a', NULL), (2, 'b', 0.5)");
  int number = 0;
  std::string text;
  std::optional<double> real;
  ASSERT_TRUE(row.next());
  row.read(number);
  row.read(text, real);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(text, "a");
  EXPECT_EQ(real, std::nullopt);
  ASSERT_TRUE(row.next());
  row.read(number, text, real);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(real, 0.5);
  EXPECT_FALSE(row.next());
}

TEST_F(QueryTest, GivesTheFirstOrAll) {
  EXPECT_EQ(db_.query("SELECT 1 WHERE 0").first<int>(), std::nullopt);
  EXPECT_THAT(db_.query("VALUES (3), (1), (2)").all<int>(), ElementsAre(3, 1, 2));
  EXPECT_EQ(db_.query("VALUES (3), (1), (2)").first<int>(), 3) << "a reused statement starts again";
}

TEST_F(QueryTest, ANameThatNoValueHasIsAnError) {
  EXPECT_THAT([&] { (void)db_.query("SELECT 'draw'").first<Verdict>(); },
              ThrowsMessage<InputError>(HasSubstr("unknown verdict 'draw'")));
}

}  // namespace
}  // namespace evo
