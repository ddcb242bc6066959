#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/gate/expectation.hpp"
#include "engine/gate/reference_audit.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The data of one shape and one seed: on the device and, for comparison, on the host.
struct CheckCase {
  const Shape* shape = nullptr;
  std::uint64_t seed = 0;
  Values values;                               ///< shape variables, shape macros, SM_COUNT
  std::vector<KernelArgument> arguments;       ///< workspaces hold 0 until a kernel brings its own
  std::vector<std::vector<std::byte>> inputs;  ///< per argument; empty unless in or inout
  std::vector<Expectation> expected;           ///< per argument; whole, or empty unless `complete`
  bool complete = false;
  /// While not complete: per output, the elements that the reference computed, and which they are.
  std::vector<std::vector<std::byte>> partly_expected;
  std::vector<std::vector<bool>> known;

  /// What these elements of output `position` must hold, which expect_rows() computed.
  [[nodiscard]] Expectation expectation_of(std::size_t position, Dtype dtype,
                                           std::span<const std::size_t> elements) const;
};

/// Makes cases on demand and keeps them: inputs generated from the run's check seed, the expected
/// result computed by the reference kernel on the same device. An expectation that the reference
/// did not write, or that cannot tell right from wrong (ReferenceAudit), is an error of the
/// problem.
class CaseSet {
 public:
  /// `device` and `problem` must outlive this. `reference`: the loaded reference kernel.
  CaseSet(Device& device, const Problem& problem, KernelId reference, std::uint64_t check_seed)
      : device_(device),
        problem_(problem),
        reference_(reference),
        check_seed_(check_seed),
        audit_(problem) {}

  /// The case number `index` (0, 1, …) of `shape`. Throws ProblemError when the reference fails or
  /// is no measure of right and wrong.
  [[nodiscard]] const CheckCase& get(const Shape& shape, std::size_t index);

  /// The same without what is expected: for running a kernel whose result is not looked at.
  [[nodiscard]] const CheckCase& inputs(const Shape& shape, std::size_t index);

  /// The same with what is expected in these rows at least (CheckCase::known). Needs a device that
  /// samples grids and a reference with cta_of_row. Throws ProblemError when the reference does not
  /// write a row in the CTA that cta_of_row names.
  [[nodiscard]] const CheckCase& expect_rows(const Shape& shape, std::size_t index,
                                             const std::vector<std::size_t>& rows);

  /// What expressions on `shape` are evaluated with, without a kernel's macros.
  [[nodiscard]] Values values_of(const Shape& shape) const;

  /// Puts the inputs back as generated (after a kernel changed them, or for inout arguments).
  void restore_inputs(const CheckCase& data);

  /// Throws ProblemError when what all cases made so far expect cannot tell right from wrong.
  void require_meaningful() const { audit_.require_meaningful(); }

 private:
  [[nodiscard]] CheckCase& made(const Shape& shape, std::size_t index);
  [[nodiscard]] std::unique_ptr<CheckCase> build(const Shape& shape, std::size_t index);
  void add_argument(CheckCase& data, std::size_t position);
  void compute_expected(CheckCase& data);
  void run_reference(const CheckCase& data);
  void poison_outputs(const CheckCase& data, std::byte flip);
  [[nodiscard]] std::vector<std::byte> output_of(const CheckCase& data, std::size_t position);
  void require_written(const CheckCase& data, const std::vector<std::vector<std::byte>>& outputs);
  [[nodiscard]] bool knows_row(const CheckCase& data, std::size_t row) const;
  void take_written(CheckCase& data, std::size_t position);
  [[noreturn]] void fail(const CheckCase& data, const std::string& key,
                         const std::string& what) const;

  Device& device_;
  const Problem& problem_;
  KernelId reference_;
  std::uint64_t check_seed_;
  ReferenceAudit audit_;
  std::map<std::pair<std::string, std::size_t>, std::unique_ptr<CheckCase>> cases_;
};

}  // namespace evo
