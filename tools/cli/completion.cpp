#include "tools/cli/completion.hpp"

#include <algorithm>
#include <exception>

#include "tools/cli/help_format.hpp"

namespace evo {
namespace {

/// The rule for completing a value whose type in the help is `word`, for example "files *.json".
std::string files_of(const std::string& word) {
  static const std::map<std::string, std::string> kFiles = {
      {value_words::kFile, "files"},
      {value_words::kFolder, "folders"},
      {value_words::kDatabase, "files *.db"},
      {value_words::kSpace, "files *.json"},
      {value_words::kRecording, "files *.json *.json.gz"}};
  const auto found = kFiles.find(word);
  return found != kFiles.end() ? found->second : "none";
}

/// The largest number of values that may follow one use of an option.
int most_values(const CLI::Option& option) {
  const int most = option.get_items_expected_max();
  return option.get_allow_extra_args() ? most : std::min(most, option.get_items_expected_min());
}

/// Parses an incomplete command line word by word, as CLI11 does.
class Walk {
 public:
  explicit Walk(const CLI::App& app) : command_(&app) {}

  void read(const std::string& word) {
    if (word.starts_with("-")) return read_option(word);
    if (pending_ != nullptr) {
      note(*pending_, word);
      if (++taken_ >= most_values(*pending_)) pending_ = nullptr;
      return;
    }
    for (const CLI::App* command : command_->get_subcommands({})) {
      if (command->get_name() != word) continue;
      command_ = command;
      positional_ = 0;
      return;
    }
    if (const CLI::Option* option = positional()) note(*option, word);
    ++positional_;
  }

  /// The option named `name` that the current command accepts, or null.
  [[nodiscard]] const CLI::Option* option(const std::string& name) const {
    for (const CLI::App* app : levels()) {
      for (const CLI::Option* option : app->get_options()) {
        if (option->nonpositional() && option->check_name(name)) return option;
      }
    }
    return nullptr;
  }
  /// The option to which the next word may belong as a value; null if there is none.
  [[nodiscard]] const CLI::Option* pending() const { return pending_; }
  [[nodiscard]] bool needs_value() const {
    return pending_ != nullptr && taken_ < pending_->get_items_expected_min();
  }
  [[nodiscard]] const CLI::Option* positional() const {
    const auto all =
        command_->get_options([](const CLI::Option* o) { return o->get_positional(); });
    std::size_t place = positional_;
    for (const CLI::Option* option : all) {
      const auto most = static_cast<std::size_t>(option->get_items_expected_max());
      if (place < most) return option;
      place -= most;
    }
    return nullptr;
  }
  /// The current command, and each parent whose options are accepted after the command.
  [[nodiscard]] std::vector<const CLI::App*> levels() const {
    std::vector<const CLI::App*> all = {command_};
    while (all.back()->get_parent() != nullptr && all.back()->get_fallthrough())
      all.push_back(all.back()->get_parent());
    return all;
  }
  [[nodiscard]] const CLI::App& command() const { return *command_; }
  [[nodiscard]] const GivenValues& given() const { return given_; }

 private:
  void read_option(const std::string& word) {
    const std::size_t sign = word.find('=');
    pending_ = option(word.substr(0, sign));
    taken_ = 0;
    if (pending_ == nullptr) return;
    if (sign != std::string::npos) note(*pending_, word.substr(sign + 1));
    if (sign != std::string::npos || most_values(*pending_) == 0) pending_ = nullptr;
  }
  void note(const CLI::Option& option, const std::string& value) {
    given_[value_word(option)] = value;
  }

  const CLI::App* command_;
  const CLI::Option* pending_ = nullptr;
  int taken_ = 0;
  std::size_t positional_ = 0;
  GivenValues given_;
};

std::vector<std::string> values_of(const std::string& word, const GivenValues& given,
                                   const ValueLists& lists) {
  const auto list = lists.find(word);
  if (list == lists.end()) return {};
  try {
    return list->second(given);
  } catch (const std::exception&) {
    return {};  // the program itself reports the error when it runs
  }
}

class Lines {
 public:
  /// Adds the values that begin with `start`, each with the prefix `before`.
  void add(const std::vector<std::string>& values, const std::string& start,
           const std::string& before = {}) {
    for (const std::string& value : values) {
      if (value.starts_with(start)) lines_.push_back(before + value);
    }
  }
  void add_values(const CLI::Option& option, const Walk& walk, const ValueLists& lists,
                  const std::string& typed, const std::string& before = {}) {
    const std::string word = value_word(option);
    lines_.front() = files_of(word);
    const std::size_t comma = word == value_words::kShapes ? typed.rfind(',') : std::string::npos;
    const std::size_t kept = comma == std::string::npos ? 0 : comma + 1;
    add(values_of(word, walk.given(), lists), typed.substr(kept), before + typed.substr(0, kept));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_ = {"none"};
};

std::vector<std::string> option_names(const Walk& walk) {
  std::vector<std::string> names;
  for (const CLI::App* app : walk.levels()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (std::ranges::count(names, "--" + name) == 0) names.push_back("--" + name);
      }
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const ValueLists& lists) {
  const std::string typed = words.empty() ? std::string() : words.back();
  Walk walk(app);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) walk.read(words[i]);
  Lines answer;
  const std::size_t sign = typed.find('=');
  if (typed.starts_with("--") && sign != std::string::npos) {
    const CLI::Option* option = walk.option(typed.substr(0, sign));
    if (option != nullptr && most_values(*option) > 0) {
      answer.add_values(*option, walk, lists, typed.substr(sign + 1), typed.substr(0, sign + 1));
    }
    return answer.take();
  }
  if (walk.pending() != nullptr && !typed.starts_with("-")) {
    answer.add_values(*walk.pending(), walk, lists, typed);
    if (walk.needs_value()) return answer.take();
  } else if (walk.positional() != nullptr && !typed.starts_with("-")) {
    answer.add_values(*walk.positional(), walk, lists, typed);
  }
  if (!typed.starts_with("-")) {
    for (const CLI::App* command : walk.command().get_subcommands({}))
      answer.add({command->get_name()}, typed);
  }
  const bool other_is_meant =
      typed.empty() && (walk.pending() != nullptr || walk.positional() != nullptr ||
                        walk.command().get_require_subcommand_min() > 0);
  if (!other_is_meant) answer.add(option_names(walk), typed);
  return answer.take();
}

}  // namespace evo
