#include "engine/intake/intake.hpp"

#include <algorithm>
#include <cctype>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/directives.hpp"
#include "engine/compile/host_code.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/intake/active_code.hpp"

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
  if (given.empty() && declared.kernels.size() != 1) {
    throw InputError(file + ": " + (declared.kernels.empty() ? "no" : "more than one") +
                     " __global__ function: " + listed(declared.kernels) +
                     "; name one with --entry, or write those that run one after the other as "
                     "\"steps\" (docs/file-formats.md)");
  }
  const std::string entry = given.empty() ? declared.kernels.front().name : given;
  if (!may_name_kernel(entry)) {
    throw InputError("--entry " + entry +
                     ": allowed is the name of a kernel: kernel, ns::kernel, kernel<float, TILE>");
  }
  const auto known =
      std::find_if(declared.kernels.begin(), declared.kernels.end(),
                   [&](const DeclaredKernel& kernel) { return kernel.name == entry; });
  if (known != declared.kernels.end() && known->is_template) {
    throw InputError(file + ": " + entry + " is a template; give its arguments: --entry '" + entry +
                     "<float, 4>'");
  }
  return entry;
}

/// A name of files and tables.
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

/// The kernel and, in turn, what it includes from its own folder.
class Copies {
 public:
  explicit Copies(fs::path root) : root_(std::move(root)) {}

  void take(const fs::path& file) {
    const std::string relative = fs::weakly_canonical(file).lexically_relative(root_).string();
    for (const auto& [known, unused] : list) {
      if (fs::equivalent(known, file)) return;
    }
    list.emplace_back(file, relative);
    const std::string text = read_text_file(file);
    for (const Directive& directive : directives_of(text)) {
      const auto name = includes(directive) ? included_name(directive) : std::nullopt;
      if (!name) continue;
      for (const fs::path& folder : {file.parent_path(), root_}) {
        if (directive.argument[0] == '<' && folder != root_) continue;
        if (!fs::is_regular_file(folder / *name)) continue;
        take(folder / *name);
        break;
      }
    }
  }

  std::vector<std::pair<fs::path, std::string>> list;

 private:
  fs::path root_;
};

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

/// Macros without a value become parameters whose values are to be written.
void add_open_parameters(const Trial& trial, Draft& draft) {
  for (const auto& [name, value] : trial.guessed) {
    draft.parameters.push_back({name});
    draft.notes.push_back("macro " + name +
                          ": nothing gives it a value; the code was looked at with " + value);
  }
}

/// Kernel Tuner gives this macro to every kernel, and sources keep defaults of their own behind it.
void answer_kernel_tuner(const SourceMacros& macros, Draft& draft) {
  constexpr const char* kMacro = "kernel_tuner";
  if (!macros.open.contains(kMacro)) return;
  draft.compiler_options.push_back(std::string("-D") + kMacro + "=1");
  draft.notes.push_back("the source asks for the macro kernel_tuner; the space's " +
                        draft.compiler_options.back() + " defines it, as Kernel Tuner does");
}

void judge_independence(const PtxFacts& facts, Draft& draft) {
  draft.dependence = facts.dependence;
  for (const DraftArgument& argument : draft.arguments) {
    if (draft.dependence.empty() && argument.kind == DraftArgument::Kind::kInOut) {
      draft.dependence = argument.name + " is both loaded and stored";
    }
  }
  draft.has_independent_ctas = draft.dependence.empty();
}

}  // namespace

Intake take_in(const IntakeRequest& request, Compiler& compiler) {
  // 1. The source.
  if (!fs::is_regular_file(request.kernel)) {
    throw InputError(request.kernel.string() + ": no such file");
  }
  const fs::path file = fs::canonical(request.kernel);
  const T1File t1 = request.t1.empty() ? T1File() : read_t1_file(request.t1);
  KernelSource source = load_source(file, file.parent_path(), toolkit_include_folders());
  if (!makes_all_device_code(t1.compiler_options)) source = without_host_code(std::move(source));
  Intake intake;
  intake.macros = macros_of(source);
  intake.outside = source.outside;
  Copies copies(file.parent_path());
  copies.take(file);
  intake.copies = copies.list;
  Draft& draft = intake.draft;
  draft.name = plain_name(request);
  draft.kernel_file = request.kernel.filename().string();
  draft.entry = entry_of(request, t1, declarations_of(source));
  draft.arch = request.arch;
  draft.left_out = t1.left_out;

  // 2. The space.
  answer_kernel_tuner(intake.macros, draft);
  draft_space(request, t1, source, launch_text(t1, draft.entry), draft);
  const Configurations configurations = settle_defaults(intake.macros, draft);

  // 3. The code.
  CompileRequest compile{source, {draft.entry}, request.arch, draft.compiler_options};
  compile.options = with_toolkit(compile.options, source, toolkit_include_folders());
  Trial trial = try_kernel(compiler, compile, configurations.defaults, intake.macros);
  try_variants(compiler, compile, configurations.variants, trial);
  draft.symbol = trial.symbol;
  add_open_parameters(trial, draft);
  intake.facts = trial.facts;

  // 4. and 5.
  draft_shape(t1, trial.facts, intake.macros, draft);
  MacroTexts macros = configurations.defaults;
  macros.insert(trial.guessed.begin(), trial.guessed.end());
  draft_arguments(t1, declarations_of(active_code(source, macros)),
                  declarations_of(source).constants, trial, draft);
  draft_launch(t1, trial.facts, intake.macros, draft);
  judge_independence(trial.facts, draft);

  using Kind = DraftArgument::Kind;
  const bool has_result = std::ranges::any_of(draft.arguments, [](const DraftArgument& argument) {
    return argument.kind == Kind::kOut || argument.kind == Kind::kInOut;
  });
  if (!has_result) {
    draft.notes.push_back(
        "the kernel writes to none of its arguments, and what it leaves in "
        "variables of the module cannot be checked; give it a pointer to write to");
  }

  drop_idle_fixed(draft);
  intake.files = rendered(draft);
  return intake;
}

}  // namespace evo
