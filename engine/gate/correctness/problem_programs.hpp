#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"

namespace evo {

/// A case's data for a program.
struct ProgramCase {
  const Shape* shape = nullptr;
  std::uint64_t seed = 0;
  const Values* values = nullptr;  ///< values for expressions of the shape
  /// The content of an input argument, by position.
  std::function<std::vector<std::byte>(std::size_t)> input = {};
  /// The expected content of an output; empty if there is none.
  std::function<std::vector<std::byte>(std::size_t)> expected = {};
};

/// An output as a kernel left it.
struct ProgramOutput {
  std::size_t position = 0;  ///< index of the argument
  std::vector<std::byte> content;
};

/// Runs the programs of a problem. They get their data as files in a temporary folder, whose name
/// is their last argument (docs/file-formats.md describes the files), and run in the problem's
/// folder.
class ProblemPrograms {
 public:
  /// `problem` must outlive this object.
  explicit ProblemPrograms(const Problem& problem) : problem_(problem) {}
  ProblemPrograms(const ProblemPrograms&) = delete;
  ProblemPrograms& operator=(const ProblemPrograms&) = delete;

  /// Called while a program runs.
  void report_to(std::function<void(const std::string&)> progress) {
    progress_ = std::move(progress);
  }

  /// The reference program's expected outputs, by argument; empty except for outputs of the shape.
  /// Throws ProblemError if the program fails.
  [[nodiscard]] std::vector<std::vector<std::byte>> expected(const ProgramCase& data);

  /// Why the check program finds the outputs wrong; nullopt if they are right. Equal outputs of a
  /// case are judged only once. On every shape the program must first prove that it can fail.
  /// Throws ProblemError if it cannot be run, or if it accepts outputs of zeros, random outputs, or
  /// any content of an output that only it judges. After this proof, a program without a verdict
  /// counts against the outputs.
  [[nodiscard]] std::optional<std::string> judge(const ProgramCase& data,
                                                 const std::vector<ProgramOutput>& outputs);

 private:
  void write_case(const ProgramCase& data, const std::filesystem::path& folder,
                  std::span<const ProgramOutput> outputs) const;
  struct Verdict {
    std::optional<std::string> refusal = {};    ///< why the outputs are wrong
    std::optional<std::string> breakdown = {};  ///< why there is no verdict
  };
  [[nodiscard]] Verdict run_check(const ProgramCase& data,
                                  const std::vector<ProgramOutput>& outputs);
  [[nodiscard]] bool refuses(const ProgramCase& data, const std::vector<ProgramOutput>& outputs);
  void require_refusal(const ProgramCase& data, const std::vector<ProgramOutput>& outputs);
  void require_each_judged(const ProgramCase& data, const std::vector<ProgramOutput>& outputs);
  [[nodiscard]] bool notices(const ProgramCase& data, const std::vector<ProgramOutput>& outputs,
                             std::size_t output, std::size_t first, std::size_t last);
  [[noreturn]] void fail(const std::string& key, const ProgramCase& data,
                         const std::string& what) const;

  const Problem& problem_;
  std::function<void(const std::string&)> progress_ = [](const std::string&) {};
  std::map<std::string, std::optional<std::string>> verdicts_;  ///< by case and content
  /// Shapes on which the check program rejected wrong outputs. For the second set, it also judges
  /// every output that nothing else judges.
  std::set<std::string> proven_;
  std::set<std::string> judges_each_;
};

}  // namespace evo
