#pragma once

#include <memory>
#include <string>

#include "engine/worker/frame_stream.hpp"
#include "engine/worker/worker_channel.hpp"
#include "engine/worker/worker_identity.hpp"

namespace evo {

/// A worker on another host, connected by the gateway process. The worker runs one process at a
/// time.
class RemoteHost final : public WorkerHost, public std::enable_shared_from_this<RemoteHost> {
 public:
  RemoteHost(WorkerIdentity identity, std::unique_ptr<ByteStream> bytes)
      : identity_(std::move(identity)), frames_(std::make_unique<FrameStream>(std::move(bytes))) {}

  [[nodiscard]] std::unique_ptr<WorkerChannel> start(const std::vector<std::string>& arguments,
                                                     const WorkerLimits& limits) override;
  [[nodiscard]] bool is_gone() const override {
    return has_left_ || !frames_ || !frames_->is_open();
  }
  void leave() override { frames_.reset(); }
  /// Marks the worker as disconnected, after a report of the gateway. Messages that have arrived
  /// can still be read.
  void has_left() { has_left_ = true; }
  [[nodiscard]] std::string name() const override { return identity_.host; }
  [[nodiscard]] const WorkerIdentity& identity() const { return identity_; }

 private:
  friend class RemoteProcess;

  WorkerIdentity identity_;
  std::unique_ptr<FrameStream> frames_;  ///< null after leave()
  bool has_left_ = false;
  int endings_owed_ = 0;  ///< number of processes told to end that have not reported their end
};

}  // namespace evo
