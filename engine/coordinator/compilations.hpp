#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/run_store.hpp"
#include "engine/worker/compile_service.hpp"

namespace evo {

/// A compilation that is over.
struct Built {
  CompilationRecord record;
  std::optional<CompilationId> id = {};  ///< nothing when it was not worth storing
  bool cached = false;    ///< it came from the database, or was being compiled for another
  double compile_ms = 0;  ///< 0 when cached
};

/// Compiles what the database does not know yet, and stores it there.
class Compilations {
 public:
  using Ticket = std::size_t;

  /// Both must outlive this.
  Compilations(RunStore& store, CompileService& compilers) : store_(store), compilers_(compilers) {}

  /// Looks the request up, or has it compiled, once however often it is asked for meanwhile.
  [[nodiscard]] Ticket start(const CompileRequest& request);

  /// Stores what the compilers have finished. Never waits.
  void collect();

  /// The compilation when it is over and was not taken yet; else null.
  [[nodiscard]] const Built* look(Ticket ticket) const;
  /// The compilation, once, when it is over.
  [[nodiscard]] std::optional<Built> take(Ticket ticket);

  /// Compilations that run now.
  [[nodiscard]] std::size_t in_flight() const { return compilers_.in_flight(); }
  /// What to poll for, and the first deadline among them.
  [[nodiscard]] std::vector<pollfd> interests() const { return compilers_.interests(); }
  [[nodiscard]] SteadyTime next_deadline() const { return compilers_.next_deadline(); }

 private:
  struct Running {
    CompileRequest request;
    std::string request_key;
    std::vector<Ticket> others = {};  ///< that asked for the same
  };

  [[nodiscard]] const std::string& expanded(const KernelSource& source);

  RunStore& store_;
  CompileService& compilers_;
  KernelSource expanded_of_;
  std::string expanded_;
  Ticket next_ = 0;
  std::map<Ticket, Running> running_;
  std::map<Ticket, Built> built_;
};

}  // namespace evo
