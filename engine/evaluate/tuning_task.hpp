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

/// The subject of a run: a search space, its problem and kernel, and the timed shapes, for one
/// model of device. All shapes share their compilations.
class TuningTask {
 public:
  /// `shapes`: for Problem::select_shapes(); empty: the space's. `with_lines`: compiles kernels
  /// with -lineinfo, which a virtual GPU needs to name source lines and predict times. Throws
  /// InputError, SpaceError or ProblemError if the files cannot be tuned.
  TuningTask(const std::filesystem::path& space_file, const std::string& shapes,
             const DeviceInfo& device, bool with_lines);
  TuningTask(const TuningTask&) = delete;
  TuningTask& operator=(const TuningTask&) = delete;

  /// The timed shapes. All shape numbers below are indices into this list.
  [[nodiscard]] std::size_t shape_count() const { return places_.size(); }
  [[nodiscard]] const Shape& shape(std::size_t at = 0) const { return *places_.at(at).shape; }
  /// The space with the names of that shape in its constraints. Candidates and their keys are the
  /// same in all of them; the valid candidates may differ.
  [[nodiscard]] const Space& space(std::size_t at = 0) const { return *places_.at(at).space; }
  /// The shapes on which a candidate is judged: those for which the space allows it. With a single
  /// shape, returns that shape even if the candidate violates a constraint.
  [[nodiscard]] std::vector<std::size_t> shapes_for(const Candidate& candidate) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const KernelSpec& kernel() const { return kernel_; }
  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  /// The architecture for which kernels are compiled: the device's or its variant, "sm_90a".
  [[nodiscard]] const std::string& arch() const { return arch_; }

  /// The request for compiling a candidate.
  [[nodiscard]] CompileRequest request_for(const Candidate& candidate) const;
  /// The request for compiling another source of the problem, with these options beside the
  /// problem's.
  [[nodiscard]] CompileRequest request_for(const KernelSpec& spec, const KernelSource& source,
                                           const std::vector<std::string>& options) const;
  [[nodiscard]] KernelSource load(const KernelSpec& spec,
                                  const std::vector<std::string>& options) const;
  [[nodiscard]] const std::filesystem::path& templates_root() const { return templates_root_; }

  /// Content key of the space, and of the problem with all its sources.
  [[nodiscard]] std::string problem_key() const;
  /// Settings that are allowed but probably unintended, one per line.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// The launch of the candidate's kernel on a timed shape.
  [[nodiscard]] std::string manifest(const Candidate& candidate, std::size_t at = 0) const;
  /// The checks that a run over this shape alone would make.
  [[nodiscard]] std::vector<CheckResult> checks_on(const std::vector<CheckResult>& checks,
                                                   std::size_t at) const;

 private:
  /// A timed shape, and the data that depend on it.
  struct Place {
    const Shape* shape = nullptr;
    std::unique_ptr<Space> space = {};
    std::vector<ShapeCondition> valid_shapes = {};  ///< conditions for every kernel
  };

  [[nodiscard]] std::vector<Place> places_of(const std::string& shapes) const;
  void require_one_build() const;

  SpaceDefinition definition_;  ///< as read
  std::filesystem::path templates_root_;
  Problem problem_;
  const KernelSpec& kernel_;
  DeviceInfo device_;
  std::vector<Place> places_;
  std::vector<std::string> options_;  ///< compiler options of the space, normalised
  KernelSource source_;
  bool has_own_includes_ = false;
  bool with_lines_;
  std::string arch_;
};

}  // namespace evo
