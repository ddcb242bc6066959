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

/// The data of a case for a program.
struct ProgramCase {
  const Shape* shape = nullptr;
  std::uint64_t seed = 0;
  const Values* values = nullptr;  ///< what expressions of the shape are evaluated with
  /// What an input argument holds, by position.
  std::function<std::vector<std::byte>(std::size_t)> input = {};
  /// What is expected of an output; empty where nobody says.
  std::function<std::vector<std::byte>(std::size_t)> expected = {};
};

/// An output as a kernel left it.
struct ProgramOutput {
  std::size_t position = 0;  ///< of the argument
  std::vector<std::byte> content;
};

/// The programs of a problem: they get their data as files in a temporary folder, whose name is
/// their last argument (docs/file-formats.md says which files), and run in the problem's folder.
class ProblemPrograms {
 public:
  /// `problem` must outlive this.
  explicit ProblemPrograms(const Problem& problem) : problem_(problem) {}
  ProblemPrograms(const ProblemPrograms&) = delete;
  ProblemPrograms& operator=(const ProblemPrograms&) = delete;

  /// Gets a word while a program runs.
  void report_to(std::function<void(const std::string&)> progress) {
    progress_ = std::move(progress);
  }

  /// What the reference program expects, per argument; empty unless an output of the shape's size.
  /// Throws ProblemError when it fails.
  [[nodiscard]] std::vector<std::vector<std::byte>> expected(const ProgramCase& data);

  /// Why the check program finds outputs wrong, or nothing. The same outputs of a case are judged
  /// once. On every shape it must prove first that it can fail: ProblemError when it cannot be run,
  /// or takes outputs for right that hold zeros only or noise, or one that nothing else judges
  /// whatever it holds. From then on it is the outputs' fault when it gives no verdict.
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
  /// Shapes on which the check program refused what is wrong; of these, on which it judges every
  /// output that nothing else does.
  std::set<std::string> proven_;
  std::set<std::string> judges_each_;
};

}  // namespace evo
