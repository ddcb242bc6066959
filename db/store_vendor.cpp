// Store: times of other people's kernels. Programs outside of evo-tune write them.

#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {

std::vector<VendorTime> Store::vendor_times(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT name, starts_from, p50_us, candidate_id, ratio, ratio_low, ratio_high"
        " FROM vendor_time WHERE run_id = ? ORDER BY p50_us, name, starts_from");
    query.bind(run);
    std::vector<VendorTime> times;
    while (query.next()) {
      times.push_back({.name = query.text(0),
                       .starts_from = query.text(1),
                       .p50_us = query.real(2),
                       .candidate = query.integer(3),
                       .ratio = query.real(4),
                       .ratio_low = query.real(5),
                       .ratio_high = query.real(6)});
    }
    return times;
  });
}

}  // namespace evo
