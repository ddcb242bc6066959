// Tests how much space a compilation of the attention templates by NVRTC takes in the database.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "db/connection.hpp"
#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tests/db/sample.hpp"
#include "tests/kernel_templates/placed_file.hpp"

namespace evo {
namespace {

const std::filesystem::path kRoot = EVO_SOURCE_DIR;
constexpr double kMostKilobytes = 30;

class DatabaseSize : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      compiler_ = open_nvrtc();
    } catch (const MissingError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  CompilationRecord compile(const Candidate& candidate) {
    CompileRequest request{load_source(kernel_.source, kRoot / "kernel_templates"),
                           kernel_.entries(),
                           space_.definition().arch,
                           {}};
    for (const auto& [name, value] : space_.macros(candidate)) {
      request.options.push_back("-D" + name + "=" + value);
    }
    for (const auto& [name, value] : problem_.macros_for(problem_.shape("mission"))) {
      request.options.push_back("-D" + name + "=" + std::to_string(static_cast<int>(value)));
    }
    const Compiled built = std::get<Compiled>(outcome_of(compiler_->compile(request)));
    CompilationRecord record;
    record.key = record.request_key = request.key(compiler_->version());
    record.ok = true;
    for (const std::string& option : request.options) record.options += option + " ";
    record.ptx_hash = built.ptx_hash;
    record.log = built.log;
    record.source = request.source.expanded();
    record.ptx = built.ptx;
    record.cubin = built.cubin;
    return record;
  }

  std::unique_ptr<Compiler> compiler_;
  Problem problem_ = Problem::load(kRoot / "kernel_templates/sdpa_fp8");
  Space space_{placed_file(kRoot / "search_spaces" / (std::string(GetParam()) + ".json"),
                           kRoot / "kernel_templates")};
  const KernelSpec& kernel_ = problem_.kernel(space_.definition().template_name);
};

TEST_P(DatabaseSize, OfADistinctCompilationIsSmall) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  SQLite::Database& database = store.connection().database();
  const auto kilobytes = [&] {
    return database.execAndGet("PRAGMA page_count").getInt() *
           database.execAndGet("PRAGMA page_size").getInt() / 1000.0;
  };
  Random random(5);
  // The first compilation also stores the source, which all compilations share.
  store.put_compilation(compile(space_.sample(random)));
  const double before = kilobytes();
  constexpr int kCompilations = 12;
  std::vector<CompilationRecord> records;
  std::size_t plain_bytes = 0;
  for (int i = 0; i < kCompilations; ++i) {
    const CompilationRecord& record = records.emplace_back(compile(space_.sample(random)));
    plain_bytes += record.ptx.size() + record.cubin.size() + record.log.size();
  }
  const auto start = std::chrono::steady_clock::now();
  for (const CompilationRecord& record : records) store.put_compilation(record);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const double each = (kilobytes() - before) / kCompilations;
  std::printf(
      "%s: %.1f KB for a compilation (uncompressed PTX, cubin and log: %.1f KB), in %.2f ms\n",
      GetParam(), each, static_cast<double>(plain_bytes) / 1000 / kCompilations,
      took.count() / kCompilations);
  EXPECT_LT(each, kMostKilobytes);
}

INSTANTIATE_TEST_SUITE_P(Attention, DatabaseSize,
                         testing::Values("sdpa_fp8_mma_h200", "sdpa_fp8_wmma_h200",
                                         "sdpa_fp8_wgmma_h200"));

}  // namespace
}  // namespace evo
