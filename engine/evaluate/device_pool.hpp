#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "db/records.hpp"
#include "engine/core/error.hpp"
#include "engine/evaluate/device_times.hpp"
#include "engine/worker/device_service.hpp"

namespace evo {

/// The priority of callers that wait for a device. Callers with smaller numbers are served first,
/// callers with equal numbers in the order of their calls.
using Turn = std::size_t;

/// The priority of comparisons that decide the elite.
inline constexpr Turn kFirstTurn = 0;

class DevicePool;

/// Exclusive use of a device during the lifetime of this object.
class DeviceLease {
 public:
  DeviceLease(DevicePool& pool, std::size_t device) : pool_(&pool), device_(device) {}
  ~DeviceLease();
  DeviceLease(DeviceLease&& other) noexcept : pool_(other.pool_), device_(other.device_) {
    other.pool_ = nullptr;
  }
  DeviceLease& operator=(DeviceLease&&) = delete;

  /// Returns the device. From now on, DeviceTimes adds the device's time to `phase`.
  [[nodiscard]] DeviceService& at(Phase phase) const;
  [[nodiscard]] std::size_t device() const { return device_; }
  /// For error handlers: marks the device as unusable. Rethrows the current error if no usable
  /// device is left and no other device can join.
  void give_up() const;

 private:
  DevicePool* pool_;
  std::size_t device_;
};

/// The devices of a run, all of one model. The first usable device is the home device, which makes
/// the comparisons that decide the elite.
class DevicePool {
 public:
  /// `loop` must outlive the pool. `devices` may be empty.
  DevicePool(EventLoop& loop, std::vector<std::unique_ptr<DeviceService>> devices);

  /// Adds a device. Returns its number.
  std::size_t add(std::unique_ptr<DeviceService> device);
  /// Makes the loss of the last device no error, because other devices may join the run.
  void expect_more() { expects_more_ = true; }
  /// Marks a device as lost. If a coroutine uses the device, its request to the device fails.
  void leave(std::size_t device);

  [[nodiscard]] std::size_t size() const { return devices_.size(); }
  [[nodiscard]] std::size_t home() const;
  [[nodiscard]] bool is_lost(std::size_t device) const { return devices_.at(device).is_lost; }
  /// Number of usable devices.
  [[nodiscard]] std::size_t usable() const;
  [[nodiscard]] const DeviceInfo& info(std::size_t device = 0) const;
  /// The host and UUID of the device, which are stored with each timing.
  [[nodiscard]] TimingPlace place(std::size_t device) const;
  [[nodiscard]] DeviceService& service(std::size_t device) { return *devices_.at(device).service; }

  /// Waits for any free device.
  Task<DeviceLease> any(Turn turn) { return take(kAny, turn); }
  /// Waits for the home device, or for another device that becomes the home device meanwhile.
  Task<DeviceLease> at_home(Turn turn) { return take(kHome, turn); }
  /// Waits for device number `device`. Throws MissingError if the device is lost.
  Task<DeviceLease> one(std::size_t device, Turn turn) { return take(device, turn); }

  /// The devices' current phases, and the time that the devices have spent in each phase.
  [[nodiscard]] const DeviceTimes& times() const { return times_; }

 private:
  friend class DeviceLease;

  struct Place {
    std::unique_ptr<DeviceService> service;
    bool is_taken = false;
    bool is_lost = false;
  };
  struct Waiting {
    Turn turn = 0;
    std::size_t wanted = kAny;
    Event* event = nullptr;
  };
  // `wanted` is the number of a device, or kAny for any device, or kHome for the home device.
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kHome = kAny - 1;

  Task<DeviceLease> take(std::size_t wanted, Turn turn);
  [[nodiscard]] std::optional<std::size_t> free_device(std::size_t wanted) const;
  void require_usable(std::size_t wanted) const;
  void release(std::size_t device);
  void lose(std::size_t device);
  void wake_next();

  EventLoop& loop_;
  bool expects_more_ = false;
  std::vector<Place> devices_;
  std::deque<Waiting> waiting_;  ///< callers in the order in which they are served
  DeviceTimes times_;
};

}  // namespace evo
