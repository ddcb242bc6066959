#include "engine/worker/survey.hpp"

#include <fmt/format.h>

#include "engine/core/printable.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/survey_messages.hpp"

namespace evo {
namespace {

constexpr std::chrono::milliseconds kPatience{30000};

/// A process that was asked something.
class Question {
 public:
  /// `subject`: what is asked, for people.
  Question(std::string subject, const std::filesystem::path& worker,
           const std::vector<std::string>& arguments, const nlohmann::json& request)
      : subject_(std::move(subject)),
        process_(worker, arguments),
        until_(std::chrono::steady_clock::now() + kPatience) {
    (void)process_.send(request);
  }

  /// The answer, or an object with "error": why there is none.
  [[nodiscard]] nlohmann::json answer() {
    try {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until_ - std::chrono::steady_clock::now());
      if (auto message = process_.wait(std::max(left, std::chrono::milliseconds(0)))) {
        return *message;
      }
    } catch (const std::exception&) {
      return failure("sends what cannot be read");
    }
    const bool hangs = process_.is_open();
    const Ending ending = process_.kill();
    if (!hangs) return failure("ends the process that asks: " + ending.text);
    return failure("does not answer within " + seconds_text(kPatience));
  }

 private:
  [[nodiscard]] nlohmann::json failure(const std::string& what) const {
    return {{"error", subject_ + " " + what}};
  }

  std::string subject_;
  WorkerProcess process_;
  std::chrono::steady_clock::time_point until_;
};

template <typename Facts>
Facts facts_in(const nlohmann::json& answer) {
  Facts facts;
  if (answer.contains("error")) {
    facts.failure = printable(answer.at("error").get<std::string>());
  } else {
    answer.get_to(facts);
  }
  return facts;
}

}  // namespace

MachineSurvey survey_machine(const std::filesystem::path& worker, const std::string& device_id) {
  const nlohmann::json facts = {{"op", "facts"}};
  Question nvml("NVML", worker, {"survey", "nvml"}, facts);
  Question cuda("the CUDA driver", worker, {"survey", "cuda"}, facts);
  Question nvrtc("NVRTC", worker, {"survey", "nvrtc"}, facts);
  MachineSurvey survey;
  survey.nvml = facts_in<NvmlFacts>(nvml.answer());
  survey.cuda = facts_in<CudaFacts>(cuda.answer());
  survey.nvrtc = facts_in<NvrtcFacts>(nvrtc.answer());
  // Later, so that NVML does not list the process that opens the device.
  const nlohmann::json opened =
      Question("opening the GPU", worker, {"device", device_id}, {{"op", "info"}}).answer();
  if (opened.contains("info")) {
    survey.device = opened.at("info").get<DeviceInfo>();
  } else {
    survey.device = OpenFailure{printable(opened.at("error").get<std::string>())};
  }
  return survey;
}

}  // namespace evo
