#include "engine/coordinator/forecasts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

std::optional<double> time_of(const DeviceService::Reply& reply) {
  const auto* result = std::get_if<TimingResult>(&reply.result);
  if (result == nullptr || result->rejection || !result->timing) return std::nullopt;
  return result->timing->p50_us;
}

}  // namespace

Forecasts::Forecasts(std::vector<std::unique_ptr<DeviceService>> predictors) {
  for (auto& predictor : predictors) predictors_.push_back({std::move(predictor)});
}

void Forecasts::set_up(const SessionSetup& setup) {
  for (const Predictor& predictor : predictors_) predictor.device->set_up(setup, {});
}

void Forecasts::ask(Ticket ticket, KernelUnderTest kernel) {
  asked_.emplace_back(ticket, std::move(kernel));
  collect();
}

void Forecasts::collect() {
  for (Predictor& predictor : predictors_) {
    DeviceService& device = *predictor.device;
    if (device.is_busy()) {
      const auto reply = device.poll();
      if (!reply) continue;
      predicted_us_[predictor.working_on] = time_of(*reply);
    }
    if (asked_.empty()) continue;
    const auto [ticket, kernel] = std::move(asked_.front());
    asked_.pop_front();
    predictor.working_on = ticket;
    device.submit_time(kernel, kernel.shapes.front(), Effort::kScreening,
                       std::numeric_limits<double>::infinity());
  }
}

std::optional<std::optional<double>> Forecasts::take(Ticket ticket) {
  const auto found = predicted_us_.find(ticket);
  if (found == predicted_us_.end()) return std::nullopt;
  const std::optional<double> predicted_us = found->second;
  predicted_us_.erase(found);
  return predicted_us;
}

std::vector<pollfd> Forecasts::interests() const {
  std::vector<pollfd> interests;
  for (const Predictor& predictor : predictors_) {
    if (!predictor.device->is_busy()) continue;
    const std::vector<pollfd> own = predictor.device->interests();
    interests.insert(interests.end(), own.begin(), own.end());
  }
  return interests;
}

SteadyTime Forecasts::next_deadline() const {
  SteadyTime first = SteadyTime::max();
  for (const Predictor& predictor : predictors_) {
    if (predictor.device->is_busy()) first = std::min(first, predictor.device->next_deadline());
  }
  return first;
}

}  // namespace evo
