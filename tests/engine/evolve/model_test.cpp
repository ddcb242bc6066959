#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "engine/evolve/failure_model.hpp"
#include "engine/evolve/full_strategy.hpp"
#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/kernel_fit.hpp"
#include "engine/evolve/portable_math.hpp"
#include "engine/space/space.hpp"
#include "engine/study/replay_study.hpp"
#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

TEST(PortableMath, AgreesWithTheLibrary) {
  for (double x = -50; x < 50; x += 0.0371) {
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12) << x;
    const double y = std::exp(x / 3);
    EXPECT_NEAR(portable_log(y), std::log(y), 1e-12 * std::max(1.0, std::abs(std::log(y)))) << y;
  }
  EXPECT_EQ(portable_exp(-1000), 0);
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
}

const std::vector<KernelDimension> kDimensions = {{6, true}, {5, true}, {4, false}};

std::vector<std::uint16_t> random_points(std::size_t count, Random& random) {
  std::vector<std::uint16_t> points;
  for (std::size_t i = 0; i < count; ++i) {
    for (const KernelDimension& dimension : kDimensions) {
      points.push_back(static_cast<std::uint16_t>(random.below(dimension.values)));
    }
  }
  return points;
}

double covariance(const Kernel& kernel, std::span<const std::uint16_t> points, std::size_t i,
                  std::size_t j) {
  const std::size_t d = kDimensions.size();
  float value = 0;
  kernel.row(points.subspan(i * d, d), points.subspan(j * d, d), {&value, 1});
  return static_cast<double>(value);
}

/// Solves the linear system A x = b by Gaussian elimination with pivoting, in double precision.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// Mean and variance of a Gaussian process at `point`, computed by the textbook formula from known
/// points.
std::pair<double, double> textbook(const Kernel& kernel, std::span<const std::uint16_t> known,
                                   std::span<const double> targets, double noise,
                                   std::span<const std::uint16_t> point) {
  const std::size_t n = targets.size();
  std::vector<std::uint16_t> all(known.begin(), known.end());
  all.insert(all.end(), point.begin(), point.end());
  std::vector<std::vector<double>> gram(n, std::vector<double>(n));
  std::vector<double> cross(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      gram[i][j] = covariance(kernel, all, i, j) + (i == j ? noise : 0);
    }
    cross[i] = covariance(kernel, all, i, n);
  }
  const std::vector<double> weights = solve(gram, cross);
  double mean = 0;
  double variance = 1;
  for (std::size_t i = 0; i < n; ++i) {
    mean += weights[i] * targets[i];
    variance -= weights[i] * cross[i];
  }
  return {mean, variance};
}

TEST(PoolPosterior, AgreesWithTheTextbookAlsoAfterChoices) {
  Random random(4);
  const Kernel kernel(kDimensions, {{0.5, 0.4}, {0.7, 1.0}, {0.4, 1.0}}, Smoothness::kSlopes);
  constexpr double kNoise = 0.05;
  std::vector<std::uint16_t> known = random_points(30, random);
  const std::vector<std::uint16_t> pool = random_points(12, random);
  std::vector<float> targets;
  for (int i = 0; i < 30; ++i) targets.push_back(static_cast<float>(random.normal()));
  const GaussianProcess process(kernel, known, targets, kNoise);
  PoolPosterior posterior(process, pool);
  std::vector<double> exact(targets.begin(), targets.end());
  const auto check = [&] {
    for (std::size_t i = 0; i < 12; ++i) {
      const auto [mean, variance] =
          textbook(kernel, known, exact, kNoise, {pool.data() + i * 3, 3});
      EXPECT_NEAR(static_cast<double>(posterior.mean()[i]), mean, 2e-4);
      EXPECT_NEAR(static_cast<double>(posterior.variance()[i]), variance, 2e-4);
    }
  };
  check();
  for (const std::size_t chosen : {5U, 2U}) {
    const double believed = static_cast<double>(posterior.mean()[chosen]);
    posterior.choose(chosen);
    known.insert(known.end(), pool.begin() + chosen * 3, pool.begin() + chosen * 3 + 3);
    exact.push_back(believed);
    check();
  }
}

TEST(ImprovedKernel, LearnsWhichParametersMatter) {
  Random random(9);
  const std::vector<std::uint16_t> points = random_points(80, random);
  std::vector<float> targets;
  for (std::size_t i = 0; i < 80; ++i) {
    targets.push_back((static_cast<float>(points[i * 3]) - 2.5F) /
                      1.7F);  // only parameter 0 matters
  }
  const KernelPrior prior;
  FittedKernel fitted = prior_kernel(kDimensions, prior);
  for (int round = 0; round < 4; ++round) {
    fitted = improved_kernel(std::move(fitted), prior, points, targets);
  }
  const auto& shapes = fitted.kernel.shapes();
  EXPECT_GT(shapes[0].relevance, 3 * shapes[1].relevance);
  EXPECT_GT(shapes[0].relevance, 3 * shapes[2].relevance);
  EXPECT_LE(fitted.noise, prior.noise);
}

TEST(FailureModel, LearnsAThreshold) {
  FailureModel model(kDimensions, {});
  Random random(2);
  const std::vector<std::uint16_t> points = random_points(60, random);
  for (std::size_t i = 0; i < points.size(); i += 3) {
    model.add({points.data() + i, 3}, points[i] >= 4);
  }
  const std::vector<std::uint16_t> pool = {0, 2, 1, 1, 4, 3, 5, 2, 1, 5, 0, 3};
  const std::vector<float> probability = model.probability(pool);
  EXPECT_LT(probability[0], 0.3F);
  EXPECT_LT(probability[1], 0.3F);
  EXPECT_GT(probability[2], 0.6F);
  EXPECT_GT(probability[3], 0.6F);
  FailureModel fresh(kDimensions, {});
  EXPECT_EQ(fresh.probability(pool), std::vector<float>(4, 0.0F));
}

/// A space of 4096 candidates, 27 % of which fail, as if they needed too much shared memory or too
/// many registers.
RecordedSpace failing_space() {
  return made_space(
      {8, 8, 8, 4, 2}, [](const Candidate&) { return true; },
      [](const Candidate& c) {
        return (c.choice[0] + 2) * (c.choice[1] + 1) * (c.choice[3] + 1) > 110 ||
               c.choice[2] + 3 * c.choice[4] > 8;
      },
      [](const Candidate& c) {
        return 4.0 / (1 + c.choice[0]) + 3.0 / (1 + c.choice[1]) +
               0.2 * std::abs(c.choice[2] - 4.0 - c.choice[3]) + (c.choice[4] == 0 ? 0.5 : 0.0);
      });
}

#if defined(__SANITIZE_ADDRESS__)  // the whole study would take minutes
constexpr StudyOptions kStudy = {.repeats = 1, .budget = 100, .to_cutoff = false};
#else
constexpr StudyOptions kStudy = {.repeats = 8, .budget = 400, .to_cutoff = false};
#endif

TEST(FullStrategy, WastesLittleOnFailures) {
  const RecordedSpace space = failing_space();
  const auto make = [](const CandidateSpace& of, const StrategyOptions& options) {
    return make_full(of, options);
  };
  const StudyResult result = run_study(space, make, kStudy);
  ASSERT_GT(result.recorded_failed_share, 0.2);
  RecordProperty("failed_share", std::to_string(result.failed_share_after_50));
  EXPECT_LT(result.failed_share_after_50, result.recorded_failed_share / 3);
}

TEST(RunStudy, SameResultWithAnyNumberOfThreads) {
  const RecordedSpace space = bumpy_space();
  const auto make = [](const CandidateSpace& of, const StrategyOptions& options) {
    return make_strategy("genetic", of, options);
  };
  StudyOptions options{.repeats = 12, .budget = 100};
  const StudyResult one = run_study(space, make, options);
  options.jobs = 3;
  const StudyResult three = run_study(space, make, options);
  EXPECT_EQ(one.score.mean, three.score.mean);
  EXPECT_EQ(one.fraction[2].mean, three.fraction[2].mean);
  EXPECT_EQ(one.evaluations, three.evaluations);
}

/// A space of more than a million valid candidates with eleven parameters.
SpaceDefinition million_space() {
  SpaceDefinition definition{.file = "m.json",
                             .name = "m",
                             .problem = "p",
                             .template_name = "t",
                             .arch = "sm_90",
                             .shape = "s",
                             .parameters = {}};
  for (int p = 0; p < 11; ++p) {
    Parameter parameter{"P" + std::to_string(p), {}, 0, "m"};
    for (int v = 0; v < 4; ++v) {
      parameter.values.push_back(
          {ParameterValue::Kind::kInteger, std::to_string(1 << v), static_cast<double>(1 << v)});
    }
    definition.parameters.push_back(std::move(parameter));
  }
  definition.constraints = {{"P0 * P1 * P2 <= 128", "a"}, {"P3 + P4 * P5 <= 48", "b"}};
  return definition;
}

TEST(FullStrategy, ProposesQuicklyInASpaceOfAMillion) {
  const Space space(million_space());
  ASSERT_GT(space.count().value, 1e6);
  const auto strategy = make_full(space, {.elite_size = 3, .seed = 1});
  double seconds = 0;
  constexpr int kGenerations = 40;
  for (int g = 0; g < kGenerations; ++g) {
    const std::clock_t start = std::clock();  // processor time: other programs do not count
    const auto proposals = strategy->propose(8);
    seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_EQ(proposals.size(), 8U);
    std::vector<Observation> observations;
    for (const Candidate& candidate : proposals) {
      double time_us = 100;
      for (const std::uint16_t value : candidate.choice) time_us *= 1.1 - 0.03 * value;
      observations.push_back({candidate, time_us, {}});
    }
    strategy->observe(observations);
  }
  RecordProperty("ms_per_generation", std::to_string(1e3 * seconds / kGenerations));
  EXPECT_LT(seconds / kGenerations, 0.1);  // typically a few ms; longer with sanitizers
}

}  // namespace
}  // namespace evo
