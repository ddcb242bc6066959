#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/evaluate/validity.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The subject of a run: a search space, its problem and kernel, and the shapes that are timed, for
/// one model of device. All shapes share their compilations.
class TuningTask {
 public:
  /// `shapes`: as Problem::select_shapes() has it; empty: the space's. `with_lines`: kernels are
  /// compiled with -lineinfo, by which a virtual GPU names source lines and predicts times.
  /// Throws InputError, SpaceError or ProblemError for files that cannot be tuned.
  TuningTask(const std::filesystem::path& space_file, const std::string& shapes,
             const DeviceInfo& device, bool with_lines);
  TuningTask(const TuningTask&) = delete;
  TuningTask& operator=(const TuningTask&) = delete;

  /// The shapes that are timed; all numbers of shapes below count these.
  [[nodiscard]] std::size_t shape_count() const { return places_.size(); }
  [[nodiscard]] const Shape& shape(std::size_t at = 0) const { return *places_.at(at).shape; }
  /// The space with the names of that shape in its constraints. Candidates and their keys are the
  /// same in all of them; which ones are valid need not be.
  [[nodiscard]] const Space& space(std::size_t at = 0) const { return *places_.at(at).space; }
  /// The shapes that a candidate is judged on: those where the space allows it. With a single
  /// shape, that one even where the candidate violates a constraint.
  [[nodiscard]] std::vector<std::size_t> shapes_for(const Candidate& candidate) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const KernelSpec& kernel() const { return kernel_; }
  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  /// The architecture that kernels are compiled for: the device's or its variant, "sm_90a".
  [[nodiscard]] const std::string& arch() const { return arch_; }

  /// How a candidate is compiled.
  [[nodiscard]] CompileRequest request_for(const Candidate& candidate) const;
  /// How another source of the problem is compiled, with these options beside the problem's.
  [[nodiscard]] CompileRequest request_for(const KernelSpec& spec, const KernelSource& source,
                                           const std::vector<std::string>& options) const;
  [[nodiscard]] KernelSource load(const KernelSpec& spec,
                                  const std::vector<std::string>& options) const;
  [[nodiscard]] const std::filesystem::path& templates_root() const { return templates_root_; }

  /// Content key of the problem with every source it names, and of the space.
  [[nodiscard]] std::string problem_key() const;
  /// Settings that are allowed and probably not meant, a line each.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// How to launch the candidate's kernel on a timed shape.
  [[nodiscard]] std::string manifest(const Candidate& candidate, std::size_t at = 0) const;
  /// The checks of a kernel that a run over this shape alone would have made.
  [[nodiscard]] std::vector<CheckResult> checks_on(const std::vector<CheckResult>& checks,
                                                   std::size_t at) const;

 private:
  /// A timed shape, and what depends on it.
  struct Place {
    const Shape* shape = nullptr;
    std::unique_ptr<Space> space = {};
    std::vector<ShapeCondition> valid_shapes = {};  ///< of every kernel, whatever its configuration
  };

  [[nodiscard]] std::vector<Place> places_of(const std::string& shapes) const;
  void require_one_build() const;

  SpaceDefinition definition_;  ///< as read
  std::filesystem::path templates_root_;
  Problem problem_;
  const KernelSpec& kernel_;
  DeviceInfo device_;
  std::vector<Place> places_;
  std::vector<std::string> options_;  ///< of the space, normalised
  KernelSource source_;
  bool has_own_includes_ = false;
  bool with_lines_;
  std::string arch_;
};

}  // namespace evo
