// Options: the command line of a program or of a subcommand. The parser's header takes ten times as
// long to compile as most of their sources, so that one source alone includes it.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace causeway {

// A usage mistake that only a callback sees: says so and ends with the status of one.
class UsageError : public std::exception {
 public:
  // An empty `text` says that the option is missing.
  UsageError(std::string option, std::string text);
  const char* what() const noexcept override { return text_.c_str(); }
  [[noreturn]] void raise() const;  // as the parser's own

 private:
  std::string option_, text_;
};

// Option: an option, to be described further. Lives as long as its Options.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required();
  // Bounds of the value's own type: int, unsigned, uint64_t or double.
  template <typename T>
  Option in_range(T least, T most);
  Option positive();
  Option existing_file();
  Option not_empty(const std::string& noun);  // "names no" noun, otherwise
  Option one_of(std::vector<std::string> words);
  // Returns what is wrong with a value, or nothing.
  Option check(std::string (*complaint)(const std::string& value));
  Option commas();         // a list separated by commas
  Option one_at_a_time();  // repeated; takes no further words behind its value
  // The value may be left out, which means the first of `words`.
  Option may_be_bare(const std::string& means);
  Option shows_default();
  Option named(const std::string& what);      // what help calls the value
  Option shown_as(const std::string& whole);  // in place of the value and its type
  Option in_group(const std::string& heading);
  Option needs(const char* option);
  Option excludes(const Option& other);

 private:
  CLI::Option* option_;
};

class Options {
 public:
  explicit Options(const char* about);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // `value` lives as long as the object that parses.
  Option flag(const char* name, bool& value, const std::string& help);
  // The value: text, a number, or those of the lists and optional ones that the source names.
  template <typename T>
  Option option(const char* name, T& value, const std::string& help);
  Options& footer(const std::string& text);

  // `act` runs when the subcommand has been parsed. An empty `about` keeps it out of the help.
  Options& subcommand(const char* name, const char* about, std::function<void()> act);
  Options& subcommand(std::string_view name);
  std::vector<std::string> subcommands() const;
  // A program of subcommands, of which one has to be given.
  void requires_subcommand(const char* version);

  // Where `name` is an option of these: does it take a value, and cannot be without?
  bool takes_value(const std::string& name) const;
  // Gives an option values that are not parsed.
  void give(const char* name, std::vector<std::string> values);

  // Returns what to say of an option that there is not, by those that there are.
  using Suggest = std::optional<std::string>(const std::string& option,
                                             const std::vector<std::string>& options);
  void suggests(Suggest* suggest) { suggest_ = suggest; }
  // Lays out a help text before it is printed.
  using LayOut = std::string(const std::string& help);
  void lays_out_help(LayOut* lay_out) { lay_out_ = lay_out; }

  // For a test that looks at every option, and includes the parser itself.
  CLI::App& parser() const { return *app_; }

  // The status to end with when there is nothing to do: 0, 2, or 1 where the help was not written.
  std::optional<int> parse(int argc, char** argv);
  std::optional<int> parse(const char* program, std::vector<std::string> words);
  // Words that stand within those of another command line. Throws UsageError.
  void parse_part(std::vector<std::string> words);

 private:
  explicit Options(CLI::App* app);
  const CLI::App* chosen() const;
  void tell_meant(const std::vector<std::string>& words) const;
  std::unique_ptr<CLI::App> own_;
  CLI::App* app_;
  Suggest* suggest_ = nullptr;
  LayOut* lay_out_ = nullptr;
  std::vector<std::unique_ptr<Options>> subcommands_;
};

}  // namespace causeway
