#include "engine/gate/correctness/problem_programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/random.hpp"
#include "engine/core/temporary_folder.hpp"
#include "engine/gate/correctness/run_program.hpp"
#include "engine/problem/npy.hpp"

namespace evo {
namespace {

constexpr std::chrono::seconds kLimit{300};
constexpr std::string_view kFolderName = "evo-tune-data-";

/// Removes the temporary folders that killed processes left behind.
void remove_abandoned(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kFolderName)) continue;
    const pid_t owner = std::atoi(name.c_str() + kFolderName.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

/// A temporary folder for one program.
class Scratch {
 public:
  Scratch() { remove_abandoned(folder_.path().parent_path()); }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_{std::string(kFolderName) + std::to_string(getpid())};
};

/// The last line of `text` that is not empty, cut after 300 characters.
std::string last_line(const std::string& text) {
  constexpr std::size_t kMost = 300;
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1, end - start).substr(0, kMost);
}

/// Says why a program did not exit by itself; nullopt if it exited.
std::optional<std::string> breakdown(const ProgramEnd& end) {
  switch (end.kind) {
    case ProgramEnd::Kind::kExited:
      return std::nullopt;
    case ProgramEnd::Kind::kNotStarted:
      return std::string("cannot be started: ") + std::strerror(end.code);
    case ProgramEnd::Kind::kKilled:
      return "was killed by signal " + std::to_string(end.code) + "\n" + end.output;
    case ProgramEnd::Kind::kTooMuch:
      return "wrote more than " + std::to_string(kMostLogBytes >> 20) + " MiB to its output\n" +
             end.output;
    case ProgramEnd::Kind::kTooLong:
      return "did not end within " + std::to_string(kLimit.count()) + " s\n" + end.output;
  }
  return std::nullopt;
}

/// Whether a check ended with an unexpected Python exception instead of a verdict. The exit code is
/// 1 in both cases, an exception and a verdict of "wrong". An AssertionError counts as a verdict.
bool is_exception(const std::string& output) {
  // For a syntax error, Python prints no "Traceback" line, so the last line is examined.
  for (const char* name : {"SyntaxError", "IndentationError", "TabError"}) {
    if (last_line(output).starts_with(name)) return true;
  }
  return output.find("Traceback (most recent call last)") != std::string::npos &&
         !last_line(output).starts_with("AssertionError");
}

/// A line with the user's next step if Python lacks a module.
std::string next_step(const ProgramEnd& end) {
  if (!last_line(end.output).starts_with("ModuleNotFoundError")) return "";
  return "next step: install the module for the Python that runs the problem's program";
}

Json sizes(Dtype dtype, std::size_t elements) {
  return {{"dtype", std::string(to_string(dtype))}, {"elements", elements}};
}

/// Writes whole numbers without a decimal point, because programs use them as integers.
Json json_number(double value) {
  constexpr double kExact = 0x1.0p53;
  if (std::fabs(value) > kExact || value != std::floor(value)) return value;
  return static_cast<std::int64_t>(value);
}

Json numbers(const Values& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = json_number(value);
  return object;
}

/// The value of a scalar as JSON; null if it depends on the kernel's macros.
Json scalar_json(const Argument& argument, const Values& values) {
  if (argument.is_set_by_macros) return nullptr;
  if (argument.fields.empty()) return json_number(argument.scalar(values));
  Json fields = Json::object();
  for (const Field& field : argument.fields)
    fields[field.name] = json_number(field.value.evaluate(values));
  return fields;
}

/// Ranges of elements, [first, last). The check program must notice a change of each range. The
/// ranges of an out argument are the first half, the second half without the last element, and the
/// last element, which kernels often leave out; an output with fewer than four elements has fewer
/// ranges. An inout argument has one range of all elements, because a check may rightly ignore a
/// part of the argument.
std::vector<std::pair<std::size_t, std::size_t>> parts_to_change(Direction direction,
                                                                 std::size_t elements) {
  if (elements == 0) return {};
  if (direction != Direction::kOut || elements < 2) return {{0, elements}};
  const std::size_t half = elements / 2;
  if (elements < 4) return {{0, half}, {half, elements}};
  return {{0, half}, {half, elements - 1}, {elements - 1, elements}};
}

std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

void ProblemPrograms::fail(const std::string& key, const ProgramCase& data,
                           const std::string& what) const {
  const auto& words = key == "check" ? problem_.check_program : problem_.reference.program;
  throw ProblemError((problem_.folder / "problem.json").string() + ": " + key + ".program: '" +
                     text_of(words) + "' on shape '" + data.shape->name + "', seed " +
                     std::to_string(data.seed) + ": " + what);
}

void ProblemPrograms::write_case(const ProgramCase& data, const std::filesystem::path& folder,
                                 std::span<const ProgramOutput> outputs, bool with_inputs) const {
  Json scalars = Json::object();
  Json inputs = Json::object();
  Json results = Json::object();
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (argument.direction == Direction::kScalar) {
      scalars[argument.name] = scalar_json(argument, *data.values);
    }
    if (argument.is_input() && with_inputs) {
      const std::vector<std::byte> content = data.input(i);
      inputs[argument.name] = sizes(argument.dtype, content.size() / size_of(argument.dtype));
      write_npy(folder / (argument.name + ".npy"), argument.dtype, content);
    }
    if (argument.is_expected()) {
      results[argument.name] =
          sizes(argument.dtype, argument.compared_bytes(*data.values) / size_of(argument.dtype));
    }
  }
  for (const ProgramOutput& output : outputs) {
    const Argument& argument = problem_.arguments[output.position];
    results[argument.name] = sizes(argument.dtype, output.content.size() / size_of(argument.dtype));
  }
  const Json json = {{"shape", data.shape->name},
                     {"seed", data.seed},
                     {"variables", numbers(data.shape->variables)},
                     {"scalars", scalars},
                     {"inputs", inputs},
                     {"outputs", results}};
  write_file(folder / "case.json", json.dump(2) + "\n");
}

std::vector<std::vector<std::byte>> ProblemPrograms::expected(const ProgramCase& data) {
  const Scratch scratch;
  const std::filesystem::path& folder = scratch.folder();
  const std::string step = "running the reference program on shape " + data.shape->name;
  progress_(step);
  write_case(data, folder, {}, true);
  std::vector<std::string> words = problem_.reference.program;
  words.push_back(folder.string());
  progress_(step);
  const ProgramEnd end =
      run_program(words, problem_.folder, folder / "log.txt", kLimit, [&] { progress_(step); });
  if (const auto why = breakdown(end)) fail("reference", data, *why);
  if (end.code != 0) {
    fail("reference", data,
         "ended with exit code " + std::to_string(end.code) + "\n" + end.output + next_step(end));
  }
  std::vector<std::vector<std::byte>> outputs(problem_.arguments.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[i];
    if (!argument.is_expected()) continue;
    const std::filesystem::path file = folder / (argument.name + ".npy");
    if (!is_file(file)) fail("reference", data, "wrote no " + argument.name + ".npy");
    try {
      outputs[i] = read_npy(file, argument.dtype,
                            argument.compared_bytes(*data.values) / size_of(argument.dtype));
    } catch (const InputError& error) {
      fail("reference", data, error.what());
    }
  }
  return outputs;
}

std::optional<std::string> ProblemPrograms::judge(const ProgramCase& data,
                                                  const std::vector<ProgramOutput>& outputs) {
  ContentHash hash;
  hash.add(data.shape->name);
  // With a reference, the expected contents may depend on the seed.
  const bool is_of_outputs = problem_.check_needs_only_outputs && !problem_.reference.is_given();
  if (!is_of_outputs) hash.add(std::to_string(data.seed));
  for (const ProgramOutput& output : outputs) {
    hash.add({reinterpret_cast<const char*>(output.content.data()), output.content.size()});
  }
  const std::string key = hash.hex();
  const auto known = verdicts_.find(key);
  if (known != verdicts_.end()) return known->second;
  if (proven_.insert(data.shape->name).second) require_refusal(data, outputs);
  Verdict verdict = run_check(data, outputs);
  const bool is_right = !verdict.refusal && !verdict.breakdown;
  if (is_right && judges_each_.insert(data.shape->name).second) require_each_judged(data, outputs);
  if (verdict.breakdown)
    verdict.refusal = "the check program fails on these outputs: " + *verdict.breakdown;
  return verdicts_.emplace(key, std::move(verdict.refusal)).first->second;
}

ProblemPrograms::Verdict ProblemPrograms::run_check(const ProgramCase& data,
                                                    const std::vector<ProgramOutput>& outputs) {
  const Scratch scratch;
  const std::filesystem::path& folder = scratch.folder();
  const std::string step = "running the check program on shape " + data.shape->name;
  progress_(step);
  write_case(data, folder, outputs, !problem_.check_needs_only_outputs);
  for (const Argument& argument : problem_.arguments) {
    // Writes an empty file for each compared output, because the check program expects a file also
    // for an output without elements. The next loop replaces the files of outputs with elements.
    if (argument.is_output() && argument.is_compared) {
      write_npy(folder / ("output_" + argument.name + ".npy"), argument.dtype, {});
    }
  }
  for (const ProgramOutput& output : outputs) {
    const Argument& argument = problem_.arguments[output.position];
    write_npy(folder / ("output_" + argument.name + ".npy"), argument.dtype, output.content);
    const std::vector<std::byte> expected = data.expected(output.position);
    if (!expected.empty()) {
      write_npy(folder / ("expected_" + argument.name + ".npy"), argument.dtype, expected);
    }
  }
  std::vector<std::string> words = problem_.check_program;
  words.push_back(folder.string());
  progress_(step);
  const ProgramEnd end =
      run_program(words, problem_.folder, folder / "log.txt", kLimit, [&] { progress_(step); });
  if (end.kind == ProgramEnd::Kind::kNotStarted) fail("check", data, *breakdown(end));
  if (auto why = breakdown(end)) return {.breakdown = std::move(why)};
  if (end.code == 0) return {};
  if (end.code != 1 || is_exception(end.output)) {
    return {.breakdown =
                "ended with exit code " + std::to_string(end.code) +
                "; allowed: 0 for right outputs and 1 for wrong ones, without an exception\n" +
                end.output + next_step(end)};
  }
  const std::string reason = last_line(end.output);
  return {.refusal = "the check program rejects the outputs" +
                     (reason.empty() ? std::string() : ": " + reason)};
}

bool ProblemPrograms::refuses(const ProgramCase& data, const std::vector<ProgramOutput>& outputs) {
  const Verdict verdict = run_check(data, outputs);
  if (verdict.breakdown) fail("check", data, *verdict.breakdown);
  return verdict.refusal.has_value();
}

/// Requires that the check program rejects outputs of zeros and outputs of random data, because a
/// program that accepts them does not compare the outputs. Requires nothing if all outputs are
/// "degenerate".
void ProblemPrograms::require_refusal(const ProgramCase& data,
                                      const std::vector<ProgramOutput>& outputs) {
  for (const bool is_noise : {false, true}) {
    std::vector<ProgramOutput> wrong = outputs;
    Random random(data.seed);
    bool all_degenerate = true;
    for (ProgramOutput& output : wrong) {
      all_degenerate = all_degenerate && problem_.arguments[output.position].degenerate;
      for (std::byte& byte : output.content) {
        byte = is_noise ? static_cast<std::byte>(random.bits() & 0xff) : std::byte{0};
      }
    }
    if (all_degenerate || refuses(data, wrong)) continue;
    fail("check", data,
         std::string("the check accepts outputs that hold ") + (is_noise ? "noise" : "zeros only") +
             "; allowed: a check that rejects wrong outputs (exit code 1); if "
             "this is intended, set \"degenerate\": true for the outputs");
  }
}

/// Requires that the check program notices a change of each range of elements that
/// parts_to_change() gives, in every output that has no expected content and is not "degenerate".
/// `outputs` passed the check.
void ProblemPrograms::require_each_judged(const ProgramCase& data,
                                          const std::vector<ProgramOutput>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem_.arguments[outputs[i].position];
    if (argument.degenerate || !data.expected(outputs[i].position).empty()) continue;
    const std::size_t elements = outputs[i].content.size() / size_of(argument.dtype);
    for (const auto& [first, last] : parts_to_change(argument.direction, elements)) {
      if (notices(data, outputs, i, first, last)) continue;
      const bool is_whole = last - first == elements;
      fail("check", data,
           "the check accepts '" + argument.name + "' whatever " +
               (is_whole
                    ? std::string("it holds")
                    : "its elements " + std::to_string(first) + " to " + std::to_string(last - 1) +
                          " of " + std::to_string(elements) + " hold") +
               ", and it has no expected content; allowed: a check that looks at every output; "
               "if this is intended, set \"degenerate\": true for the output");
    }
  }
}

/// Changes the elements `first` to `last` - 1 of the output with index `output` in several ways,
/// and returns whether the check program rejects `outputs`, or fails, after one of the changes.
bool ProblemPrograms::notices(const ProgramCase& data, const std::vector<ProgramOutput>& outputs,
                              std::size_t output, std::size_t first, std::size_t last) {
  constexpr std::byte kLarge{0x7e};  // large in most number types
  const std::size_t size = size_of(problem_.arguments[outputs[output].position].dtype);
  Random random(data.seed);
  for (const auto& change : std::initializer_list<std::function<std::byte(std::byte)>>{
           [](std::byte byte) { return ~byte; }, [](std::byte) { return std::byte{0}; },
           [&](std::byte) { return static_cast<std::byte>(random.bits() & 0xff); },
           [](std::byte) { return kLarge; }}) {
    std::vector<ProgramOutput> wrong = outputs;
    const std::span<std::byte> part =
        std::span(wrong[output].content).subspan(first * size, (last - first) * size);
    std::ranges::transform(part, part.begin(), change);
    if (wrong[output].content == outputs[output].content) continue;
    const Verdict verdict = run_check(data, wrong);
    if (verdict.refusal || verdict.breakdown) return true;
  }
  return false;
}

}  // namespace evo
