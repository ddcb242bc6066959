#include "engine/coordinator/compilations.hpp"

#include "engine/compile/compiler_options.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

std::vector<StoredDependency> stored(const std::vector<Dependency>& dependencies) {
  std::vector<StoredDependency> list;
  for (const Dependency& dependency : dependencies) {
    list.push_back({dependency.path, dependency.content});
  }
  return list;
}

/// Whether the files it found in include paths still are as they were.
bool is_current(const CompilationFacts& record) {
  std::vector<Dependency> list;
  for (const StoredDependency& dependency : record.dependencies) {
    list.push_back({dependency.path, dependency.content});
  }
  return evo::is_current(list);
}

/// The key of a compilation: of the request, and of what it opened beside.
std::string full_key(const std::string& request_key, const std::vector<Dependency>& dependencies) {
  if (dependencies.empty()) return request_key;
  ContentHash hash;
  hash.add(request_key);
  for (const Dependency& dependency : dependencies) {
    hash.add(dependency.path).add(dependency.content);
  }
  return hash.hex();
}

CompilationRecord record_of(const CompileRequest& request, const std::string& request_key,
                            const std::string& source, const std::string& compiler,
                            CompileService::Finished done) {
  CompilationRecord record;
  record.key = full_key(request_key, done.dependencies);
  record.request_key = request_key;
  record.dependencies = stored(done.dependencies);
  record.arch = request.arch;
  record.compiler = compiler;
  record.options = join_options(request.options);
  record.source = source;
  if (auto* compiled = std::get_if<Compiled>(&done.outcome)) {
    record.ok = true;
    record.compile_ms = compiled->compile_ms;
    record.ptx_hash = std::move(compiled->ptx_hash);
    record.resources = compiled->resources;
    record.log = std::move(compiled->log);
    record.ptx = std::move(compiled->ptx);
    record.cubin = std::move(compiled->cubin);
    record.packed_ptx = std::move(compiled->packed_ptx);
    record.packed_cubin = std::move(compiled->packed_cubin);
  } else {
    auto& rejection = std::get<Rejection>(done.outcome);
    record.error = rejection.reason.empty() ? "no reason was given" : std::move(rejection.reason);
    record.log = std::move(rejection.detail);
  }
  return record;
}

}  // namespace

Compilations::Ticket Compilations::start(const CompileRequest& request) {
  const Ticket ticket = next_++;
  std::string key = request.key(compilers_.version());
  for (const CompilationFacts& known : store_.find_compilation_facts(key)) {
    if (!is_current(known)) continue;  // a header in an include path has changed
    built_[ticket] = {store_.compilation(known.id), known.id, true, 0};
    return ticket;
  }
  for (auto& [first, running] : running_) {
    if (running.request_key != key) continue;
    running.others.push_back(ticket);
    return ticket;
  }
  running_[ticket] = {request, std::move(key)};
  compilers_.submit(ticket, request);
  return ticket;
}

void Compilations::collect() {
  for (CompileService::Finished& done : compilers_.collect()) {
    const auto running = running_.find(done.ticket);
    if (running == running_.end()) continue;
    Built& built = built_[done.ticket];
    built.compile_ms = done.wall_ms;
    const bool reproducible = done.reproducible;
    const CompileRequest& request = running->second.request;
    built.record = record_of(request, running->second.request_key, expanded(request.source),
                             compilers_.version(), std::move(done));
    if (reproducible) built.id = store_.put_compilation(built.record);
    for (const Ticket other : running->second.others) {
      built_[other] = {built.record, built.id, true, 0};
    }
    running_.erase(running);
  }
}

/// All candidates of a run have one source; only their options differ.
const std::string& Compilations::expanded(const KernelSource& source) {
  if (!(source == expanded_of_)) {
    expanded_ = source.expanded();
    expanded_of_ = source;
  }
  return expanded_;
}

const Built* Compilations::look(Ticket ticket) const {
  const auto found = built_.find(ticket);
  return found == built_.end() ? nullptr : &found->second;
}

std::optional<Built> Compilations::take(Ticket ticket) {
  const auto found = built_.find(ticket);
  if (found == built_.end()) return std::nullopt;
  std::optional<Built> built = std::move(found->second);
  built_.erase(found);
  return built;
}

}  // namespace evo
