#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/coordinator/background.hpp"
#include "engine/coordinator/compilations.hpp"
#include "engine/worker/device_service.hpp"

namespace evo {

/// Predicted times of compiled kernels, by virtual GPUs in processes of their own, as many at once
/// as there are. A kernel that cannot be predicted is not blamed for it.
class Forecasts final : public Background {
 public:
  using Ticket = Compilations::Ticket;

  explicit Forecasts(std::vector<std::unique_ptr<DeviceService>> predictors);

  [[nodiscard]] bool has_predictors() const { return !predictors_.empty(); }
  void set_up(const SessionSetup& setup);

  /// Predicts what was compiled under that ticket.
  void ask(Ticket ticket, KernelUnderTest kernel);
  /// Takes what has come, and begins what waits. Never waits.
  void collect() override;
  /// Its time on its first shape in microseconds, once, or nothing in it where there is none.
  /// Nothing when it is not over.
  [[nodiscard]] std::optional<std::optional<double>> take(Ticket ticket);

  /// What to poll for, and the first deadline.
  [[nodiscard]] std::vector<pollfd> interests() const override;
  [[nodiscard]] SteadyTime next_deadline() const override;

 private:
  struct Predictor {
    std::unique_ptr<DeviceService> device;
    Ticket working_on = 0;
  };

  std::vector<Predictor> predictors_;
  std::deque<std::pair<Ticket, KernelUnderTest>> asked_;  ///< not begun
  std::map<Ticket, std::optional<double>> predicted_us_;
};

}  // namespace evo
