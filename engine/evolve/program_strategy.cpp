#include "engine/evolve/program_strategy.hpp"

#include <nlohmann/json.hpp>

#include "engine/core/error.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The run fails after this many successive answers without a new and valid proposal.
constexpr int kMostIdleAnswers = 100;

/// Converts a macro's value to its JSON type in the space file: 64, 0.5, true or "xor".
OrderedJson typed_value(const std::string& text) {
  OrderedJson value = OrderedJson::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : OrderedJson(text);
}

std::optional<std::uint16_t> index_of(const CandidateSpace& space, std::size_t parameter,
                                      const OrderedJson& wanted) {
  for (std::size_t i = 0; i < space.value_count(parameter); ++i) {
    if (typed_value(space.value_text(parameter, i)) == wanted) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

OrderedJson config_json(const CandidateSpace& space, const Candidate& candidate) {
  OrderedJson config = OrderedJson::object();
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    config[std::string(space.parameter_name(p))] =
        typed_value(space.value_text(p, candidate.choice[p]));
  }
  return config;
}

OrderedJson space_json(const CandidateSpace& space, const StrategyOptions& options) {
  OrderedJson parameters = OrderedJson::array();
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    OrderedJson values = OrderedJson::array();
    for (std::size_t i = 0; i < space.value_count(p); ++i) {
      values.push_back(typed_value(space.value_text(p, i)));
    }
    parameters.push_back({{"macro", space.parameter_name(p)}, {"values", values}});
  }
  const SpaceCount count = space.count();
  return {{"format", "evo-tune strategy 1"}, {"seed", options.seed},
          {"elite", options.elite_size},     {"configurations", count.value},
          {"is_exact", count.exact},         {"parameters", parameters}};
}

/// Reads a configuration that the program has proposed. Throws InputError, which names the program,
/// unless the configuration has exactly the space's macros, each with one of its values.
Candidate candidate_of(const CandidateSpace& space, const OrderedJson& config,
                       const ProgramPipe& program) {
  if (!config.is_object()) {
    program.fail("proposals: " + shortened(config.dump()) +
                 ": allowed: an object with a value for each macro");
  }
  Candidate candidate;
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    const std::string macro(space.parameter_name(p));
    if (!config.contains(macro)) {
      program.fail("proposals: " + shortened(config.dump()) + " lacks macro '" + macro + "'");
    }
    const auto index = index_of(space, p, config[macro]);
    if (!index) {
      program.fail("proposals: " + macro + ": " + shortened(config[macro].dump()) +
                   " is not in the space");
    }
    candidate.choice.push_back(*index);
  }
  if (config.size() != space.parameter_count()) {
    program.fail("proposals: " + shortened(config.dump()) +
                 " has a macro that the space does not have");
  }
  return candidate;
}

/// Reads the list of proposals in an answer of the program. Throws InputError, which names the
/// program, if the answer is malformed.
OrderedJson proposals_of(const std::string& line, const ProgramPipe& program) {
  const OrderedJson answer = OrderedJson::parse(line, nullptr, false);
  if (!answer.is_object() || answer.size() != 1 || !answer.contains("proposals") ||
      !answer["proposals"].is_array()) {
    program.fail("the program answered " + shortened(printable(line)) +
                 "; allowed: {\"proposals\": [{\"MACRO\": value, …}, …]}");
  }
  return answer["proposals"];
}

}  // namespace

ProgramStrategy::ProgramStrategy(const CandidateSpace& space, const StrategyOptions& options,
                                 std::string command, std::chrono::milliseconds limit)
    : SearchBase(space, options), command_(std::move(command)), limit_(limit) {
  const std::size_t begin = command_.find_first_not_of(" \t");
  if (begin == std::string::npos) {
    throw InputError("--strategy program: a command is missing; write 'program: COMMAND'");
  }
  command_.erase(0, begin);
}

ProgramPipe& ProgramStrategy::program() {
  if (!program_) {
    program_.emplace(command_);
    program_->send(space_json(space_, options_).dump(), limit_);
  }
  return *program_;
}

std::vector<Candidate> ProgramStrategy::propose(std::size_t count) {
  std::vector<Candidate> proposals;
  OrderedJson refused = OrderedJson::array();
  for (int idle = 0; proposals.size() < count && seen_.next_unseen(); ++idle) {
    ProgramPipe& asked = program();
    if (idle == kMostIdleAnswers) {
      asked.fail("the program proposed no new and valid configuration in " + std::to_string(idle) +
                 " answers, the last one " + shortened(refused.dump()));
    }
    OrderedJson question = {{"propose", count - proposals.size()}};
    if (!refused.empty()) question["refused"] = std::move(refused);
    refused = OrderedJson::array();
    asked.send(question.dump(), limit_);
    const OrderedJson answer = proposals_of(asked.receive(limit_), asked);
    if (answer.empty()) break;  // the program has no more proposals
    if (answer.size() > count - proposals.size()) {
      asked.fail("the program proposed " + std::to_string(answer.size()) +
                 " configurations; it was asked for " + std::to_string(count - proposals.size()));
    }
    for (const OrderedJson& config : answer) {
      const Candidate candidate = candidate_of(space_, config, asked);
      if (!space_.is_valid(candidate)) {
        refused.push_back({{"config", config}, {"why", "a constraint of the space forbids it"}});
      } else if (!take(candidate, proposals)) {
        refused.push_back({{"config", config}, {"why", "it was proposed before"}});
      } else {
        idle = -1;
      }
    }
  }
  return proposals;
}

void ProgramStrategy::observe(std::span<const Observation> observations) {
  OrderedJson told = OrderedJson::array();
  for (const Observation& observation : observations) {
    seen_.add(observation.candidate);
    OrderedJson one = {{"config", config_json(space_, observation.candidate)}};
    if (observation.time_us) one["time_us"] = *observation.time_us;
    if (observation.failed_at) one["failed_at"] = to_string(*observation.failed_at);
    told.push_back(std::move(one));
  }
  if (!told.empty()) program().send(OrderedJson({{"observe", told}}).dump(), limit_);
}

}  // namespace evo
