#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "db/run_store.hpp"
#include "engine/evaluate/evaluation.hpp"
#include "engine/worker/compile_service.hpp"

namespace evo {

/// Compiles the requests that the database does not know yet, and stores the results there.
class Compilations {
 public:
  /// All must outlive this.
  Compilations(EventLoop& loop, RunStore& store, CompileService& compilers)
      : loop_(loop), store_(store), compilers_(compilers), last_change_(loop.now()) {}

  /// The compilation, from the database or from a compiler; compiled once however often it is asked
  /// for meanwhile.
  Task<Built> compile(CompileRequest request);
  /// Begins to compile what is asked for later.
  void prefetch(CompileRequest request);

  /// Compilations that run now.
  [[nodiscard]] std::size_t in_flight() const { return compilers_.in_flight(); }
  /// How long at least one compilation was asked for and not over.
  [[nodiscard]] double busy_ms() const;

 private:
  /// One that is being compiled, or was prefetched and nobody took it yet.
  struct Running {
    explicit Running(EventLoop& loop) : done(loop) {}
    Event done;
    std::optional<Built> built = {};
    bool is_prefetched = false;
  };

  [[nodiscard]] std::optional<Built> stored(const std::string& request_key) const;
  Task<> compile_now(std::string key, CompileRequest request, std::shared_ptr<Running> running);
  [[nodiscard]] const std::string& expanded(const KernelSource& source);
  void count_time();

  EventLoop& loop_;
  RunStore& store_;
  CompileService& compilers_;
  KernelSource expanded_of_;
  std::string expanded_;
  std::map<std::string, std::shared_ptr<Running>> running_;  ///< by request
  std::size_t unfinished_ = 0;
  double busy_ms_ = 0;
  SteadyTime last_change_;
};

}  // namespace evo
