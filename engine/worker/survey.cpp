#include "engine/worker/survey.hpp"

#include <algorithm>

#include "engine/worker/messages.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/survey_messages.hpp"

namespace evo {
namespace {

/// A worker process that answers one question about the machine.
class Question {
 public:
  /// `subject`: the name of the library or device for error messages.
  Question(std::string subject, const std::filesystem::path& worker,
           const std::vector<std::string>& arguments, std::chrono::milliseconds patience)
      : subject_(std::move(subject)),
        process_(worker, arguments),
        patience_(patience),
        until_(std::chrono::steady_clock::now() + patience) {
    (void)process_.send({{"op", "info"}});
  }

  /// The answer as JSON, or an object whose "error" is the reason why there is no answer.
  [[nodiscard]] nlohmann::json answer() {
    try {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until_ - std::chrono::steady_clock::now());
      if (auto message = process_.wait(std::max(left, std::chrono::milliseconds(0)))) {
        make_printable(*message);
        return *message;
      }
    } catch (const std::exception&) {
      return failure("sends unreadable messages");
    }
    const bool hangs = process_.is_open();
    const Ending ending = process_.kill();
    if (!hangs) return failure("ended its process: " + ending.text);
    return failure("does not answer within " + seconds_text(patience_));
  }

 private:
  [[nodiscard]] nlohmann::json failure(const std::string& what) const {
    return {{"error", subject_ + " " + what}};
  }

  std::string subject_;
  WorkerProcess process_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point until_;
};

constexpr const char* kUnreadable = "its answer cannot be read";

template <typename Facts>
Facts facts_in(const nlohmann::json& answer) {
  Facts facts;
  try {
    if (!answer.contains("error")) return answer.get<Facts>();
    answer.at("error").get_to(facts.failure);
  } catch (const nlohmann::json::exception&) {
    facts.failure = kUnreadable;
  }
  return facts;
}

std::variant<DeviceInfo, OpenFailure> device_in(const nlohmann::json& answer) {
  try {
    if (answer.contains("info")) return answer.at("info").get<DeviceInfo>();
    return OpenFailure{answer.at("error").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return OpenFailure{kUnreadable};
  }
}

constexpr const char* kDriver = "the CUDA driver";

}  // namespace

CudaFacts survey_cuda(const std::filesystem::path& worker, std::chrono::milliseconds patience) {
  return facts_in<CudaFacts>(Question(kDriver, worker, {"survey", "cuda"}, patience).answer());
}

MachineSurvey survey_machine(const std::filesystem::path& worker, const std::string& device_id,
                             std::chrono::milliseconds patience) {
  Question nvml("NVML", worker, {"survey", "nvml"}, patience);
  Question cuda(kDriver, worker, {"survey", "cuda"}, patience);
  Question nvrtc("NVRTC", worker, {"survey", "nvrtc"}, patience);
  MachineSurvey survey;
  survey.nvml = facts_in<NvmlFacts>(nvml.answer());
  survey.cuda = facts_in<CudaFacts>(cuda.answer());
  survey.nvrtc = facts_in<NvrtcFacts>(nvrtc.answer());
  // Opens the device only after NVML has answered, so that NVML does not list the process that
  // opens the device.
  Question device("the GPU's worker", worker, {"device", device_id}, patience);
  survey.device = device_in(device.answer());
  return survey;
}

}  // namespace evo
