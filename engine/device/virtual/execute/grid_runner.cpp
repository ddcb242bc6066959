#include "engine/device/virtual/execute/grid_runner.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "engine/core/random.hpp"
#include "engine/device/virtual/execute/cta_team.hpp"
#include "engine/device/virtual/memory/global_access.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint64_t kSlice = 400'000;  ///< warp instructions before another CTA may run
/// Number of warp instructions after which another CTA may run if the CTAs of the launch wait for
/// each other. The number of instructions is small, so that a waiting CTA costs little.
constexpr std::uint64_t kSliceTogether = 20'000;
constexpr std::uint64_t kSliceInTurns = 1'000;  ///< the same for GridOptions::in_turns
constexpr int kMostThreads = 256;
/// If a CTA pauses, its host thread starts a new CTA unless the thread already runs this number of
/// other CTAs.
constexpr std::size_t kMostAside = 8;
/// Except in the cases that team_of() names, CTAs start in groups of at most kWindow successive
/// CTAs of the grid, in random order within a group. A group is never larger than the number of
/// CTAs that can be resident, so that a CTA may wait for a CTA that precedes it in the grid.
constexpr std::uint64_t kWindow = 64;
constexpr std::uint64_t kMostBytes = 4ULL << 30;  ///< host memory for all running CTAs

template <typename T>
void add(const std::vector<T>& from, std::vector<T>& to) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

/// Whether a CTA with `work` warp instructions is longer than `other`, or as long and earlier in
/// the grid.
bool is_longer(std::uint64_t work, std::uint64_t cta, const CtaRecord& other) {
  return other.warps.empty() || work > other.work || (work == other.work && cta < other.cta);
}

std::uint64_t signature_of(Cta& cta) {
  std::uint64_t signature = 0;
  for (const std::uint64_t count : cta.counts()) signature = mix_seed(signature, count);
  for (const Warp& warp : cta.warps()) signature = mix_seed(signature, warp.executed);
  return signature;
}

/// The time that a CTA spent in nanosleep and printf, as an equivalent number of warp instructions.
std::uint64_t waited(Cta& cta) {
  constexpr std::uint64_t kOfAPrint = 2000;
  std::uint64_t sum = 0;
  for (const MemoryCounts& counts : cta.memory_counts())
    sum += counts.sleep_ns + kOfAPrint * counts.prints;
  return sum;
}

class Grid {
 public:
  Grid(LaunchContext& launch, const GridOptions& options) : launch_(launch), options_(options) {
    team_ = launch.program->cluster_ctas();
    sample_ = team_ == 1 ? options.sample : clusters_of(options.sample);
    total_ = sample_.empty() ? launch.grid_ctas() / team_ : sample_.size();
    const std::uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    launch.global_races.start(
        launch.grid_ctas(), static_cast<int>((threads + kWarpSize - 1) / kWarpSize),
        launch.program->global_granule, launch.program->has_changes, launch.program->reads_signals);
    limit_ = std::clamp<std::size_t>(ctas_on_host(launch), 1,
                                     std::max<std::size_t>(options.resident, 1));
    limit_ = std::max<std::size_t>(limit_ / team_, 1);
    launch.progress.start(total_ * team_, limit_ * team_);
  }

  GridCounts run() {
    const auto workers = static_cast<std::size_t>(std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::clamp(options_.threads, 1, kMostThreads)), 1,
        std::clamp<std::uint64_t>(total_, 1, limit_)));
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (error_) std::rethrow_exception(error_);
    for (const auto& unordered : launch_.global_races.unexplained()) {
      launch_.hazards->add(unordered_read(launch_, unordered));
    }
    return std::move(counts_);
  }

 private:
  void work() {
    try {
      work_unguarded();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      launch_.stop.store(true);
    }
  }

  void work_unguarded() {
    std::deque<std::unique_ptr<CtaTeam>> active;
    std::vector<std::unique_ptr<CtaTeam>> idle;
    std::size_t served = 0;  // teams that ran since the last team finished or started
    bool gives_way = false;  // the last team only polled or paused
    while (!launch_.stop.load(std::memory_order_relaxed)) {
      const bool all_must_start = takes_turns() && next_.load() < total_;
      if (active.empty() || served >= active.size() || all_must_start || gives_way) {
        if (start_next(active, idle)) served = 0;
        if (active.empty()) break;
        if (served >= active.size()) served = 0;
      }
      std::unique_ptr<CtaTeam> team = std::move(active.front());
      active.pop_front();
      const CtaState state = team->run(options_.together   ? kSliceTogether
                                       : options_.in_turns ? kSliceInTurns
                                                           : kSlice);
      const bool has_room_aside = team->stands_aside() && active.size() < kMostAside;
      gives_way = !launch_.count_memory && state == CtaState::kRunning &&
                  (team->only_polls() || has_room_aside);
      if (state == CtaState::kRunning) {
        active.push_back(std::move(team));
        ++served;
        continue;
      }
      for (const auto& cta : team->ctas()) collect(*cta);
      resident_.fetch_sub(1);
      idle.push_back(std::move(team));
      served = 0;
    }
    for (const auto& team : active) {
      for (const auto& cta : team->ctas()) collect(*cta);
    }
    for (const auto& team : idle) collect_counts(*team);
    for (const auto& team : active) collect_counts(*team);
  }

  /// The indices of the clusters that contain `ctas`.
  std::vector<std::uint64_t> clusters_of(const std::vector<std::uint64_t>& ctas) const {
    const auto& grid = launch_.grid;
    const auto& size = launch_.program->cluster;
    std::set<std::uint64_t> clusters;
    for (const std::uint64_t cta : ctas) {
      const std::uint64_t x = cta % grid[0] / size[0];
      const std::uint64_t y = cta / grid[0] % grid[1] / size[1];
      const std::uint64_t z = cta / grid[0] / grid[1] / size[2];
      clusters.insert(x + grid[0] / size[0] * (y + grid[1] / size[1] * z));
    }
    return {clusters.begin(), clusters.end()};
  }

  /// The index of the team that starts as number `number`. Teams start in ascending order in
  /// samples of a grid, in predictions and in the first launch on a device.
  std::uint64_t team_of(std::uint64_t number) const {
    if (!sample_.empty()) return sample_[number];
    if (launch_.count_memory || launch_.number == 0) return number;
    return launch_.placement.cta_at(number, total_, std::min<std::uint64_t>(limit_, kWindow));
  }

  bool takes_turns() const { return options_.together || options_.in_turns; }

  /// Starts the next team and puts it at the front of `active`, the list of running teams. Returns
  /// false if all teams have started, or if no more can be resident and this host thread already
  /// runs a team.
  bool start_next(std::deque<std::unique_ptr<CtaTeam>>& active,
                  std::vector<std::unique_ptr<CtaTeam>>& idle) {
    if (resident_.fetch_add(1) >= limit_ && !active.empty()) {
      resident_.fetch_sub(1);
      return false;
    }
    const std::uint64_t number = next_.fetch_add(1);
    if (number >= total_) {
      resident_.fetch_sub(1);
      return false;
    }
    for (std::uint32_t cta = 0; cta < team_; ++cta) launch_.progress.note_started();
    std::unique_ptr<CtaTeam> team;
    if (idle.empty()) {
      team = std::make_unique<CtaTeam>(launch_);
    } else {
      team = std::move(idle.back());
      idle.pop_back();
    }
    team->start(team_of(number));
    active.push_front(std::move(team));
    return true;
  }

  void collect(Cta& cta) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t executed = cta.scheduler().executed();
    ++counts_.ctas;
    counts_.warp_instructions += executed;
    if (options_.note_ways) {
      counts_.ways.push_back({cta.number(), signature_of(cta), executed});
      cta.clear_counts();
    }
    if (!launch_.count_memory) return;
    const std::uint64_t work = executed + waited(cta);
    counts_.work[cta.number()] = work;
    CtaCounts& level = counts_.levels[work_level(work)];
    level.all_work += work;
    ++level.ctas;
    level.warp_instructions += executed;
    for (CtaRecord* longest : {&level.longest, &counts_.longest}) {
      if (is_longer(executed, cta.number(), *longest))
        *longest = {cta.number(), executed, cta.records()};
    }
    add_counts(cta, level);
    add_counts(cta, counts_);
    cta.clear_counts();
  }

  void collect_counts(const CtaTeam& team) {
    const std::lock_guard lock(mutex_);
    for (const auto& cta : team.ctas()) add_counts(*cta, counts_);
  }

  static void add_counts(Cta& cta, CtaCounts& to) {
    add(cta.counts(), to.executions);
    add(cta.taken(), to.taken);
    add(cta.memory_counts(), to.memory);
    for (const auto& [address, operations] : cta.atomics()) {
      AtomicCount& count = to.atomics[address];
      count.operations += operations;
      ++count.ctas;
    }
  }

  LaunchContext& launch_;
  const GridOptions& options_;
  std::uint32_t team_ = 1;             ///< number of CTAs of a team (see CtaTeam)
  std::vector<std::uint64_t> sample_;  ///< indices of the teams to run; empty: all
  std::uint64_t total_ = 0;            ///< number of teams to run
  std::size_t limit_ = 1;              ///< limit of running teams
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::size_t> resident_{0};
  std::mutex mutex_;
  GridCounts counts_;
  std::exception_ptr error_;
};

}  // namespace

CtaCounts& CtaCounts::operator+=(const CtaCounts& other) {
  add(other.executions, executions);
  add(other.taken, taken);
  add(other.memory, memory);
  if (!other.longest.warps.empty() && is_longer(other.longest.work, other.longest.cta, longest))
    longest = other.longest;
  for (const auto& [address, count] : other.atomics) {
    atomics[address].operations += count.operations;
    atomics[address].ctas += count.ctas;
  }
  ctas += other.ctas;
  warp_instructions += other.warp_instructions;
  all_work += other.all_work;
  return *this;
}

GridCounts& GridCounts::operator+=(const GridCounts& other) {
  CtaCounts::operator+=(other);
  for (const auto& [level, counts] : other.levels) levels[level] += counts;
  work.insert(other.work.begin(), other.work.end());
  ways.insert(ways.end(), other.ways.begin(), other.ways.end());
  return *this;
}

int work_level(std::uint64_t work) {
  constexpr double kLevelsOfDouble = 7;
  return static_cast<int>(kLevelsOfDouble *
                          std::log2(static_cast<double>(std::max<std::uint64_t>(work, 1))));
}

std::size_t ctas_on_host(const LaunchContext& launch) {
  return std::max<std::size_t>(kMostBytes / std::max<std::uint64_t>(cta_bytes(launch), 1), 1);
}

GridCounts run_grid(LaunchContext& launch, const GridOptions& options) {
  return Grid(launch, options).run();
}

}  // namespace evo::ptx
