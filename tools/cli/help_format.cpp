#include "tools/cli/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <sstream>

#include "engine/core/utf8.hpp"

namespace evo {
namespace {

constexpr std::size_t kTextColumn = 26;  ///< column at which descriptions begin

/// Splits CLI11's "INT:1 to 9" into the name of the type and the range.
std::pair<std::string, std::string> type_and_range(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  if (colon == std::string::npos) return {type, ""};
  return {type.substr(0, colon), type.substr(colon + 1)};
}

std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool takes_many(const CLI::Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size &&
         option.get_allow_extra_args() && option.get_delimiter() == '\0';
}

/// The heading of an option's entry: "--run N", "--resume [N]", "--set MACRO=VALUE...".
std::string heading_of(const CLI::Option& option) {
  std::string text = names_of(option);
  const std::string word = value_word(option);
  if (!word.empty() && word != text) {
    text += option.get_items_expected_min() == 0 ? " [" + word + "]" : " " + word;
  }
  return takes_many(option) ? text + "..." : text;
}

std::string joined_names(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The notes in brackets after an option's description: range, default, excluded and required
/// options.
std::string notes_of(const CLI::Option& option) {
  std::vector<std::string> notes;
  const std::string range = type_and_range(option).second;
  if (!range.empty()) notes.push_back(range);
  const bool is_flag = option.get_type_size() == 0;
  std::string preset = is_flag ? std::string() : option.get_default_str();
  if (preset.starts_with('[')) preset = preset.substr(1, preset.size() - 2);
  if (!preset.empty()) notes.push_back("default: " + preset);
  if (option.get_required() && !option.get_positional()) notes.emplace_back("required");
  if (!option.get_excludes().empty())
    notes.push_back("not with " + joined_names(option.get_excludes()));
  if (!option.get_needs().empty()) notes.push_back("only with " + joined_names(option.get_needs()));
  return fmt::format("{}", fmt::join(notes, "; "));
}

/// The description of an option and the notes in brackets. If the description already ends with the
/// default in brackets, the notes go into these brackets.
std::string described(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string notes = notes_of(option);
  if (notes.empty()) return text;
  const std::size_t bracket = text.rfind("(default");
  if (!text.ends_with(')') || bracket == std::string::npos) return text + " (" + notes + ")";
  text.back() = ';';
  return text + " " + notes + ")";
}

/// An entry of the help text: the heading, and the description beside it or, if the heading is too
/// long, below it.
std::string entry(const std::string& heading, const std::string& text) {
  std::string line = "  " + heading;
  const std::size_t taken = columns_of(line);
  if (taken + 2 > kTextColumn) line += '\n';
  line.append(taken + 2 > kTextColumn ? kTextColumn : kTextColumn - taken, ' ');
  return line + hanging(wrapped(text, kHelpColumns - kTextColumn, 0), kTextColumn) + "\n";
}

/// Wraps lines of two columns that are separated by two spaces or more. Continuation lines begin at
/// the second column.
std::string wrapped_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::size_t gap = indent == std::string::npos ? indent : line.find("  ", indent);
    const std::size_t body = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
    if (columns_of(line) <= kHelpColumns || body == std::string::npos) {
      result += wrapped(line, kHelpColumns, 0) + "\n";
      continue;
    }
    const std::size_t column = columns_of(line.substr(0, body));
    const std::string tail = wrapped(line.substr(body), kHelpColumns - column, 0);
    result += line.substr(0, body) + hanging(tail, column) + "\n";
  }
  return result;
}

/// The name of a program without its folder: "evo-elite show" for "/usr/bin/evo-elite show".
std::string program_of(const std::string& name) {
  const std::size_t slash = name.rfind('/', name.find(' '));
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return name.substr(start, name.find_last_not_of(' ') + 1 - start);
}

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() {
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
    label("SUBCOMMANDS", "COMMAND");
  }

  std::string make_description(const CLI::App* app) const override {
    const CLI::App* parent = app->get_parent();
    if (parent == nullptr) return wrapped(app->get_description(), kHelpColumns, 0) + "\n\n";
    const std::string program = program_of(parent->get_name());
    std::string text = program + " " + app->get_name() + ": " + app->get_description() + ".";
    if (app->get_fallthrough()) text += " The options of " + program + " are allowed here, too.";
    return wrapped(text, kHelpColumns, 0) + "\n\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string usage = Formatter::make_usage(app, program_of(name));
    return wrapped(usage, kHelpColumns, std::string_view("Usage: ").size());
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = option->get_name(true);
    if (takes_many(*option)) return name + "...";
    std::string names = name;
    for (int i = 1; i < option->get_items_expected_min(); ++i) names += " " + name;
    return names;
  }
  std::string make_option(const CLI::Option* option, bool /*is_positional*/) const override {
    return entry(heading_of(*option), described(*option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::string heading = command->get_name();
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) heading += " " + make_option_usage(option);
    }
    return entry(heading, command->get_description());
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? std::string() : wrapped_lines(app->get_footer());
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n"))
      text.erase(at, 1);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }
};

void adopt(CLI::App& app, const std::shared_ptr<HelpFormat>& format) {
  app.formatter(format);
  if (CLI::Option* help = app.get_help_ptr(); help != nullptr) help->description("print this help");
  if (CLI::Option* version = app.get_version_ptr(); version != nullptr)
    version->description("print the version");
  for (CLI::App* command : app.get_subcommands({})) {
    command->group("Commands");
    adopt(*command, format);
  }
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::string line;
  std::size_t words = 0;
  const auto close = [&] {
    result += line;
    line.clear();
    words = 0;
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word(text.substr(at, end - at));
    if (words > 0 && columns_of(line) + 1 + columns_of(word) > columns) {
      close();
      result += '\n';
      line.append(indent, ' ');
      line += word;
    } else {
      line += (words > 0 ? " " : "") + word;
    }
    ++words;
    if (end < text.size() && text[end] == '\n') {
      close();
      result += '\n';
    }
    at = end + 1;
  }
  close();
  return result;
}

std::string hanging(const std::string& text, std::size_t columns) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result.append(columns, ' ');
  }
  return result;
}

std::string value_word(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const std::string type = type_and_range(option).first;
  if (type == "INT" || type == "UINT") return "N";
  return type == "FLOAT" ? "NUMBER" : type;
}

std::string exit_codes(const std::vector<std::pair<int, std::string>>& meanings) {
  std::string text = "\nExit codes:\n";
  for (const auto& [code, meaning] : meanings) text += fmt::format("  {:<5}{}\n", code, meaning);
  return text;
}

void use_help_format(CLI::App& app) { adopt(app, std::make_shared<HelpFormat>()); }

}  // namespace evo
