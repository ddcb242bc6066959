#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "db/run_store.hpp"
#include "engine/evaluate/evaluation.hpp"
#include "engine/worker/compile_service.hpp"

namespace evo {

/// Compiles requests whose results the database lacks, and stores the results in the database,
/// unless the compiler was killed or failed.
class Compilations {
 public:
  /// All objects passed by reference must outlive this object.
  Compilations(EventLoop& loop, RunStore& store, CompileService& compilers)
      : loop_(loop), store_(store), compilers_(compilers), last_change_(loop.now()) {}

  /// Returns the result of compiling `request`, from the database if it is stored there.
  /// Simultaneous requests with the same key are compiled once.
  Task<CompilationRecord> compile(CompileRequest request);
  /// Starts a compilation whose result is needed later.
  void prefetch(CompileRequest request);

  /// Number of running compilations.
  [[nodiscard]] std::size_t in_flight() const { return compilers_.in_flight(); }
  /// Milliseconds during which at least one requested compilation was unfinished.
  [[nodiscard]] double busy_ms() const;

 private:
  /// A compilation that is running, or that was prefetched but not used yet.
  struct Running {
    explicit Running(EventLoop& loop) : done(loop) {}
    Event done;
    std::optional<CompilationRecord> result = {};
    bool is_prefetched = false;
  };

  [[nodiscard]] std::optional<CompilationRecord> stored(const std::string& request_key) const;
  Task<> compile_now(std::string key, CompileRequest request, std::shared_ptr<Running> running);
  [[nodiscard]] const std::string& expanded(const KernelSource& source);
  void count_time();

  EventLoop& loop_;
  RunStore& store_;
  CompileService& compilers_;
  KernelSource expanded_of_;
  std::string expanded_;
  std::map<std::string, std::shared_ptr<Running>> running_;  ///< by request key
  std::size_t unfinished_ = 0;
  double busy_ms_ = 0;
  SteadyTime last_change_;
};

}  // namespace evo
