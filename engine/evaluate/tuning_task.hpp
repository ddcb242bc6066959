#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/evaluate/kernel_sources.hpp"
#include "engine/evaluate/validity.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The subject of a run on one model of device: a search space, its problem and kernel, and the
/// timed shapes. A candidate is compiled once for all shapes.
class TuningTask {
 public:
  /// `shapes`: an argument of Problem::select_shapes(); if empty, the shapes that the space names.
  /// `with_lines`: compiles kernels with -lineinfo, which a virtual GPU needs to name source lines
  /// and predict times. Throws InputError, SpaceError or ProblemError if the files cannot be tuned.
  TuningTask(const std::filesystem::path& space_file, const std::string& shapes,
             const DeviceInfo& device, bool with_lines);
  TuningTask(const TuningTask&) = delete;
  TuningTask& operator=(const TuningTask&) = delete;

  /// Number of timed shapes. Methods with a parameter `at` take a shape's number, which is its
  /// index in the list of timed shapes.
  [[nodiscard]] std::size_t shape_count() const { return places_.size(); }
  [[nodiscard]] const Shape& shape(std::size_t at = 0) const { return *places_.at(at).shape; }
  /// The space for timed shape `at`, in whose constraints the values of this shape replace the
  /// names of the shape variables. All shapes have the same candidates and candidate keys, but a
  /// constraint may forbid a candidate on some shapes only.
  [[nodiscard]] const Space& space(std::size_t at = 0) const { return *places_.at(at).space; }
  /// The shapes on which a candidate is judged: all shapes for which the space allows the
  /// candidate. With a single shape, returns that shape even if the candidate violates a
  /// constraint.
  [[nodiscard]] std::vector<std::size_t> shapes_for(const Candidate& candidate) const;
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const KernelSpec& kernel() const { return kernel_; }
  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  [[nodiscard]] const KernelSources& sources() const { return sources_; }
  /// See KernelSources::arch().
  [[nodiscard]] const std::string& arch() const { return sources_.arch(); }

  /// Hash of the contents of problem.json, its data files, and the sources of the template and of
  /// the reference and, if inputs are drawn at random, of kDrawVersion. The hash does not cover the
  /// space.
  [[nodiscard]] std::string problem_key() const;
  /// Warnings about settings that are allowed but probably unintended.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// The manifest that tells how to launch the candidate's kernel on timed shape `at`.
  [[nodiscard]] std::string manifest(const Candidate& candidate, std::size_t at = 0) const;
  /// Selects from `checks` those that a run with `at` as the only timed shape would also make.
  [[nodiscard]] std::vector<CheckResult> checks_on(const std::vector<CheckResult>& checks,
                                                   std::size_t at) const;

 private:
  /// A timed shape, and the data that depend on this shape.
  struct Place {
    const Shape* shape = nullptr;
    std::unique_ptr<Space> space = {};
    std::vector<ShapeCondition> valid_shapes = {};  ///< see shape_conditions()
  };

  [[nodiscard]] std::vector<Place> places_of(const std::string& shapes) const;
  void require_one_build() const;

  SpaceDefinition definition_;  ///< the space as read from its file
  std::filesystem::path templates_root_;
  Problem problem_;
  const KernelSpec& kernel_;
  DeviceInfo device_;
  std::vector<Place> places_;
  KernelSources sources_;
};

}  // namespace evo
