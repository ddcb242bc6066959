#include "engine/gate/gpu/energy_window.hpp"

namespace evo {

void EnergyWindow::add(double now_s, double counter_mj, std::int64_t launches) {
  const Reading reading{now_s, counter_mj, launches};
  if (!start_) start_ = last_change_ = reading;
  if (counter_mj == last_change_->counter_mj) {
    stands_still_ = now_s - last_change_->now_s >= options_.patience_s;
    return;
  }
  last_change_ = reading;
  if (now_s - start_->now_s < options_.settle_s) return;
  if (!first_edge_) {
    first_edge_ = reading;
    return;
  }
  const double span_s = now_s - first_edge_->now_s;
  const std::int64_t count = launches - first_edge_->launches;
  if (span_s < options_.window_s || count <= 0) return;
  const double spent_mj = counter_mj - first_edge_->counter_mj;
  energy_ = Energy{spent_mj / static_cast<double>(count), spent_mj / 1e3 / span_s, span_s, count};
}

}  // namespace evo
