#include "options/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <type_traits>
#include <utility>

namespace causeway {

namespace {

// Before the parser's own words about a text that is no T.
template <typename T>
std::string number_complaint(const std::string& text) {
  constexpr bool whole = std::is_integral_v<T>;
  char* end = nullptr;
  const double value = whole ? static_cast<double>(std::strtoll(text.c_str(), &end, 0))
                             : std::strtod(text.c_str(), &end);
  if (std::is_unsigned_v<T> && value < 0) return "'" + text + "' is negative";
  const bool good = !text.empty() && *end == '\0' && !std::isnan(value);
  return good ? "" : "'" + text + "' is no " + (whole ? "whole number" : "number");
}

// Numbers are decimal: the parser takes a leading zero for octal.
std::string without_zeros(std::string text) {
  const bool digits = text.find_first_not_of("0123456789") == text.npos;
  while (digits && text.size() > 1 && text[0] == '0') text.erase(0, 1);
  return text;
}

// The option of a word like "--map=", for which the parser would take the next word as its value.
std::optional<std::string> without_value(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1)
      return word.substr(0, word.size() - 1);
  }
  return std::nullopt;
}

// Instead of the parser's ": 1 required TEXT missing".
std::string in_words(std::string complaint) {
  const std::string_view last = " missing";
  const size_t from = complaint.find(": 1 required "), to = complaint.find(last, from);
  if (to != std::string::npos) complaint.replace(from, to + last.size() - from, " needs a value");
  return complaint;
}

}  // namespace

UsageError::UsageError(std::string option, std::string text)
    : option_(std::move(option)), text_(std::move(text)) {}

void UsageError::raise() const {
  if (text_.empty()) throw CLI::RequiredError(option_);
  throw CLI::ValidationError(option_, text_);
}

Option Option::required() {
  return Option(option_->required());
}
template <typename T>
Option Option::in_range(T least, T most) {
  // Only what help says is the parser's: its complaint differs from version to version. option()
  // asks no list for numbers, nor what may be absent.
  const auto complaint = [least, most](const std::string& text) {
    std::ostringstream said(number_complaint<T>(text), std::ios::ate);
    const double value = std::strtod(text.c_str(), nullptr);
    const bool within = value >= static_cast<double>(least) && value <= static_cast<double>(most);
    if (said.str().empty() && !within)
      said << "'" << text << "' is not within " << least << " to " << most;
    return said.str();
  };
  return Option(
      option_->check(CLI::Validator(complaint, CLI::Range(least, most).get_description())));
}
template Option Option::in_range(int, int);
template Option Option::in_range(unsigned, unsigned);
template Option Option::in_range(uint64_t, uint64_t);
template Option Option::in_range(double, double);
Option Option::positive() {
  return Option(option_->check([](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = value > 0 && std::isfinite(value) && *end == '\0';
    return good ? std::string() : "'" + text + "' is not a finite number above 0";
  }));
}
Option Option::existing_file() {
  return Option(option_->check(CLI::ExistingFile));
}
Option Option::not_empty(const std::string& noun) {
  return Option(option_->check([noun](const std::string& value) {
    return value.empty() ? "names no " + noun : std::string();
  }));
}
Option Option::one_of(std::vector<std::string> words) {
  // As with ranges, help alone has the parser's words.
  const std::string shown = CLI::IsMember(words).get_description();
  const auto complaint = [words = std::move(words)](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return "'" + text + "' is none of " + all;
  };
  return Option(option_->check(CLI::Validator(complaint, shown)));
}
Option Option::check(std::string (*complaint)(const std::string& value)) {
  return Option(option_->check(complaint));
}
Option Option::commas() {
  return Option(option_->delimiter(','));
}
Option Option::one_at_a_time() {
  return Option(option_->allow_extra_args(false));
}
Option Option::may_be_bare(const std::string& means) {
  return Option(option_->expected(0, 1)->default_str(means));
}
Option Option::shows_default() {
  return Option(option_->capture_default_str());
}
Option Option::named(const std::string& what) {
  return Option(option_->type_name(what));
}
Option Option::shown_as(const std::string& whole) {
  return Option(option_->option_text(whole));
}
Option Option::in_group(const std::string& heading) {
  return Option(option_->group(heading));
}
Option Option::needs(const char* option) {
  return Option(option_->needs(option));
}
Option Option::excludes(const Option& other) {
  return Option(option_->excludes(other.option_));
}

Options::Options(const char* about) : own_(std::make_unique<CLI::App>(about)), app_(own_.get()) {}
Options::Options(CLI::App* app) : app_(app) {}
Options::~Options() = default;

Option Options::flag(const char* name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}
template <typename T>
Option Options::option(const char* name, T& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(name, value, help);
  if constexpr (std::is_arithmetic_v<T>) option->check(number_complaint<T>);
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::optional<unsigned>> ||
                std::is_same_v<T, std::vector<uint64_t>>)
    option->transform(without_zeros);
  return Option(option);
}
template Option Options::option(const char*, std::string&, const std::string&);
template Option Options::option(const char*, unsigned&, const std::string&);
template Option Options::option(const char*, uint64_t&, const std::string&);
template Option Options::option(const char*, double&, const std::string&);
template Option Options::option(const char*, std::optional<std::string>&, const std::string&);
template Option Options::option(const char*, std::optional<unsigned>&, const std::string&);
template Option Options::option(const char*, std::vector<std::string>&, const std::string&);
template Option Options::option(const char*, std::vector<uint64_t>&, const std::string&);
Options& Options::footer(const std::string& text) {
  app_->footer(text);
  return *this;
}

Options& Options::subcommand(const char* name, const char* about, std::function<void()> act) {
  CLI::App* const app = app_->add_subcommand(name, about);
  if (*about == '\0') app->group("");
  app->callback([act = std::move(act)] {
    try {
      act();
    } catch (const UsageError& mistake) {
      mistake.raise();
    }
  });
  subcommands_.push_back(std::unique_ptr<Options>(new Options(app)));
  return *subcommands_.back();
}
Options& Options::subcommand(std::string_view name) {
  return **std::find_if(subcommands_.begin(), subcommands_.end(),
                        [name](const auto& sub) { return sub->app_->get_name() == name; });
}
std::vector<std::string> Options::subcommands() const {
  std::vector<std::string> names;
  for (const auto& sub : subcommands_) names.push_back(sub->app_->get_name());
  return names;
}
void Options::requires_subcommand(const char* version) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->get_formatter()->column_width(34);
}

bool Options::takes_value(const std::string& name) const {
  const CLI::Option* const option = app_->get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_min() > 0;
}
void Options::give(const char* name, std::vector<std::string> values) {
  app_->get_option(name)->add_result(std::move(values));
}

// The subcommand that was named, or the program.
const CLI::App* Options::chosen() const {
  return app_->get_subcommands().empty() ? app_ : app_->get_subcommands().front();
}

// Says what may have been meant by the first option that the subcommand does not have.
void Options::tell_meant(const std::vector<std::string>& words) const {
  const CLI::App* const app = chosen();
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& word : words) {
    std::string name = word.substr(0, word.find('='));
    const bool one_dash = name.size() > 2 && name[0] == '-' && name[1] != '-';
    if (one_dash) name.insert(0, 1, '-');
    const bool option = name.starts_with('-') && name != "-" && name != "--";
    if (!option || (!one_dash && app->get_option_no_throw(name) != nullptr)) continue;
    if (const auto hint = suggest_(name, names)) {
      std::cerr << "'" << name.substr(one_dash) << "': " << *hint << "\n";
      return;
    }
  }
}

std::optional<int> Options::parse(int argc, char** argv) {
  return parse(argv[0], std::vector<std::string>(argv + 1, argv + argc));
}
std::optional<int> Options::parse(const char* program, std::vector<std::string> words) {
  app_->name(program);
  // A word with one dash too few ("-hostfile") is no wish for help.
  for (std::string& word : words)
    if (word.starts_with("-h") && word != "-h") word.insert(0, 1, '-');
  const std::string path = program;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (const std::optional<std::string> bare = without_value(words)) {
    const std::vector<std::string> known = subcommands();
    const bool chosen = std::find(known.begin(), known.end(), words[0]) != known.end();
    std::cerr << name << (chosen ? " " + words[0] : "") << ": " << *bare
              << " needs a value\nRun with --help for more information.\n";
    return 2;
  }
  std::vector<std::string> given(words.rbegin(), words.rend());  // as the parser wants them
  try {
    app_->parse(given);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, complaint;
    const int code = app_->exit(e, out, complaint);
    const std::string speaker = name + (chosen() == app_ ? "" : " " + chosen()->get_name()) + ": ";
    if (code != 0) std::cerr << speaker << in_words(complaint.str());
    // A required option may be missing because its name is misspelt.
    if (suggest_ != nullptr && (code == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                                code == static_cast<int>(CLI::ExitCodes::RequiredError)))
      tell_meant(words);
    if (code != 0) return 2;
    const std::string help = lay_out_ == nullptr ? out.str() : lay_out_(out.str());
    if (std::fputs(help.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::cerr << speaker << "cannot write the output: " << std::strerror(errno) << std::endl;
    std::clearerr(stdout);  // is told
    return 1;
  }
}

void Options::parse_part(std::vector<std::string> words) {
  app_->set_help_flag();
  // Said before what is missing behind it: its value was taken for the program.
  for (const std::string& word : words)
    if (word.rfind("--", 0) == 0 && !app_->get_option_no_throw(word.substr(0, word.find('='))))
      throw UsageError("':'", word + " is no option here");
  std::reverse(words.begin(), words.end());
  try {
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    throw UsageError("':'", e.what());
  }
}

}  // namespace causeway
