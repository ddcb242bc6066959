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

/// The data of one shape and one seed: device buffers, and copies for comparison.
struct CheckCase {
  const Shape* shape = nullptr;
  std::size_t index = 0;
  std::uint64_t seed = 0;
  Values values;  ///< shape variables, shape macros, SM_COUNT
  /// workspaces and tensor maps are empty until a kernel provides its own
  std::vector<KernelArgument> arguments;
  std::map<std::size_t, BufferId> views;      ///< buffers behind textures that are not arrays
  std::vector<std::optional<KeptId>> inputs;  ///< per argument: for in and inout arguments
  bool complete = false;
  // Once complete, per argument: for out and inout arguments.
  std::vector<std::optional<KeptId>> expected;
  /// room for the outputs of a first run; only in case 0
  std::vector<std::optional<KeptId>> first_run;
  /// When rows are checked: for each output, the elements that the reference computed, and their
  /// indices.
  std::vector<std::vector<std::byte>> partly_expected;
  std::vector<std::vector<bool>> known;
  bool knows_all = false;

  /// The expected content of these elements of output `position`, computed by expect_rows().
  [[nodiscard]] Expectation expectation_of(std::size_t position, Dtype dtype,
                                           std::span<const std::size_t> elements) const;
};

/// The buffer of an argument, or of its texture; nullopt for scalars, arrays and tensor
/// maps.
[[nodiscard]] std::optional<BufferId> buffer_of(const CheckCase& data,
                                                const std::vector<KernelArgument>& arguments,
                                                std::size_t position);

/// A kernel loaded on a device, with the values for its expressions.
struct LoadedKernel {
  KernelId id = 0;
  const KernelSpec* spec = nullptr;
  Values macros;  ///< the configuration's macros and value names

  /// Throws ProblemError if the launch is outside of CUDA's limits or no step runs.
  [[nodiscard]] LaunchPlan launch_for(const CheckCase& data) const;
};

/// A launch of the reference kernel that takes this long, in µs, counts as long.
inline constexpr double kLongReferenceUs = 100'000;

struct CaseOptions {
  std::uint64_t seed = 0;
  /// The cases [first_of_checks, end_of_checks) have their own constants and textures. All other
  /// cases of a shape share one content, because the launches of a graph use the same constants.
  std::size_t first_of_checks = 0;
  std::size_t end_of_checks = 0;
};

/// Makes cases on demand and keeps them: inputs generated from the run's check seed, and the
/// expected outputs from the reference, which is a kernel on the same device, a program, or files.
/// It is an error of the problem if the reference does not write an expected element, or if the
/// expected output cannot tell right from wrong (ReferenceAudit). Without a reference, nothing is
/// expected.
class CaseSet {
 public:
  /// `work`, `problem` and `programs` must outlive this object. `reference`: the reference kernel,
  /// loaded on the device of `work`, if the problem has one.
  CaseSet(BufferWork& work, const Problem& problem, ProblemPrograms& programs,
          std::optional<LoadedKernel> reference, const CaseOptions& options)
      : work_(work),
        device_(work.device()),
        problem_(problem),
        programs_(programs),
        reference_(std::move(reference)),
        options_(options),
        audit_(problem) {}

  /// Called while a case is made, which can take long for large data.
  void report_to(std::function<void(const std::string&)> progress) { tell_ = std::move(progress); }

  /// The case number `index` (0, 1, …) of `shape`. Making a new case uses the device; nothing may
  /// be queued. Throws ProblemError if the reference fails or cannot tell right from wrong.
  [[nodiscard]] const CheckCase& get(const Shape& shape, std::size_t index);

  /// Whether a launch of the reference kernel on this shape takes at least kLongReferenceUs, by the
  /// device's clock. False on a device that does not measure. Makes the first case.
  [[nodiscard]] bool has_long_reference(const Shape& shape);

  /// The same without the expected output, for running a kernel whose result is not checked.
  [[nodiscard]] const CheckCase& inputs(const Shape& shape, std::size_t index);

  /// The same, with the expected output of at least these rows (CheckCase::known). Needs a device
  /// that samples grids and a reference with cta_of_row. Throws ProblemError if the CTA that
  /// cta_of_row names does not write the row.
  [[nodiscard]] const CheckCase& expect_rows(const Shape& shape, std::size_t index,
                                             const std::vector<std::size_t>& rows);

  /// The values for expressions on `shape`, without a kernel's macros.
  [[nodiscard]] Values values_of(const Shape& shape) const;

  /// The data of a case for a program.
  [[nodiscard]] ProgramCase program_case(const CheckCase& data) const;

  /// Restores the inputs (after a kernel changed them, or for inout arguments).
  void restore_inputs(const CheckCase& data);
  /// Restores only the inputs that a launch changes.
  void restore_inouts(const CheckCase& data);

  /// Throws ProblemError if the expected outputs of all cases so far cannot tell right from wrong.
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
  [[nodiscard]] std::optional<Fault> launch_reference(const CheckCase& data,
                                                      const std::vector<KernelArgument>& arguments);
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
  std::map<std::string, double> reference_us_;  ///< of its last measured launch, by shape
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<CheckCase>> cases_;
};

}  // namespace evo
