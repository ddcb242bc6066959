#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

/// The PTX of a CUDA source file with all its kernels.
struct RecordedSource {
  std::string file;
  std::string ptx;
  std::string ptx_hash;
};

/// The recorded outputs of one test kernel (see all_cases()).
struct RecordedCase {
  std::string entry;
  std::string source;
  std::string inputs_hash;
  Outputs outputs;
};

/// The recorded outputs of one launch of a candidate.
struct RecordedRun {
  std::string shape;
  std::string inputs_hash;
  Outputs outputs;
};

/// A configuration of a search space, and its recorded outputs on one or more shapes.
struct RecordedCandidate {
  std::string space;   ///< file name under search_spaces/
  std::string config;  ///< JSON object: macro → value
  std::string ptx_hash;
  std::vector<RecordedRun> runs;
};

/// The outputs of many kernels on one device, and the data needed to run them on another.
struct Record {
  std::string device_id;  ///< "cuda:0", "virtual:h200"
  std::string device_name;
  std::string arch;
  std::string driver;
  std::string compiler;
  std::string date;  ///< UTC, YYYY-MM-DD
  std::vector<RecordedSource> sources = {};
  std::vector<RecordedCase> cases = {};
  std::vector<RecordedCandidate> candidates = {};
  std::vector<std::string> faults = {};  ///< kernels that did not finish, with the reason

  [[nodiscard]] bool from_hardware() const { return device_id.starts_with("cuda:"); }
  /// The recorded PTX of the source file `file`. Throws an InputError that names the file if the
  /// record lacks it.
  [[nodiscard]] const RecordedSource& source_of(const std::string& file) const;
};

/// Writes a record as a gzip file of MessagePack. Each output is stored as its difference from a
/// similar earlier output of the same kernel or shape, in byte planes, so that many candidates take
/// little space.
void write_record(const Record& record, const std::filesystem::path& file);

/// Reads a record. Throws an InputError that names the file and what is wrong with it.
[[nodiscard]] Record read_record(const std::filesystem::path& file);

}  // namespace evo::agreement
