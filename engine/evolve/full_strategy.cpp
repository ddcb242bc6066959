#include "engine/evolve/full_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/portable_math.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

class FullStrategy final : public Strategy {
 public:
  FullStrategy(const CandidateSpace& space, const StrategyOptions& options,
               const FullSettings& settings)
      : space_(space),
        options_(options),
        s_(settings),
        random_(options.seed),
        seen_(space),
        encoding_(space),
        kernel_(encoding_.dimensions(),
                std::vector<KernelShape>(encoding_.size(), {settings.relevance, settings.length})) {
  }

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> out;
    if (encoding_.size() == 0 || ok_.size() < 3 || ok_.size() + failed_.size() < s_.initial) {
      out = initial(count);
    } else {
      out = modelled(count);
    }
    while (out.size() < count) {
      auto c = seen_.random_unseen(random_);
      if (!c) break;
      seen_.add(*c);
      out.push_back(*c);
    }
    return out;
  }

  void observe(std::span<const Observation> observations) override {
    for (const Observation& o : observations) {
      seen_.add(o.candidate);
      if (o.time_us) {
        ok_.push_back({o.candidate, portable_log(*o.time_us)});
      } else {
        failed_.push_back(o.candidate);
      }
    }
  }

 private:
  struct Sample {
    Candidate candidate;
    double y;
  };

  std::vector<Candidate> initial(std::size_t count) {
    // maximin among random draws
    std::vector<Candidate> out;
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<Candidate> best;
      std::size_t bd = 0;
      for (int t = 0; t < 12; ++t) {
        auto c = seen_.random_unseen(random_);
        if (!c) break;
        std::size_t d = 1000;
        for (auto& o : ok_) d = std::min(d, hamming_distance(o.candidate, *c));
        for (auto& o : failed_) d = std::min(d, hamming_distance(o, *c));
        for (auto& o : out) d = std::min(d, hamming_distance(o, *c));
        if (!best || d > bd) {
          best = c;
          bd = d;
        }
      }
      if (!best) break;
      seen_.add(*best);
      out.push_back(*best);
    }
    return out;
  }

  std::vector<std::size_t> by_time() const {
    std::vector<std::size_t> order(ok_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return ok_[a].y < ok_[b].y; });
    return order;
  }

  std::vector<std::size_t> training(const std::vector<std::size_t>& order, std::size_t limit) {
    std::vector<std::size_t> set(order.begin(), order.end());
    if (set.size() > limit) {
      const std::size_t top = limit / 2;
      std::vector<std::size_t> rest(set.begin() + static_cast<std::ptrdiff_t>(top), set.end());
      set.resize(top);
      // stride over the rest
      for (std::size_t i = 0; i < limit - top; ++i)
        set.push_back(rest[i * rest.size() / (limit - top)]);
    }
    return set;
  }

  std::vector<float> targets(const std::vector<std::size_t>& set,
                             const std::vector<std::size_t>& order) const {
    const double best = ok_[order.front()].y;
    const double med = ok_[order[order.size() / 2]].y;
    const double cap = best + s_.clip * std::max(med - best, 0.02);
    std::vector<double> y;
    for (auto i : set) {
      double v = std::min(ok_[i].y, cap);
      if (s_.transform == 1) v = 1 - portable_exp(best - ok_[i].y);
      if (s_.transform == 2) v = std::sqrt(std::min(ok_[i].y, cap) - best);
      y.push_back(v);
    }
    const double m = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
    double var = 0;
    for (double v : y) var += (v - m) * (v - m);
    const double sd = std::sqrt(std::max(var / static_cast<double>(y.size()), 1e-8));
    std::vector<float> out;
    for (double v : y) out.push_back(static_cast<float>((v - m) / sd));
    return out;
  }

  void fit(const std::vector<std::size_t>& order) {
    if (!s_.hyper) return;
    if (static_cast<double>(ok_.size()) < next_fit_) return;
    next_fit_ = static_cast<double>(ok_.size()) * s_.fit_growth;
    const auto set = training(order, s_.fit_points);
    const auto y = targets(set, order);
    std::vector<std::uint16_t> pts;
    for (auto i : set) encoding_.append(ok_[i].candidate, pts);
    auto value = [&] {
      double prior = 0;
      for (auto& h : kernel_.shapes()) {
        prior -= 0.5 * std::pow(std::log(h.length / s_.length) / 1.0, 2);
        double l = std::log(h.relevance / (1 - h.relevance));
        prior -= 0.5 * std::pow(l / 1.5, 2);
      }
      prior -= 0.5 * std::pow(std::log(noise_ / s_.noise) / 1.0, 2);
      return GaussianProcess(kernel_, pts, y, noise_).log_likelihood() + prior;
    };
    double best = value();
    for (std::size_t d = 0; d < encoding_.size(); ++d) {
      for (int which = 0; which < 2; ++which) {
        if (which == 1 &&
            (!encoding_.dimensions()[d].ordered || encoding_.dimensions()[d].values < 3))
          continue;
        for (int dir : {-1, 1}) {
          bool moved = false;
          for (int step = 0; step < 2; ++step) {
            KernelShape old = kernel_.shapes()[d], h = old;
            if (which == 0) {
              double l = std::log(h.relevance / (1 - h.relevance)) + dir * 1.0;
              if (std::abs(l) > 4) break;
              h.relevance = 1 / (1 + std::exp(-l));
            } else {
              h.length *= dir > 0 ? 1.8 : 1 / 1.8;
            }
            kernel_.set_shape(d, h);
            double v = value();
            if (v > best) {
              best = v;
              moved = true;
            } else {
              kernel_.set_shape(d, old);
              break;
            }
          }
          if (moved) break;
        }
      }
    }
    for (double f : {0.5, 2.0}) {
      double old = noise_;
      noise_ = std::clamp(noise_ * f, 1e-3, 0.3);
      double v = value();
      if (v > best) {
        best = v;
        break;
      }
      noise_ = old;
    }
  }

  struct Pool {
    std::vector<Candidate> list;
    std::unordered_set<Candidate, CandidateHash> in;
  };
  void add(Pool& pool, const Candidate& c) {
    if (seen_.contains(c) || !pool.in.insert(c).second) return;
    pool.list.push_back(c);
  }

  Candidate mutate(const Candidate& base, std::size_t changes) {
    Candidate c = base;
    const auto& act = encoding_.active();
    for (std::size_t k = 0; k < changes; ++k) {
      const std::size_t p = act[random_.below(act.size())];
      std::size_t v = random_.below(space_.value_count(p) - 1);
      if (v >= c.choice[p]) ++v;
      c.choice[p] = static_cast<std::uint16_t>(v);
    }
    return c;
  }

  void breed(Pool& pool, const std::vector<const Candidate*>& parents) {
    for (const Candidate* p : parents) {
      for (const Candidate& n : neighbours(space_, *p, Neighbourhood::kAnyValue)) add(pool, n);
    }
    for (std::size_t i = 0; i < s_.pool_pairs * 3; ++i) {
      const Candidate& p = *parents[random_.below(parents.size())];
      Candidate c = mutate(p, 2 + (random_.below(3) == 0 ? 1 : 0));
      if (space_.is_valid(c)) add(pool, c);
    }
    for (std::size_t i = 0; i < s_.pool_cross * 2 && parents.size() > 1; ++i) {
      std::size_t a = random_.below(parents.size()), b = random_.below(parents.size() - 1);
      if (b >= a) ++b;
      Candidate c = *parents[a];
      for (std::size_t p : encoding_.active())
        if (random_.below(2)) c.choice[p] = parents[b]->choice[p];
      if (random_.below(2)) c = mutate(c, 1);
      if (space_.is_valid(c)) add(pool, c);
    }
  }

  std::vector<std::uint16_t> encode(const std::vector<Candidate>& list) const {
    std::vector<std::uint16_t> pts;
    for (auto& c : list) encoding_.append(c, pts);
    return pts;
  }

  std::vector<float> fail_probability(const PoolPosterior& post,
                                      const std::vector<std::uint16_t>& pool, std::size_t n) {
    const std::size_t m = post.mean().size();
    std::vector<float> p(m, 0.0F);
    if (failed_.empty()) return p;
    const double base =
        static_cast<double>(failed_.size()) / static_cast<double>(failed_.size() + ok_.size());
    std::vector<float> good(m, 0.0F), bad(m, 0.0F), row(m);
    auto powed = [&](float k) {
      float r = k;
      for (int i = 1; i < static_cast<int>(s_.fail_power); ++i) r *= k;
      return r;
    };
    for (std::size_t i = 0; i < n; ++i) {
      auto c = post.covariances(i);
      for (std::size_t j = 0; j < m; ++j) good[j] += powed(c[j]);
    }
    const float scale = static_cast<float>(ok_.size()) / static_cast<float>(n);
    std::vector<std::uint16_t> pt;
    const std::size_t limit = 200;
    const std::size_t first = failed_.size() > limit ? failed_.size() - limit : 0;
    for (std::size_t f = first; f < failed_.size(); ++f) {
      pt.clear();
      encoding_.append(failed_[f], pt);
      kernel_.row(pt, pool, row);
      for (std::size_t j = 0; j < m; ++j) bad[j] += powed(row[j]);
    }
    (void)scale;
    const float prior = static_cast<float>(s_.fail_prior) * 0.05F;
    for (std::size_t j = 0; j < m; ++j) {
      p[j] = (bad[j] + prior * static_cast<float>(base)) / (bad[j] + good[j] + prior);
    }
    return p;
  }

  std::vector<Candidate> modelled(std::size_t count) {
    const auto order = by_time();
    fit(order);
    const auto set = training(order, s_.max_training);
    std::vector<std::uint16_t> pts;
    for (auto i : set) encoding_.append(ok_[i].candidate, pts);
    const auto y = targets(set, order);
    const GaussianProcess gp(kernel_, pts, y, noise_);
    const float ybest = *std::min_element(y.begin(), y.end());

    Pool pool;
    std::vector<const Candidate*> parents;
    for (std::size_t i = 0; i < std::min(s_.elites, order.size()); ++i)
      parents.push_back(&ok_[order[i]].candidate);
    breed(pool, parents);
    for (std::size_t i = 0; i < s_.pool_random; ++i) {
      if (auto c = seen_.random_unseen(random_)) add(pool, *c);
    }
    if (pool.list.empty()) return {};
    if (s_.pool_climb > 0) {
      // second round around the most promising
      const auto enc = encode(pool.list);
      PoolPosterior post(gp, enc);
      const auto pf = fail_probability(post, enc, set.size());
      std::vector<std::size_t> idx(pool.list.size());
      std::iota(idx.begin(), idx.end(), std::size_t{0});
      std::stable_sort(idx.begin(), idx.end(), [&](auto a, auto b) {
        return post.mean()[a] - std::sqrt(post.variance()[a]) +
                   static_cast<float>(s_.fail_weight) * pf[a] <
               post.mean()[b] - std::sqrt(post.variance()[b]) +
                   static_cast<float>(s_.fail_weight) * pf[b];
      });
      Pool next;
      for (std::size_t i = 0; i < std::min<std::size_t>(idx.size(), 60); ++i)
        add(next, pool.list[idx[i]]);
      for (std::size_t i = 0; i < std::min(idx.size(), s_.pool_climb); ++i) {
        for (const Candidate& n : neighbours(space_, pool.list[idx[i]], Neighbourhood::kAnyValue))
          add(next, n);
      }
      pool = std::move(next);
    }
    const auto enc = encode(pool.list);
    PoolPosterior post(gp, enc);
    const auto pf = fail_probability(post, enc, set.size());
    std::vector<Candidate> out;
    std::vector<bool> taken(pool.list.size(), false);
    for (std::size_t k = 0; k < count && k < pool.list.size(); ++k) {
      const double beta =
          s_.beta_low + (s_.beta_high - s_.beta_low) *
                            (count > 1 ? static_cast<double>(k) / static_cast<double>(count - 1)
                                       : random_.uniform());
      std::size_t best = pool.list.size();
      double bs = 0;
      for (std::size_t j = 0; j < pool.list.size(); ++j) {
        if (taken[j]) continue;
        const double sd = std::sqrt(post.variance()[j]);
        double score;
        if (s_.acquisition == 0) {
          score = post.mean()[j] - beta * sd + s_.fail_weight * pf[j];
        } else {
          const double z = (ybest - s_.beta_low * 0.03 - post.mean()[j]) / sd;
          const double cdf = 1 / (1 + std::exp(-1.702 * z));
          const double pdf = 0.398942 * std::exp(-0.5 * z * z);
          score = -std::log(std::max(sd * (z * cdf + pdf), 1e-30) * (1 - std::min(0.99F, pf[j])));
        }
        if (best == pool.list.size() || score < bs) {
          best = j;
          bs = score;
        }
      }
      taken[best] = true;
      post.choose(best);
      seen_.add(pool.list[best]);
      out.push_back(pool.list[best]);
    }
    return out;
  }

  const CandidateSpace& space_;
  StrategyOptions options_;
  FullSettings s_;
  Random random_;
  SeenSet seen_;
  Encoding encoding_;
  Kernel kernel_;
  double noise_ = 0.02;
  double next_fit_ = 12;
  std::vector<Sample> ok_;
  std::vector<Candidate> failed_;
};

}  // namespace

std::unique_ptr<Strategy> make_full(const CandidateSpace& space, const StrategyOptions& options,
                                    const FullSettings& settings) {
  return std::make_unique<FullStrategy>(space, options, settings);
}

}  // namespace evo
