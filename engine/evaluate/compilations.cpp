#include "engine/evaluate/compilations.hpp"

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/core/at_end.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

/// The key of a compilation: the request's key, or, if files were read from include paths, a hash
/// of the request's key and these files.
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
  record.dependencies = std::move(done.dependencies);
  record.arch = request.arch;
  record.compiler = compiler;
  record.options = join_options(request.options);
  record.source = source;
  record.wall_ms = done.wall_ms;
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

std::optional<CompilationRecord> Compilations::stored(const std::string& request_key) const {
  for (const CompilationFacts& known : store_.find_compilation_facts(request_key)) {
    // A header in an include path may have changed since the compilation was stored.
    if (is_current(known.dependencies)) return store_.compilation(known.id.value());
  }
  return std::nullopt;
}

Task<CompilationRecord> Compilations::compile(CompileRequest request) {
  const std::string key = request.key(compilers_.version());
  const auto found = running_.find(key);
  if (found == running_.end()) {
    if (auto known = stored(key)) co_return *std::move(known);
    const auto running = running_[key] = std::make_shared<Running>(loop_);
    co_await compile_now(key, std::move(request), running);
    co_return *running->result;  // a copy, because another coroutine may still read `result`
  }
  const std::shared_ptr<Running> running = found->second;
  while (!running->result) co_await running->done.wait();
  CompilationRecord record = *running->result;
  if (running->is_prefetched) {
    running->is_prefetched = false;
    running_.erase(key);
  } else {
    record.wall_ms = 0;
  }
  co_return record;
}

void Compilations::prefetch(CompileRequest request) {
  const std::string key = request.key(compilers_.version());
  if (running_.contains(key) || stored(key)) return;
  const auto running = running_[key] = std::make_shared<Running>(loop_);
  running->is_prefetched = true;
  loop_.spawn(compile_now(key, std::move(request), running));
}

Task<> Compilations::compile_now(std::string key, CompileRequest request,
                                 std::shared_ptr<Running> running) {
  count_time();
  ++unfinished_;
  const AtEnd over([&] {
    count_time();
    --unfinished_;
    if (!running->is_prefetched || !running->result) running_.erase(key);
    running->done.notify();
  });
  CompileService::Finished done = co_await compilers_.compile(request);
  const bool is_reproducible = done.reproducible;
  CompilationRecord record =
      record_of(request, key, expanded(request.source), compilers_.version(), std::move(done));
  if (is_reproducible) record.id = store_.put_compilation(record);
  running->result = std::move(record);
}

void Compilations::count_time() {
  const SteadyTime now = loop_.now();
  if (unfinished_ > 0) busy_ms_ += milliseconds_between(last_change_, now);
  last_change_ = now;
}

double Compilations::busy_ms() const {
  return busy_ms_ + (unfinished_ > 0 ? milliseconds_between(last_change_, loop_.now()) : 0);
}

/// Returns KernelSource::expanded(). Keeps the expanded source of the last call, because all
/// candidates of a run share one source.
const std::string& Compilations::expanded(const KernelSource& source) {
  if (!(source == expanded_of_)) {
    expanded_ = source.expanded();
    expanded_of_ = source;
  }
  return expanded_;
}

}  // namespace evo
