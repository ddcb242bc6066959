#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/gate/correctness/buffer_work.hpp"
#include "engine/gate/correctness/expectation.hpp"
#include "engine/gate/correctness/problem_programs.hpp"
#include "engine/gate/correctness/reference_audit.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The data of one shape and one seed: in buffers and, for comparison, kept.
struct CheckCase {
  const Shape* shape = nullptr;
  std::size_t index = 0;
  std::uint64_t seed = 0;
  Values values;                              ///< shape variables, shape macros, SM_COUNT
  std::vector<KernelArgument> arguments;      ///< workspaces hold 0 until a kernel brings its own
  std::map<std::size_t, BufferId> views;      ///< what textures look at that are no arrays
  std::vector<std::optional<KeptId>> inputs;  ///< per argument: of those that are in or inout
  bool complete = false;
  // Once complete, per argument: of those that are out or inout.
  std::vector<std::optional<KeptId>> expected;
  std::vector<std::optional<KeptId>> first_run;  ///< room for what a first run left; case 0 only
  /// Where rows are looked at: per output, the elements that the reference computed, and which they
  /// are.
  std::vector<std::vector<std::byte>> partly_expected;
  std::vector<std::vector<bool>> known;
  bool knows_all = false;

  /// What these elements of output `position` must hold, which expect_rows() computed.
  [[nodiscard]] Expectation expectation_of(std::size_t position, Dtype dtype,
                                           std::span<const std::size_t> elements) const;
};

/// The buffer of an argument, or what its texture looks at; nothing for scalars and arrays.
[[nodiscard]] std::optional<BufferId> buffer_of(const CheckCase& data,
                                                const std::vector<KernelArgument>& arguments,
                                                std::size_t position);

/// A kernel loaded on a device, with what its expressions need.
struct LoadedKernel {
  KernelId id = 0;
  const KernelSpec* spec = nullptr;
  Values macros;  ///< the configuration's macros and value names

  /// Throws ProblemError when the geometry is out of CUDA's range, or no step runs.
  [[nodiscard]] LaunchPlan launch_for(const CheckCase& data) const;
};

struct CaseOptions {
  std::uint64_t seed = 0;
  /// Cases from `first_of_checks` to before `end_of_checks` have constants and textures of their
  /// own. Those of all others of a shape hold the same: launches of one graph find one content.
  std::size_t first_of_checks = 0;
  std::size_t end_of_checks = 0;
};

/// Makes cases on demand and keeps them: inputs generated from the run's check seed, the expected
/// result computed by the reference: a kernel on the same device, a program, or files. An
/// expectation that the reference did not write, or that cannot tell right from wrong
/// (ReferenceAudit), is an error of the problem. Without a reference nothing is expected.
class CaseSet {
 public:
  /// `work`, `problem` and `programs` must outlive this. `reference`: the loaded reference kernel,
  /// on the device of `work`, where the problem has one.
  CaseSet(BufferWork& work, const Problem& problem, ProblemPrograms& programs,
          std::optional<LoadedKernel> reference, const CaseOptions& options)
      : work_(work),
        device_(work.device()),
        problem_(problem),
        programs_(programs),
        reference_(std::move(reference)),
        options_(options),
        audit_(problem) {}

  /// Gets a word when a case is made, which takes a while where there is much data.
  void report_to(std::function<void(const std::string&)> progress) { tell_ = std::move(progress); }

  /// The case number `index` (0, 1, …) of `shape`. One that is not made yet begins work: nothing
  /// may be queued. Throws ProblemError when the reference fails or is no measure of right and
  /// wrong.
  [[nodiscard]] const CheckCase& get(const Shape& shape, std::size_t index);

  /// The same without what is expected: for running a kernel whose result is not looked at.
  [[nodiscard]] const CheckCase& inputs(const Shape& shape, std::size_t index);

  /// The same with what is expected in these rows at least (CheckCase::known). Needs a device that
  /// samples grids and a reference with cta_of_row. Throws ProblemError when the
  /// reference does not write a row in the CTA that cta_of_row names.
  [[nodiscard]] const CheckCase& expect_rows(const Shape& shape, std::size_t index,
                                             const std::vector<std::size_t>& rows);

  /// What expressions on `shape` are evaluated with, without a kernel's macros.
  [[nodiscard]] Values values_of(const Shape& shape) const;

  /// What a program is told of a case that is made.
  [[nodiscard]] ProgramCase program_case(const CheckCase& data) const;

  /// Puts the inputs back as generated (after a kernel changed them, or for inout arguments).
  void restore_inputs(const CheckCase& data);
  /// Of them those that a launch changes.
  void restore_inouts(const CheckCase& data);

  /// Throws ProblemError when what all cases made so far expect cannot tell right from wrong.
  void require_meaningful() const { audit_.require_meaningful(); }

 private:
  [[nodiscard]] CheckCase& made(const Shape& shape, std::size_t index);
  [[nodiscard]] std::unique_ptr<CheckCase> build(const Shape& shape, std::size_t index);
  [[nodiscard]] std::uint64_t seed_of(const Shape& shape, std::size_t index) const;
  void add_argument(CheckCase& data, std::size_t position);
  void add_texture(CheckCase& data, std::size_t position, BufferId texels);
  void compute_expected(CheckCase& data);
  [[nodiscard]] std::vector<std::vector<std::byte>> expected_of(const CheckCase& data);
  [[nodiscard]] std::vector<std::vector<std::byte>> run_for_expected(const CheckCase& data);
  void run_reference(const CheckCase& data);
  [[nodiscard]] KeptId keep(const Argument& argument, std::span<const std::byte> content);
  void poison_outputs(const CheckCase& data, std::byte flip);
  [[nodiscard]] std::vector<std::byte> output_of(const CheckCase& data, std::size_t position);
  void require_written(const CheckCase& data, const std::vector<std::vector<std::byte>>& outputs);
  [[nodiscard]] bool knows_row(const CheckCase& data, std::size_t row) const;
  void know_all(CheckCase& data);
  void take_written(CheckCase& data, std::size_t position);
  [[noreturn]] void fail(const CheckCase& data, const std::string& key,
                         const std::string& what) const;

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  ProblemPrograms& programs_;
  std::optional<LoadedKernel> reference_;
  CaseOptions options_;
  ReferenceAudit audit_;
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<CheckCase>> cases_;
};

}  // namespace evo
