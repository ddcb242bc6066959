#include "tests/engine/device/virtual/twin_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr const char* kLostItems = "lost items";
constexpr const char* kCtaRace = "race between CTAs";
constexpr const char* kRace = "shared-memory race";
constexpr const char* kCopyRace = "cp.async race";
constexpr const char* kBarrier = "invalid barrier use";
constexpr const char* kDeadlock = "deadlock";
constexpr const char* kDivergent = "divergent .sync instruction";

constexpr TwinKernel kLocks[] = {{"cas_without_fence", kCtaRace},
                                 {"unlocked_too_early", kCtaRace},
                                 {"freed_by_volatile_store", kCtaRace},
                                 {"freed_by_plain_store", kCtaRace},
                                 {"ticket_served_too_early", kCtaRace},
                                 {"ticket_polled_by_atomics", kCtaRace},
                                 {"no_barrier_before_unlock", kCtaRace},
                                 {"no_barrier_after_lock", kCtaRace},
                                 {"fence_of_the_cta_alone", kCtaRace},
                                 {"lock_of_the_cta_alone", kCtaRace},
                                 {"two_locks_for_one_place", kCtaRace},
                                 {"lock_of_each_warp", kCtaRace},
                                 {"lock_of_each_thread", kCtaRace},
                                 {"bucket_locks", kCtaRace},
                                 {"readers_and_writers", kCtaRace},
                                 {"chain_of_flags", kCtaRace},
                                 {"told_by_others", kCtaRace},
                                 {"flag_of_somebody_else", kCtaRace},
                                 {"slots", kCtaRace},
                                 {"announced_too_early", kLostItems},
                                 {"release_and_acquire", kCtaRace},
                                 {"last_but_one", kCtaRace},
                                 {"last_without_barrier", kCtaRace},
                                 {"meets_again", kCtaRace},
                                 {"total_read_while_added", kCtaRace}};
constexpr TwinKernel kCudaLocks[] = {
    {"ref_released", kCtaRace},           {"ref_looked_at", kCtaRace},
    {"ref_of_the_device", kCtaRace},      {"ref_of_each_bucket", kCtaRace},
    {"of_the_system_released", kCtaRace}, {"ticket", kCtaRace},
    {"binary_semaphore", kCtaRace},       {"binary_semaphore_tried", kCtaRace},
    {"counting_semaphore", kCtaRace},     {"flag_waited_for", kCtaRace},
    {"flag_behind_a_fence", kCtaRace},    {"barrier_of_the_device", kCtaRace},
    {"barrier_arrived_at", kCtaRace},     {"latch_of_the_device", kCtaRace},
    {"last_to_come", kCtaRace},           {"barrier_of_the_cta", kRace}};
constexpr TwinKernel kCtaRaces[] = {{"in_place", kCtaRace},
                                    {"without_waiting", kCtaRace},
                                    {"missing_fence", kCtaRace},
                                    {"fence_of_the_cta", kCtaRace},
                                    {"claims_and_reads", kCtaRace},
                                    {"counter_without_atomic", kCtaRace},
                                    {"cleared_by_one", kCtaRace},
                                    {"written_by_all", kCtaRace},
                                    {"own_grid_barrier", kCtaRace},
                                    {"read_by_all", kCtaRace},
                                    {"two_buffers", kCtaRace},
                                    {"stale_then_exchanged", kCtaRace},
                                    {"overlapping_rows", kCtaRace},
                                    {"last_reads_by_volatile", kCtaRace},
                                    {"one_waits_and_reads_by_volatile", kCtaRace}};
constexpr TwinKernel kMasks[] = {{"halves_shuffle", kDivergent}, {"tiles_share", kRace},
                                 {"tiles_grow", kRace},          {"tiles_overwrite", kRace},
                                 {"masks_agree", kDivergent},    {"labels_reduce", kDivergent},
                                 {"tiles_go_round", kDivergent}, {"half_has_exited", kDivergent},
                                 {"two_warp_barriers", kRace},   {"two_cta_barriers", kBarrier}};
constexpr TwinKernel kElectedLanes[] = {{"fence_between", kRace},
                                        {"one_arrives", kRace},
                                        {"one_arrives_after_reads", kRace},
                                        {"one_waits", kRace},
                                        {"one_of_each_half_arrives", kRace},
                                        {"one_writes_and_arrives", kRace},
                                        {"lanes_meet_through_another_warp", kRace},
                                        {"one_stores_a_flag", kRace},
                                        {"one_reads_a_flag", kRace},
                                        {"lock_between_lanes", kRace},
                                        {"last_lane_reads", kRace},
                                        {"flag_between_lanes", kRace},
                                        {"one_lane_leaves", kDeadlock},
                                        {"copies_of_an_mbarrier", kCopyRace},
                                        {"copies_of_another_mbarrier", kCopyRace},
                                        {"copies_waited_for_twice", kCopyRace}};
constexpr TwinKernel kGroups[] = {{"tile_of_2", kRace},
                                  {"tile_of_4", kRace},
                                  {"tile_of_8", kRace},
                                  {"tile_of_16", kRace},
                                  {"tile_of_32", kRace},
                                  {"sum_of_8", kRace},
                                  {"sum_of_16", kRace},
                                  {"sum_of_32", kRace},
                                  {"tiles_within_tiles", kRace},
                                  {"tile_of_any_size", kRace},
                                  {"tile_of_two_warps", kRace},
                                  {"coalesced", kRace},
                                  {"labeled", kRace},
                                  {"binary", kRace},
                                  {"copied", kRace},
                                  {"copied_by_two", kCopyRace},
                                  {"arrived_at", kRace},
                                  {"grid", kCtaRace},
                                  {"grid_again_and_again", kCtaRace}};
constexpr TwinKernel kCollectives[] = {{"reduce_raking", kRace},
                                       {"reduce_commutative", kRace},
                                       {"reduce_warps", kRace},
                                       {"scan_raking", kRace},
                                       {"scan_memoize", kRace},
                                       {"scan_warps", kRace},
                                       {"exchange", kRace},
                                       {"exchange_scatter", kRace},
                                       {"load_transposed", kRace},
                                       {"load_warp_transposed", kRace},
                                       {"load_timesliced", kRace},
                                       {"load_direct", ""},
                                       {"load_striped", ""},
                                       {"discontinuity", kRace},
                                       {"adjacent_difference", kRace},
                                       {"shuffle", kRace},
                                       {"merge_sort", kRace},
                                       {"radix_sort", kRace},
                                       {"radix_rank", kRace},
                                       {"radix_rank_memoize", kRace},
                                       {"radix_rank_match", kRace},
                                       {"histogram_sort", kRace},
                                       {"histogram_atomic", kRace},
                                       {"run_length_decode", kRace},
                                       {"warp_reduce_4", kRace},
                                       {"warp_reduce_8", kRace},
                                       {"warp_reduce_16", kRace},
                                       {"warp_reduce_32", kRace},
                                       {"warp_scan_4", kRace},
                                       {"warp_scan_8", kRace},
                                       {"warp_scan_16", kRace},
                                       {"warp_scan_32", kRace},
                                       {"warp_exchange_8", kRace},
                                       {"warp_exchange_32", kRace},
                                       {"warp_load_16", kRace},
                                       {"warp_load_32", kRace},
                                       {"warp_sort_8", kRace},
                                       {"warp_sort_32", kRace}};

/// The numbers of launches for one verdict about a kernel of one CTA and about a kernel of several
/// CTAs. CTAs run in a different order in each launch, as in the correctness gate.
constexpr int kLaunches = 2;
constexpr int kLaunchesOfCtas = 6;

struct SetFacts {
  const char* file;
  std::span<const TwinKernel> kernels;
  const char* arch;
  const char* header;  ///< in the toolkit's include folder; "" where none is needed
};

const SetFacts& facts_of(TwinSet set) {
  static const SetFacts kFacts[] = {
      {"locks", kLocks, "compute_80", ""},
      {"cuda_locks", kCudaLocks, "compute_80", "cuda/atomic"},
      {"cta_races", kCtaRaces, "compute_80", ""},
      {"member_masks", kMasks, "compute_80", ""},
      {"elected_lanes", kElectedLanes, "compute_80", ""},
      {"groups", kGroups, "compute_80", "cooperative_groups.h"},
      {"collectives", kCollectives, "compute_80", "cub/cub.cuh"},
  };
  return kFacts[static_cast<std::size_t>(set)];
}

/// CUDA 13 keeps libcu++ and CUB in a subfolder of the folder that CUDA 12 uses.
std::vector<std::string> include_folders() {
  const std::string include = EVO_CUDA_INCLUDE_DIR;
  return {include, include + "/cccl"};
}

struct Launch {
  LaunchConfig config;
  std::vector<float> in;
  std::size_t out_count = 0;
};

Launch launch_of(TwinSet set) {
  const auto ramp = [](std::size_t count, float first) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + first;
    return values;
  };
  switch (set) {
    case TwinSet::kLocks:
    case TwinSet::kCudaLocks:
      return {{{8, 1, 1}, {64, 1, 1}}, std::vector<float>(256, 1.0F), 256};
    case TwinSet::kCtaRaces:
      return {{{4, 1, 1}, {64, 1, 1}}, ramp(256, -2.0F), 256};
    case TwinSet::kMasks:
    case TwinSet::kElectedLanes:
      return {{{1, 1, 1}, {64, 1, 1}}, ramp(64, -9.5F), 64};
    case TwinSet::kGroups:
      return {{{4, 1, 1}, {64, 1, 1}}, ramp(256, -9.5F), 256};
    case TwinSet::kCollectives:
      return {{{1, 1, 1}, {128, 1, 1}}, ramp(128, 0.0F), 128};
  }
  throw std::logic_error("no such set of twins");
}

/// Describes the error in the results of a launch without a report of the virtual GPU; "" if the
/// results are right. The results of cta_races.cu are not compared.
std::string wrong_result(TwinSet set, const std::string& entry, const std::vector<float>& in,
                         const std::vector<float>& out) {
  if (set == TwinSet::kCtaRaces) return "";
  if (set == TwinSet::kLocks || set == TwinSet::kCudaLocks) {
    if (std::fmod(out[0], 8.0F) != 0) return "lost additions";
    const bool has_items = entry == "slots" || entry == "announced_too_early";
    for (std::size_t item = 0; has_items && item < 8; ++item) {
      if (out[8 + item] != 1 + static_cast<float>(item)) return kLostItems;
    }
    return "";
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 2 * in[i]) return "wrong at " + std::to_string(i);
  }
  return "";
}

}  // namespace

std::string name_of(TwinSet set) { return facts_of(set).file; }

std::span<const TwinKernel> kernels_of(TwinSet set) { return facts_of(set).kernels; }

std::optional<std::string> missing_for(TwinSet set) {
  if (!has_nvrtc()) return "no NVRTC here";
  const std::string header = facts_of(set).header;
  const auto folders = include_folders();
  const bool is_there = header.empty() || std::ranges::any_of(folders, [&](const auto& folder) {
                          return std::filesystem::exists(folder + "/" + header);
                        });
  if (is_there) return std::nullopt;
  return "this toolkit has no <" + header + ">";
}

std::string compile_twins(TwinSet set, bool bug) {
  const SetFacts& facts = facts_of(set);
  std::vector<std::string> options;
  if (bug) options.emplace_back("-DBUG");
  if (*facts.header != '\0') {
    for (const std::string& folder : include_folders()) options.push_back("-I" + folder);
  }
  return compile_to_ptx(kernel_source(std::string(facts.file) + ".cu"), facts.arch, options);
}

std::string judge_twin(TwinSet set, const std::string& ptx, const std::string& entry,
                       std::uint64_t seed, int threads) {
  const Launch launch = launch_of(set);
  VirtualOptions options{.threads = threads, .seed = seed};
  options.stall_budget = 2'000'000;
  TestGpu gpu("virtual:a100", options);
  const BufferId in = gpu.input("in", launch.in);
  const BufferId out = gpu.inout("out", std::vector<float>(launch.out_count, 0.0F));
  // Several launches are needed, because the first launch on a device runs CTAs in the order of
  // their indices.
  const int launches = launch.config.ctas() > 1 ? kLaunchesOfCtas : kLaunches;
  for (int time = 0; time < launches; ++time) {
    const auto fault = gpu.run(ptx, entry, launch.config, {in, out});
    if (fault) return text_of(fault);
    std::string wrong = wrong_result(set, entry, launch.in, gpu.read<float>(out, launch.out_count));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

bool is_defect_found(const TwinKernel& kernel, const std::string& report) {
  if (*kernel.found_as == '\0') return false;
  // If a consumer reads an item before the producer stores it, the virtual GPU may report no race,
  // although the results are wrong.
  return report.starts_with(kernel.found_as) || report == kLostItems;
}

}  // namespace evo::test
