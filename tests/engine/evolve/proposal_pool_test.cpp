#include "engine/evolve/proposal_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

TEST(ProposalPool, TakesWhatIsValidNewAndNotThereYet) {
  const RecordedSpace space = bumpy_space();
  const Encoding encoding(space);
  SeenSet seen(space);
  const Candidate first = *space.at_rank(0);
  const Candidate second = *space.at_rank(1);
  const Candidate measured = *space.at_rank(2);
  seen.add(measured);
  Candidate invalid = first;
  invalid.choice[0] = 5;
  invalid.choice[1] = 4;
  ASSERT_FALSE(space.is_valid(invalid));
  ProposalPool pool(space, encoding, seen);
  pool.add(std::vector<Candidate>{first, measured, invalid, second, first});
  EXPECT_THAT(pool.candidates(), testing::ElementsAre(first, second));
  Random random(1);
  pool.breed(std::vector<Candidate>{second}, {}, random);
  EXPECT_GT(pool.candidates().size(), 100U);
  EXPECT_EQ(pool.candidates().front(), first) << "breeding keeps the earlier candidates";
  for (const Candidate& candidate : pool.candidates()) {
    EXPECT_TRUE(space.is_valid(candidate));
    EXPECT_NE(candidate, measured);
  }
}

}  // namespace
}  // namespace evo
