#include "engine/predict/launch_profile.hpp"

#include <algorithm>

namespace evo {
namespace {

void add(const std::vector<double>& from, double share, std::vector<double>& to) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += share * from[i];
}

}  // namespace

LineActivities mean_lines(const std::vector<CtaKind>& kinds) {
  if (kinds.size() == 1) return kinds.front().lines;
  LineActivities mean;
  for (const CtaKind& kind : kinds) {
    for (const auto& [number, from] : kind.lines) {
      LineActivity& line = mean[number];
      line.target = from.target;
      line.next = from.next;
      line.file = from.file;
      line.source_line = from.source_line;
      add(from.executions, kind.share, line.executions);
      add(from.taken, kind.share, line.taken);
      for (double LineActivity::*sum :
           {&LineActivity::shared_wavefronts, &LineActivity::global_sectors,
            &LineActivity::global_lines, &LineActivity::global_sectors_first,
            &LineActivity::global_bytes_written, &LineActivity::sleep_ns, &LineActivity::prints,
            &LineActivity::flops})
        line.*sum += kind.share * (from.*sum);
    }
  }
  return mean;
}

}  // namespace evo
