#include "engine/evaluate/device_pool.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/at_end.hpp"
#include "engine/worker/host_port.hpp"

namespace evo {

DeviceLease::~DeviceLease() {
  if (pool_ != nullptr) pool_->release(device_);
}

DeviceService& DeviceLease::at(Phase phase) const {
  pool_->times_.enter(device_, phase);
  return pool_->service(device_);
}

void DeviceLease::give_up() const { pool_->lose(device_); }

DevicePool::DevicePool(EventLoop& loop, std::vector<std::unique_ptr<DeviceService>> devices)
    : loop_(loop), times_(loop) {
  for (auto& service : devices) add(std::move(service));
}

std::size_t DevicePool::add(std::unique_ptr<DeviceService> device) {
  const std::size_t number = devices_.size();
  times_.add();
  devices_.push_back({std::move(device)});
  wake_next();
  return number;
}

std::size_t DevicePool::usable() const {
  return static_cast<std::size_t>(std::ranges::count(devices_, false, &Place::is_lost));
}

const DeviceInfo& DevicePool::info(std::size_t device) const {
  return devices_.at(device).service->info();
}

TimingPlace DevicePool::place(std::size_t device) const {
  static const std::string here = host_name();
  const DeviceInfo& of = info(device);
  return {of.host.empty() ? here : of.host, of.uuid};
}

std::size_t DevicePool::home() const {
  return static_cast<std::size_t>(std::ranges::find(devices_, false, &Place::is_lost) -
                                  devices_.begin());
}

std::optional<std::size_t> DevicePool::free_device(std::size_t wanted) const {
  if (wanted == kHome) wanted = home();
  // Tries the last device first, so that the first device, the home device, stays free for
  // comparisons.
  for (std::size_t i = devices_.size(); i-- > 0;) {
    const Place& place = devices_[i];
    if (!place.is_taken && !place.is_lost && (wanted == kAny || wanted == i)) return i;
  }
  return std::nullopt;
}

void DevicePool::require_usable(std::size_t wanted) const {
  if (wanted >= kHome || !is_lost(wanted)) return;
  throw MissingError("device " + info(wanted).id + " is lost");
}

Task<DeviceLease> DevicePool::take(std::size_t wanted, Turn turn) {
  require_usable(wanted);
  const bool is_before_others = std::ranges::all_of(
      waiting_, [&](const Waiting& other) { return turn < other.turn || wanted != other.wanted; });
  std::optional<std::size_t> found = free_device(wanted);
  if (!found || !is_before_others) {
    Event event(loop_);
    const auto place = std::ranges::upper_bound(waiting_, turn, {}, &Waiting::turn);
    waiting_.insert(place, {turn, wanted, &event});
    const AtEnd leave(
        [&] { std::erase_if(waiting_, [&](const Waiting& one) { return one.event == &event; }); });
    do {
      co_await event.wait();
      require_usable(wanted);
      found = free_device(wanted);
    } while (!found);
  }
  devices_[*found].is_taken = true;
  wake_next();  // another device may be free
  co_return DeviceLease(*this, *found);
}

void DevicePool::release(std::size_t device) {
  times_.enter(device, Phase::kIdle);
  devices_[device].is_taken = false;
  wake_next();
}

/// Wakes the first waiting caller whose request a free device satisfies; the caller then takes this
/// device.
void DevicePool::wake_next() {
  for (const Waiting& one : waiting_) {
    if (!free_device(one.wanted)) continue;
    one.event->notify();
    return;
  }
}

void DevicePool::lose(std::size_t device) {
  leave(device);
  if (usable() == 0 && !expects_more_) throw;  // rethrows the error that lost the device
}

void DevicePool::leave(std::size_t device) {
  times_.lose(device);
  devices_[device].is_lost = true;
  for (const Waiting& one : waiting_) {
    if (one.wanted == device) one.event->notify();  // the caller then throws MissingError
  }
}

}  // namespace evo
