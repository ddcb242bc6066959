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

/// A check case, which is the data for one shape and one seed: device buffers, and copies for
/// comparison.
struct CheckCase {
  const Shape* shape = nullptr;
  std::size_t index = 0;
  std::uint64_t seed = 0;
  Values values;  ///< shape variables, shape macros, SM_COUNT
  /// arguments of a launch; those that depend on the kernel's configuration (workspaces, tensor
  /// maps, buffers whose size and scalars whose value depend on macros) are empty here;
  /// Workspace::arguments_of() inserts them into a copy
  std::vector<KernelArgument> arguments;
  std::map<std::size_t, BufferId> views;  ///< buffers of textures that are not CUDA arrays
  /// initial contents of in and inout arguments, by argument
  std::vector<std::optional<KeptId>> inputs;
  bool complete = false;
  // Expected contents of out and inout arguments, by argument, once `complete` is true.
  std::vector<std::optional<KeptId>> expected;
  /// memory for the outputs of a kernel's first run; only in the case with index 0
  std::vector<std::optional<KeptId>> first_run;
  /// If only some rows are checked: by argument, the expected output, and a flag for each element
  /// that tells whether the reference computed it; other elements of partly_expected have no
  /// meaning.
  std::vector<std::vector<std::byte>> partly_expected;
  std::vector<std::vector<bool>> known;
  bool knows_all = false;

  /// The expected content of `elements` of the output that is argument `position`, as computed by
  /// expect_rows().
  [[nodiscard]] Expectation expectation_of(std::size_t position, Dtype dtype,
                                           std::span<const std::size_t> elements) const;
};

/// The buffer of an argument, or of its texture; nullopt for scalars, CUDA arrays and tensor maps.
[[nodiscard]] std::optional<BufferId> buffer_of(const CheckCase& data,
                                                const std::vector<KernelArgument>& arguments,
                                                std::size_t position);

/// A kernel loaded on a device, with the macro values for the expressions of its launch.
struct LoadedKernel {
  KernelId id = 0;
  const KernelSpec* spec = nullptr;
  /// numbers of the configuration's macros, and of value names such as SWIZZLE_XOR (value_names())
  Values macros;

  /// Throws ProblemError if the launch is outside of CUDA's limits or no step runs.
  [[nodiscard]] LaunchPlan launch_for(const CheckCase& data) const;
};

/// A launch of the reference kernel counts as long if it takes at least this time in µs.
inline constexpr double kLongReferenceUs = 100'000;

struct CaseOptions {
  std::uint64_t seed = 0;
  /// Check cases with an index in [first_of_checks, end_of_checks) have their own constants and
  /// textures. All other cases of a shape share the contents of constants and textures, because all
  /// launches of a CUDA graph use the same constants.
  std::size_t first_of_checks = 0;
  std::size_t end_of_checks = 0;
};

/// Makes check cases on demand and caches them. Random inputs are generated from the run's check
/// seed. The expected outputs come from the reference, which is a kernel on the same device, a
/// program, or files. Throws ProblemError if the reference leaves an expected element unwritten, or
/// if a comparison with the expected outputs could not detect wrong results (ReferenceAudit). A
/// problem without a reference has no expected outputs. Data that do not depend on the seed are
/// made once for all cases of a shape.
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

  /// Sets a function that is called while a case is made, to report progress, because making large
  /// inputs takes long.
  void report_to(std::function<void(const std::string&)> progress) { tell_ = std::move(progress); }

  /// Throws ProblemError if the device knows that it has too little memory for the buffers of the
  /// first `cases` cases of `shape`, so that no large inputs are made in vain.
  void require_room(const Shape& shape, std::size_t cases) const;

  /// Returns case number `index` (0, 1, …) of `shape`. The device's queue must be empty, because
  /// making a new case uses the device. Throws ProblemError if the reference fails, or if a
  /// comparison with its outputs could not detect wrong results.
  [[nodiscard]] const CheckCase& get(const Shape& shape, std::size_t index);

  /// Whether a launch of the reference kernel on this shape takes at least kLongReferenceUs, by the
  /// device's clock. False on a device that does not measure. Makes the first case.
  [[nodiscard]] bool has_long_reference(const Shape& shape);

  /// Like get(), but without expected outputs, for launches whose results are not checked.
  [[nodiscard]] const CheckCase& inputs(const Shape& shape, std::size_t index);

  /// Like get(), but with the expected output of at least `rows` (CheckCase::known). Needs a device
  /// that can run a part of a grid, and a reference with "cta_of_row" in problem.json. Throws
  /// ProblemError if cta_of_row gives no index of a CTA, or the index of a CTA that does not write
  /// the row.
  [[nodiscard]] const CheckCase& expect_rows(const Shape& shape, std::size_t index,
                                             const std::vector<std::size_t>& rows);

  /// The values of the names in expressions on `shape` (shape variables, shape macros, SM_COUNT),
  /// without a kernel's macros.
  [[nodiscard]] Values values_of(const Shape& shape) const;

  /// Converts a case to the form in which ProblemPrograms writes it to files.
  [[nodiscard]] ProgramCase program_case(const CheckCase& data) const;

  /// Restores all inputs and inout arguments, for example after a kernel changed inputs.
  void restore_inputs(const CheckCase& data);
  /// Restores only the inout arguments.
  void restore_inouts(const CheckCase& data);

  /// Throws ProblemError if a comparison with the expected outputs of all cases made so far could
  /// not detect wrong results.
  void require_meaningful() const { audit_.require_meaningful(); }

 private:
  [[nodiscard]] CheckCase& made(const Shape& shape, std::size_t index);
  [[nodiscard]] std::unique_ptr<CheckCase> build(const Shape& shape, std::size_t index);
  [[nodiscard]] const CheckCase* first_case(const CheckCase& data) const;
  [[nodiscard]] bool repeats_the_first(const CheckCase& data) const;
  [[nodiscard]] std::uint64_t seed_of(const Shape& shape, std::size_t index) const;
  void require_memory(const Shape& shape, std::size_t new_cases) const;
  void add_argument(CheckCase& data, std::size_t position);
  void add_texture(CheckCase& data, std::size_t position, BufferId texels);
  void compute_expected(CheckCase& data);
  [[nodiscard]] std::vector<std::vector<std::byte>> expected_of(const CheckCase& data);
  [[nodiscard]] std::vector<std::vector<std::byte>> run_for_expected(const CheckCase& data);
  void run_reference(const CheckCase& data);
  [[nodiscard]] std::optional<Fault> launch_reference(const CheckCase& data,
                                                      const std::vector<KernelArgument>& arguments);
  [[nodiscard]] KeptId keep(const Argument& argument, std::size_t bytes,
                            const ContentParts& content);
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
  /// µs of the reference's last measured launch, by shape name
  std::map<std::string, double> reference_us_;
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<CheckCase>> cases_;
};

}  // namespace evo
