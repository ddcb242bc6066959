#include "engine/intake/intake.hpp"

#include <algorithm>
#include <cctype>
#include <new>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/entry_symbol.hpp"
#include "engine/compile/host_code.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/missing_file.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/active_code.hpp"
#include "engine/intake/element_type.hpp"
#include "engine/intake/measured_extents.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<DeclaredKernel>& kernels) {
  std::string text;
  for (const DeclaredKernel& kernel : kernels) {
    text += (text.empty() ? "" : ", ") + kernel.name + (kernel.is_template ? "<…>" : "");
  }
  return text.empty() ? "none" : text;
}

std::string entry_of(const IntakeRequest& request, const T1File& t1, const Declarations& declared) {
  const std::string file = request.kernel.string();
  const std::string& given = request.entry.empty() ? t1.kernel : request.entry;
  if (given.empty() && declared.kernels.empty()) {
    throw InputError(file + ": no __global__ function; give the file that defines the kernel");
  }
  if (given.empty() && declared.kernels.size() > 1) {
    throw InputError(file + ": more than one __global__ function: " + listed(declared.kernels) +
                     "; name one with --entry; if several run one after the other, repeat --entry "
                     "for each, in this order");
  }
  const std::string entry = given.empty() ? declared.kernels.front().name : given;
  if (!may_name_kernel(entry)) {
    throw InputError("--entry " + entry +
                     ": allowed: the name of a kernel: kernel, ns::kernel, kernel<float, TILE>");
  }
  const auto known = std::ranges::find_if(
      declared.kernels, [&](const DeclaredKernel& kernel) { return kernel.name == entry; });
  if (known != declared.kernels.end() && known->is_template) {
    throw InputError(file + ": " + entry + " is a template; give its arguments: --entry '" + entry +
                     "<float, 4>'");
  }
  return entry;
}

/// The name of the problem, which is valid in file names and in the database.
std::string plain_name(const IntakeRequest& request) {
  std::string name = request.name.empty() ? request.kernel.stem().string() : request.name;
  if (request.name.empty()) {
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '_';
    }
  }
  if (!is_plain_name(name)) throw InputError("--name " + name + ": " + std::string(kAllowedName));
  return name;
}

std::string launch_text(const T1File& t1, const std::string& entry) {
  std::string text = entry + " " + t1.shared_bytes;
  for (const std::string& size : t1.local_size) text += " " + size;
  for (const std::string& size : t1.problem_size) text += " " + size;
  for (const auto& divisors : t1.grid_divisors) {
    for (const std::string& divisor : divisors.value_or(std::vector<std::string>())) {
      text += " " + divisor;
    }
  }
  for (const std::string& size : t1.global_size) {
    if (t1.problem_size.empty()) text += " " + size;
  }
  return text;
}

/// Adds each macro without a value to the draft, with a TODO in place of its values.
void add_open_parameters(const Trial& trial, Draft& draft) {
  for (const auto& [name, value] : trial.guessed) {
    draft.parameters.push_back({name});
    draft.notes.push_back("macro " + name + ": no value is given; the code was analysed with " +
                          value);
  }
}

/// Defines the macro kernel_tuner if the source tests it. Sources for Kernel Tuner, which always
/// defines kernel_tuner, define their own defaults only without this macro.
void answer_kernel_tuner(const SourceMacros& macros, Draft& draft) {
  constexpr const char* kMacro = "kernel_tuner";
  if (!macros.open.contains(kMacro)) return;
  draft.compiler_options.push_back(std::string("-D") + kMacro + "=1");
  draft.notes.push_back("the source tests the macro kernel_tuner; the space's " +
                        draft.compiler_options.back() + " defines it, as Kernel Tuner does");
}

void judge_independence(const PtxFacts& facts, Draft& draft) {
  draft.dependence = facts.dependence;
  for (const DraftArgument& argument : draft.arguments) {
    if (draft.dependence.empty() && argument.kind == DraftArgument::Kind::kInOut) {
      draft.dependence = argument.name + " is both loaded and stored";
    }
  }
  if (!draft.later_steps.empty()) draft.dependence = "kernels that run one after the other";
  draft.has_independent_ctas = draft.dependence.empty();
  draft.is_deterministic = facts.unordered_sum.empty();
  if (!draft.is_deterministic) {
    draft.notes.push_back(facts.unordered_sum +
                          ": the order of additions differs between runs, so the template is "
                          "\"deterministic\": false");
  }
}

/// Adds the kernels after the first to the draft, and returns the result of compiling each.
std::vector<Trial> add_later(const IntakeRequest& request, const T1File& t1,
                             const Declarations& declared,
                             const std::vector<DeclaredConstant>& constants, const TrialOf& look,
                             Draft& draft) {
  std::vector<Trial> trials;
  if (request.later_entries.empty()) {
    if (!request.given.renamed.empty()) {
      throw InputError("--rename: allowed only with several --entry");
    }
    return trials;
  }
  if (!t1.kernel.empty()) throw InputError("--t1: a T1 file has one kernel; leave out --entry");
  begin_steps(request.given, draft);
  for (const std::string& entry : request.later_entries) {
    trials.push_back(try_named(look, "--entry", entry, declared));
    add_step(request.given, declared, constants, entry, trials.back(), draft);
  }
  return trials;
}

/// Drafts the launches of later kernels, like that of the first kernel.
void launch_later(const Given& given, const std::vector<Trial>& later, const SourceMacros& macros,
                  Draft& draft) {
  for (std::size_t i = 0; i < later.size(); ++i) {
    Draft one = draft;
    one.assumed.clear();
    one.dynamic_shared_bytes = "0";
    draft_launch(given, launch_of(given, i + 1), {}, later[i].facts, macros, one);
    DraftStep& step = draft.later_steps[i];
    step.grid = one.grid;
    step.block = one.block;
    step.dynamic_shared_bytes = one.dynamic_shared_bytes;
    for (const std::string& text : one.assumed) draft.assumed.push_back(step.entry + ": " + text);
  }
}

/// Compiles the configurations with which measure_extents() runs the kernel, the default
/// configuration first. Configurations that differ only in macros that the source does not read
/// share one compilation.
std::vector<ProbeKernel> probe_kernels(Compiler& compiler, const CompileRequest& request,
                                       const Configurations& configurations, const Trial& trial,
                                       const Draft& draft) {
  std::vector<MacroTexts> all = {configurations.defaults};
  all.insert(all.end(), configurations.others.begin(), configurations.others.end());
  std::map<MacroTexts, std::optional<std::string>> compiled;
  std::vector<ProbeKernel> kernels;
  for (const MacroTexts& macros : all) {
    MacroTexts read = macros;
    for (const DraftParameter& parameter : draft.parameters) {
      if (!parameter.is_read) read.erase(parameter.macro);
    }
    if (compiled.empty() && draft.later_steps.empty()) compiled[read] = trial.ptx;
    if (!compiled.contains(read)) compiled[read] = ptx_of(compiler, request, macros);
    const std::optional<std::string>& ptx = compiled[read];
    if (!ptx) continue;
    ProbeKernel kernel{{}, *ptx, {}};
    for (const CompiledEntry& entry : compiled_entries(*ptx, request.entries, {})) {
      kernel.symbols.push_back(entry.symbol);
    }
    for (const auto& [name, text] : macros) {
      const Json number = Json::parse(text, nullptr, false);
      if (number.is_number()) kernel.macros[name] = number.get<double>();
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// True if every size appears in the value of a scalar or in an extent. If only the grid depends on
/// a size, other sizes may give wrong results, because the source may have the size as a constant.
bool reach_the_kernel(const Draft& draft) {
  std::string text;
  for (const DraftArgument& argument : draft.arguments) {
    if (!is_todo(argument.value)) text.append(" ").append(argument.value);
    if (!is_todo(argument.extent)) text.append(" ").append(argument.extent);
  }
  const std::set<std::string> names = names_in(text);
  return std::ranges::all_of(draft.variables,
                             [&](const auto& variable) { return names.contains(variable.first); });
}

/// Measures extents by running the kernel with small sizes, and adds a small checked shape to the
/// draft.
void look_at_runs(const IntakeRequest& request, Compiler& compiler, const CompileRequest& compile,
                  const Configurations& configurations, const Trial& trial, Draft& draft) {
  const bool is_wanted = !request.given.sizes.empty();
  const std::string missing = why_not_measured(draft);
  SizeKind kind = SizeKind::kRagged;
  if (missing.empty()) {
    try {
      kind = measure_extents(probe_kernels(compiler, compile, configurations, trial, draft), draft);
    } catch (const DeviceMemoryError& error) {
      draft.notes.push_back(std::string("extents: ") + error.what());
    } catch (const std::bad_alloc&) {
      draft.notes.emplace_back("extents: not enough memory to run the kernel with small sizes");
    }
  } else if (is_wanted) {
    draft.notes.push_back("extents are not measured on the virtual GPU, because this needs " +
                          missing);
  }
  if (!is_wanted || !draft.more_shapes.empty() || !reach_the_kernel(draft)) return;
  std::vector<std::string> small = small_shape(kind, draft.variables);
  if (small.empty()) return;
  if (kind != SizeKind::kRagged) {
    draft.assumed.push_back("sizes: the kernel supports only sizes " + to_text(kind) +
                            ", so the small shape has such sizes");
  }
  draft.more_shapes.push_back({kind == SizeKind::kRagged ? "ragged" : "small", std::move(small)});
}

/// Adds notes on the tolerance and the number of operations in problem.json if they are assumed.
void note_assumed_numbers(Draft& draft) {
  const bool is_floating = std::ranges::any_of(draft.arguments, [](const auto& argument) {
    return argument.is_written() && argument.is_compared && !is_integer_type(argument.dtype);
  });
  if (is_floating && draft.max_abs_error.empty()) {
    draft.assumed.push_back(
        "tolerance: chosen by the type of the outputs, see problem.json; --tolerance sets the "
        "largest error of an element");
  }
  if (draft.flops == kUnknownFlops) {
    draft.assumed.push_back(
        "flops: 1, because it was not given, so TFLOP/s are meaningless; set it by --flops");
  }
}

/// Reads the source and its headers, and collects the files to copy. Removes host code, unless a
/// compiler option makes all functions device code.
KernelSource source_of(const IntakeRequest& request, const T1File& t1, Intake& intake) {
  const fs::path file = fs::canonical(request.kernel);
  intake.copies = copies_of(file, request.include_folders);
  KernelSource source = request.include_folders.empty()
                            ? load_source(file, file.parent_path(), toolkit_include_folders())
                            : source_beside(intake.copies);
  if (!makes_all_device_code(t1.compiler_options)) source = without_host_code(std::move(source));
  intake.macros = macros_of(source);
  intake.outside = source.outside;
  return source;
}

}  // namespace

Intake take_in(const IntakeRequest& request, Compiler& compiler) {
  // 1. Read the source.
  if (!fs::is_regular_file(request.kernel)) {
    throw InputError(request.kernel.string() + ": no such file" +
                     missing_file_hint(request.kernel));
  }
  if (!is_arch(request.arch)) {
    throw InputError("--arch " + request.arch + ": " + std::string(kAllowedArch));
  }
  const T1File t1 = request.t1.empty() ? T1File() : read_t1_file(request.t1);
  Intake intake;
  const KernelSource source = source_of(request, t1, intake);
  Draft& draft = intake.draft;
  draft.name = plain_name(request);
  draft.kernel_file = request.kernel.filename().string();
  draft.entry = entry_of(request, t1, declarations_of(source));
  draft.arch = request.arch;
  draft.left_out = t1.left_out;

  // 2. Draft the space.
  answer_kernel_tuner(intake.macros, draft);
  draft_space(request, t1, source, launch_text(t1, draft.entry), draft);
  const Configurations configurations = settle_defaults(intake.macros, draft);

  // 3. Compile the kernel.
  CompileRequest compile{source, {draft.entry}, request.arch, draft.compiler_options};
  compile.options = with_toolkit(compile.options, source, toolkit_include_folders());
  const auto first = [&](const std::string&) {
    return try_kernel(compiler, compile, configurations.defaults, intake.macros);
  };
  Trial trial = try_named(first, "--entry", draft.entry, declarations_of(source));
  require_used_parameters(request, source, trial, intake.macros);
  try_variants(compiler, compile, configurations.variants, trial);
  draft.symbol = trial.symbol;
  add_open_parameters(trial, draft);
  intake.facts = trial.facts;

  // 4. and 5. Draft the arguments and the launch.
  draft_shape(request.given, t1, trial.facts, intake.macros, draft);
  MacroTexts macros = configurations.defaults;
  macros.insert(trial.guessed.begin(), trial.guessed.end());
  const Declarations declared = declarations_of(active_code(source, macros));
  const std::vector<DeclaredConstant> constants = declarations_of(source).constants;
  const TrialOf look = [&](const std::string& entry) {
    CompileRequest other = compile;
    other.entries = {entry};
    return try_kernel(compiler, other, macros, intake.macros);
  };
  draft_arguments(t1, declared, constants, trial, draft);
  const std::vector<Trial> later = add_later(request, t1, declared, constants, look, draft);
  give_arguments(request.given, draft);
  draft_launch(request.given, launch_of(request.given, 0), t1, trial.facts, intake.macros, draft);
  launch_later(request.given, later, intake.macros, draft);
  require_used_sizes(request.given, draft);
  note_unused_macros(draft);
  PtxFacts facts = trial.facts;
  for (const Trial& other : later) facts.unordered_sum += other.facts.unordered_sum;
  judge_independence(facts, draft);

  // 6. and 7. Measure extents, and choose the reference.
  compile.entries.insert(compile.entries.end(), request.later_entries.begin(),
                         request.later_entries.end());
  look_at_runs(request, compiler, compile, configurations, trial, draft);
  draft_reference(request.given, declared, look, draft);

  note_assumed_numbers(draft);

  using Kind = DraftArgument::Kind;
  const bool has_result = std::ranges::any_of(draft.arguments, [](const DraftArgument& argument) {
    return argument.kind == Kind::kOut || argument.kind == Kind::kInOut;
  });
  if (!has_result) {
    draft.notes.push_back(
        "the kernel does not write to its arguments, and results in variables "
        "of the module cannot be checked; give the kernel a pointer to write to");
  }

  for (const auto& [name, unused] : macros) intake.macros.open.erase(name);
  drop_idle_fixed(draft);
  intake.files = rendered(draft);
  return intake;
}

}  // namespace evo
