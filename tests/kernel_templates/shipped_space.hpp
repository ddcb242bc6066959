#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// A space file of search_spaces/, its problem, and the source of its template.
class ShippedSpace {
 public:
  /// `shape`: the shape whose sizes the constraints see; if empty, the timed shape.
  explicit ShippedSpace(const std::filesystem::path& file, const std::string& shape = "");

  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const KernelSource& source() const { return source_; }
  [[nodiscard]] const Shape& timed_shape() const;
  /// One shape for each set of compiler macros that the shapes of the template define, the timed
  /// shape first.
  [[nodiscard]] std::vector<const Shape*> compiled_shapes() const;

  /// The compile request of a candidate for `shape`.
  [[nodiscard]] CompileRequest request(const Candidate& candidate, const Shape& shape) const;
  /// Compiles a candidate as evo-tune does.
  [[nodiscard]] CompileOutcome compile(const Candidate& candidate, const Shape& shape) const;
  /// Like compile(). If the template states its dynamic shared memory (kSharedBytes) or its threads
  /// (kThreads), a static_assert compares them with the problem file.
  [[nodiscard]] CompileOutcome compile_checked(const Candidate& candidate,
                                               const Shape& shape) const;
  [[nodiscard]] LaunchConfig launch(const Candidate& candidate, const Shape& shape) const;

 private:
  Space space_;
  Problem problem_;
  const KernelSpec& kernel_;
  KernelSource source_;
};

/// NVRTC, which this function opens once per test program.
[[nodiscard]] Compiler& nvrtc();

/// The space files of search_spaces/ except default.json, sorted by name.
[[nodiscard]] std::vector<std::filesystem::path> shipped_space_files();

/// The number of random candidates of each space that a test uses: the environment variable
/// EVO_TEMPLATE_CANDIDATES, or `usual` if it is unset. Throws InputError if the variable is not a
/// number from 1 to 1000000.
[[nodiscard]] int candidates_per_space(int usual);

/// The reason why a compilation gave no kernel, with the log of the compiler; empty if it gave a
/// kernel.
[[nodiscard]] std::string failure_of(const CompileOutcome& outcome);

}  // namespace evo
