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

/// The data of a check case (one shape with one seed) for a program of the problem.
struct ProgramCase {
  const Shape* shape = nullptr;
  std::uint64_t seed = 0;
  const Values* values = nullptr;  ///< values of names in expressions, on this shape
  /// Returns the content of the input argument with this index.
  std::function<std::vector<std::byte>(std::size_t)> input = {};
  /// Returns the expected content of the output argument with this index; empty if there is none.
  std::function<std::vector<std::byte>(std::size_t)> expected = {};
};

/// An output after a kernel ran.
struct ProgramOutput {
  std::size_t position = 0;  ///< index of the argument
  std::vector<std::byte> content;
};

/// Runs the programs of a problem. A program runs in the problem's folder and reads its data from
/// files in a temporary folder, whose path is the program's last argument (docs/file-formats.md
/// describes the files).
class ProblemPrograms {
 public:
  /// `problem` must outlive this object.
  explicit ProblemPrograms(const Problem& problem) : problem_(problem) {}
  ProblemPrograms(const ProblemPrograms&) = delete;
  ProblemPrograms& operator=(const ProblemPrograms&) = delete;

  /// Sets a function that is called repeatedly while a program runs, with a text that says which
  /// program runs on which shape.
  void report_to(std::function<void(const std::string&)> progress) {
    progress_ = std::move(progress);
  }

  /// The reference program's expected outputs, by argument; empty for arguments without expected
  /// content (Argument::is_expected). Throws ProblemError if the program fails or leaves out an
  /// output.
  [[nodiscard]] std::vector<std::vector<std::byte>> expected(const ProgramCase& data);

  /// Returns why the check program finds the outputs wrong; nullopt if they are right. Equal
  /// outputs of a case are judged only once. If the verdict depends only on the outputs
  /// (Problem::check_needs_only_outputs without a reference), equal outputs of all cases of a shape
  /// are judged only once. Outputs for which the program gives no verdict, for example because it
  /// crashes, count as wrong. For each shape, the program is also tested with wrong outputs. Throws
  /// ProblemError if the program cannot be started, if it accepts outputs of zeros, random outputs,
  /// or any tried content of an output that has no expected content, or if it gives no verdict on
  /// zeros or random outputs. Outputs marked "degenerate" may have any content.
  [[nodiscard]] std::optional<std::string> judge(const ProgramCase& data,
                                                 const std::vector<ProgramOutput>& outputs);

 private:
  void write_case(const ProgramCase& data, const std::filesystem::path& folder,
                  std::span<const ProgramOutput> outputs, bool with_inputs) const;
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
  /// Results of judge(), by a hash of the shape, the outputs and, if the verdict may depend on it,
  /// the seed.
  std::map<std::string, std::optional<std::string>> verdicts_;
  /// Names of shapes on which the check program was tested with wrong outputs.
  std::set<std::string> proven_;
  /// Names of shapes on which the check program was tested with changes of each output that has no
  /// expected content.
  std::set<std::string> judges_each_;
};

}  // namespace evo
