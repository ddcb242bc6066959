#include "engine/evaluate/workforce.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/at_end.hpp"
#include "engine/worker/device_client.hpp"
#include "engine/worker/process.hpp"

namespace evo {
namespace {

void tell(const WorkforceOptions& options, const std::string& kind, const std::string& text) {
  if (options.on_event) options.on_event(kind, text);
}

std::string refusal_of_slice(const DeviceInfo& info) {
  if (!is_slice(info)) return {};
  return "the device is a MIG slice (" + info.name +
         "), and its times depend on the other slices of the GPU; allowed: whole GPUs; disable "
         "MIG on that host, or lend only the host's compilers";
}

/// Awaits `step`. Converts the exception for an invalid message from a host to a MissingError,
/// after which the run continues without this host.
Task<> answered(Task<> step) {
  try {
    co_await std::move(step);
  } catch (const nlohmann::json::exception& error) {
    throw MissingError(std::string("the host sent an invalid message: ") + error.what());
  }
}

/// Opens the device of a worker. Throws MissingError for a MIG slice.
Task<std::unique_ptr<DeviceClient>> opened(EventLoop& loop, std::shared_ptr<RemoteHost> host,
                                           WorkforceOptions options) {
  auto client = std::make_unique<DeviceClient>(loop, host, host->identity().device,
                                               options.step_limit, options.on_event);
  co_await answered(client->open());
  const std::string refusal = refusal_of_slice(client->info());
  if (!refusal.empty()) throw MissingError(refusal);
  co_return client;
}

void refuse(const WorkforceOptions& options, RemoteHost& host, const std::string& why) {
  tell(options, "worker refused",
       host.identity().role + " worker on " + host.identity().name() + ": " + why);
  host.leave();
}

}  // namespace

Task<Arrivals> first_device(EventLoop& loop, WorkerGate& gate, WorkforceOptions options,
                            std::function<std::string()> why_none) {
  constexpr std::chrono::milliseconds kLookEvery{500};
  Arrivals arrivals;
  while (true) {
    const auto notice = gate.take();
    if (!notice) {
      if (const std::string why = why_none(); !why.empty()) throw MissingError(why);
      co_await loop.wait(gate.interest(), loop.now() + kLookEvery);
      continue;
    }
    if (const auto* refused = std::get_if<WorkerGate::Refused>(&*notice)) {
      tell(options, "worker refused", refused->text);
    }
    if (const auto* left = std::get_if<WorkerGate::Left>(&*notice)) left->host->has_left();
    const auto* joined = std::get_if<WorkerGate::Joined>(&*notice);
    if (joined == nullptr) continue;
    if (joined->host->identity().role != "device") {
      arrivals.others.push_back(joined->host);
      continue;
    }
    std::string why;
    try {
      arrivals.device = co_await opened(loop, joined->host, options);
      arrivals.device_host = joined->host;
      co_return arrivals;
    } catch (const Error& error) {
      why = error.what();
    }
    refuse(options, *joined->host, why);
  }
}

Workforce::Workforce(EventLoop& loop, WorkerGate& gate, CompileService& compilers,
                     DevicePool& devices, const SessionSetup& setup, WorkforceOptions options,
                     Arrivals arrivals)
    : loop_(loop),
      gate_(gate),
      compilers_(compilers),
      devices_(devices),
      setup_(setup),
      options_(std::move(options)),
      early_(std::move(arrivals.others)) {
  devices_.expect_more();
  if (arrivals.device_host) members_.push_back({std::move(arrivals.device_host), 0});
}

void Workforce::go_on() {
  if (going_ > 0) return;
  going_ = 2;
  loop_.spawn(take_all());
  loop_.spawn(end_without_devices());
}

/// Returns the gateway's next notice, if one has arrived. If the gateway process has died, the run
/// ends as interrupted.
std::optional<WorkerGate::Notice> Workforce::next_notice() {
  try {
    return gate_.take();
  } catch (const MissingError& error) {
    tell(options_, "gateway lost", error.what());
    throw Interrupted(false);
  }
}

Task<> Workforce::take_all() {
  const AtEnd over([this] { --going_; });
  for (auto& host : std::exchange(early_, {})) loop_.spawn(take(std::move(host)));
  while (true) {
    const auto notice = next_notice();
    if (!notice) {
      co_await loop_.wait(gate_.interest(), SteadyTime::max());
    } else if (const auto* refused = std::get_if<WorkerGate::Refused>(&*notice)) {
      tell(options_, "worker refused", refused->text);
    } else if (const auto* left = std::get_if<WorkerGate::Left>(&*notice)) {
      take_out(*left);
    } else {
      loop_.spawn(take(std::get<WorkerGate::Joined>(*notice).host));
    }
  }
}

Task<> Workforce::take(std::shared_ptr<RemoteHost> host) {
  bool is_over = false;
  // If a stop ends this coroutine, go_on() takes the host again.
  const AtEnd keep([&] {
    if (!is_over) early_.push_back(host);
  });
  const bool is_device = host->identity().role == "device";
  if (is_device && devices_.size() > 0) {
    co_await take_device(host);
  } else if (is_device) {
    refuse(options_, *host, "this run uses no device (--device none)");
  } else {
    co_await compilers_.add(host, host->identity().memory_bytes);
    if (!host->is_gone())
      tell(options_, "worker joined", "compile worker on " + host->identity().name());
  }
  is_over = true;
}

Task<> Workforce::take_device(std::shared_ptr<RemoteHost> host) {
  std::string why;
  try {
    std::unique_ptr<DeviceClient> client = co_await opened(loop_, host, options_);
    take_out_former(*host);
    why = refusal_of(client->info());
    if (why.empty()) {
      co_await answered(client->set_up(setup_));
      why = refusal_of(client->info());  // another worker may have brought the same GPU meanwhile
    }
    if (why.empty()) {
      members_.push_back({host, devices_.add(std::move(client))});
      tell(options_, "worker joined", "device worker on " + host->identity().name());
    }
  } catch (const Error& error) {
    why = error.what();
  }
  if (!why.empty()) refuse(options_, *host, why);
}

/// Removes the former device of a worker that has connected again, because a worker may reconnect
/// before the gateway has noticed the loss of the old connection.
void Workforce::take_out_former(const RemoteHost& host) {
  const auto former = std::ranges::find_if(members_, [&](const Member& one) {
    return one.host->identity().nonce == host.identity().nonce;
  });
  if (former == members_.end()) return;
  devices_.leave(former->device);
  members_.erase(former);
}

/// Says why the run cannot use this device; empty if it can. Times are comparable only between
/// devices of one model, and only if no other worker uses the same GPU.
std::string Workforce::refusal_of(const DeviceInfo& info) const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (info.uuid.empty() || devices_.is_lost(i) || devices_.info(i).uuid != info.uuid) continue;
    return "GPU " + info.uuid + " is already in this run, lent by " + devices_.place(i).host +
           ": give each worker a GPU of its own, by CUDA_VISIBLE_DEVICES or --device cuda:N";
  }
  const DeviceInfo& ours = devices_.info();
  if (info.name == ours.name && info.time_kind == ours.time_kind) return {};
  const auto text = [](const DeviceInfo& one) {
    return one.name + " (" + std::string(to_string(one.time_kind)) + ")";
  };
  return "the worker's device is " + text(info) + ", and this run is on " + text(ours) +
         "; a run takes devices of one model: start a run for each model";
}

void Workforce::take_out(const WorkerGate::Left& left) {
  left.host->has_left();
  tell(options_, "worker left",
       left.host->identity().role + " worker on " + left.host->identity().name() + ": " + left.why);
  const auto member = std::ranges::find(members_, left.host, &Member::host);
  if (member == members_.end()) return;
  devices_.leave(member->device);
  members_.erase(member);
}

/// Ends the run as interrupted if it has had no device for the time `patience`, during which other
/// workers may connect.
Task<> Workforce::end_without_devices() {
  const AtEnd over([this] { --going_; });
  constexpr std::chrono::milliseconds kLookEvery{500};
  SteadyTime last = loop_.now();
  while (true) {
    if (devices_.usable() > 0 || devices_.size() == 0) last = loop_.now();
    if (loop_.now() >= last + options_.patience) {
      tell(options_, "no device left",
           "none was left for " + seconds_text(options_.patience) + "; the run ends");
      throw Interrupted(false);
    }
    co_await loop_.wait({-1, 0, 0}, loop_.now() + kLookEvery);
  }
}

}  // namespace evo
