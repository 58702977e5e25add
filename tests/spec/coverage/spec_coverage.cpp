// spec_coverage: which test exercises each name of a specification.
//
//   spec_coverage --names LIST... --tests SOURCE... --out TABLE.md
//                 [--fortran NAME.fortran... --fortran-tests SOURCE.f90...]
//                 [--ran LINES --compiled LIST]
//
// A list has one name a line, `#` begins a comment, and `first..last` in braces stands for numbers:
// `gex_AM_RequestShort{0..16}`. A name may be followed by `: not yet`, or by `:` and
// another reason why no test uses it. Exits
// with 1 when a name is neither exercised nor excused, or is said to be missing and exercised all
// the same, so that the lists stay true. "Exercised" means that the name stands in the code of a
// case, outside comments and strings: the cases themselves are what shows that it works.
//
// A specification NAME.txt with a NAME.fortran has a Fortran binding: every one of its names must
// be exercised in Fortran too, but those that NAME.fortran lists, with `:` and the reason why they
// have no binding.
//
// With --ran a name is exercised where it stands in a line that ran (ran_lines.h). LIST has the
// names that no line can run, or that no test here can reach, with `:` and the reason.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ran_lines.h"

namespace {

struct Name {
  std::string text, excuse, list;
};
using Uses = std::map<std::string, std::map<std::string, int>>;  // name -> case -> times

[[noreturn]] void die(const std::string& text) {
  std::cerr << "spec_coverage: " << text << '\n';
  std::exit(2);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) die(path + ": cannot be read");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// `name{0..16}` becomes seventeen names.
void expand(const Name& name, std::vector<Name>& into) {
  const size_t open = name.text.find('{'), close = name.text.find('}');
  if (open == std::string::npos || close == std::string::npos) {
    into.push_back(name);
    return;
  }
  int first = 0, last = 0;
  if (std::sscanf(name.text.c_str() + open, "{%d..%d}", &first, &last) != 2)
    die(name.list + ": " + name.text + ": expected {first..last}");
  for (int i = first; i <= last; ++i) {
    Name one = name;
    one.text = name.text.substr(0, open) + std::to_string(i) + name.text.substr(close + 1);
    into.push_back(one);
  }
}

void read_list(const std::string& path, std::vector<Name>& names) {
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    Name name{trimmed(line.substr(0, colon)), "", std::filesystem::path(path).stem().string()};
    if (colon != std::string::npos) name.excuse = trimmed(line.substr(colon + 1));
    expand(name, names);
  }
}

// Code without comments and literals, which become blanks.
std::string code_of(const std::string& text) {
  std::string code = text;
  enum { plain, line, block, quote, tick } state = plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    const auto blank = [&] {
      if (c != '\n') code[i] = ' ';
    };
    switch (state) {
      case plain:
        if (c == '/' && next == '/')
          state = line, blank();
        else if (c == '/' && next == '*')
          state = block, blank();
        else if (c == '"')
          state = quote;
        // Not a digit separator.
        else if (c == '\'' &&
                 (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))
          state = tick;
        break;
      case line:
        if (c == '\n') state = plain;
        blank();
        break;
      case block:
        if (c == '*' && next == '/') {
          code[i] = code[i + 1] = ' ';
          ++i;
          state = plain;
        } else {
          blank();
        }
        break;
      case quote:
      case tick:
        if (c == '\\') {
          code[i] = ' ';
          if (++i < text.size()) code[i] = ' ';
        } else if (c == (state == quote ? '"' : '\'')) {
          state = plain;
        } else {
          blank();
        }
        break;
    }
  }
  return code;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string next_word(const std::string& code, size_t& at) {
  while (at < code.size() && !is_word(code[at])) ++at;
  const size_t begin = at;
  while (at < code.size() && is_word(code[at])) ++at;
  return code.substr(begin, at - begin);
}

// The same for Fortran, in lower case. A quote within a literal is doubled, which reads as two
// literals here.
std::string fortran_code_of(const std::string& text) {
  std::string code = text;
  char quote = '\0';
  bool comment = false;
  for (char& c : code) {
    if (c == '\n') {
      comment = false;
    } else if (comment) {
      c = ' ';
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
      c = ' ';
    } else if (c == '!') {
      comment = true;
      c = ' ';
    } else if (c == '"' || c == '\'') {
      quote = c;
      c = ' ';
    } else {
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return code;
}

// Every word, under the case whose body it stands in; what stands before a file's first case is
// used by its cases and goes under the file's name. A word that ends in `_` before `##` is glued to
// something by a macro, and counts as a beginning.
// `ran`: NULL, or what counts.
void scan(const std::string& path, const RanLines* ran, Uses& uses,
          std::map<std::string, std::string>& glued) {
  const std::string code = code_of(read_file(path));
  std::string where = std::filesystem::path(path).filename().string();
  size_t line = 1, counted = 0;
  for (size_t at = 0; at < code.size();) {
    const std::string word = next_word(code, at);
    for (; counted < at; ++counted) line += code[counted] == '\n' ? 1 : 0;
    if (word == "SPEC_CASE" || word == "TEST" || word == "TEST_P" || word == "TEST_F") {
      size_t look = at;
      const std::string group = next_word(code, look), name = next_word(code, look);
      where = group + "." + name;
    } else if (!word.empty()) {
      if (ran == nullptr || ran->has(path, line)) ++uses[word][where];
      if (code.compare(at, 2, "##") == 0 || code.compare(at, 3, " ##") == 0) glued[word] = where;
    }
  }
}

// A case is a subroutine.
void scan_fortran(const std::string& path, Uses& uses) {
  const std::string code = fortran_code_of(read_file(path));
  const std::string file = std::filesystem::path(path).filename().string();
  std::string where = file, before;
  for (size_t at = 0; at < code.size();) {
    std::string word = next_word(code, at);
    // The kind of a number: 0_gaspi_rank_t.
    if (const size_t digits = word.find_first_not_of("0123456789");
        digits > 0 && digits < word.size())
      word.erase(0, digits + 1);
    if (word == "subroutine") {
      const std::string name = next_word(code, at);
      where = before == "end" ? file : file + "." + name;
    } else if (!word.empty()) {
      ++uses[word][where];
    }
    before = word;
  }
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string cases_of(const std::map<std::string, int>& cases) {
  std::string text;
  size_t shown = 0;
  for (const auto& [where, times] : cases) {
    if (shown == 3) return text + ", and " + std::to_string(cases.size() - 3) + " more";
    text += (shown++ == 0 ? "" : ", ") + where;
  }
  return text;
}

// What Fortran tests say of the names of the specifications that are bound.
class Fortran {
 public:
  Fortran(const std::vector<std::string>& lists, const std::vector<std::string>& tests) {
    for (const std::string& list : lists) {
      bound_.insert(std::filesystem::path(list).stem().string());
      read_list(list, unbound_);
    }
    for (const std::string& test : tests) scan_fortran(test, uses_);
  }
  // The table's cell.
  std::string tell(const Name& name, std::vector<std::string>& wrong) {
    if (bound_.count(name.list) == 0) return "";
    std::string by, reason;
    if (const auto found = uses_.find(lower(name.text)); found != uses_.end())
      by = cases_of(found->second);
    for (Name& one : unbound_) {
      if (one.text != name.text || one.list != name.list) continue;
      reason = one.excuse.empty() ? "not bound" : one.excuse;
      one.text.clear();
    }
    if (by.empty() && reason.empty())
      wrong.push_back(name.text + " has no test in Fortran (" + name.list + ")");
    if (!by.empty() && !reason.empty())
      wrong.push_back(name.text + " is said not to be bound, and " + by + " uses it (" + name.list +
                      ")");
    return by.empty() ? (reason.empty() ? "NOTHING" : "(" + reason + ")") : by;
  }
  // Names that no specification has.
  void finish(std::vector<std::string>& wrong) const {
    for (const Name& one : unbound_)
      if (!one.text.empty()) wrong.push_back(one.text + " is no name of " + one.list);
  }

 private:
  std::set<std::string> bound_;
  std::vector<Name> unbound_;
  Uses uses_;
};

struct Arguments {
  std::vector<std::string> lists, tests, fortran, fortran_tests;
  std::string out, ran, compiled;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  std::vector<std::string>* into = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--names")
      into = &a.lists;
    else if (word == "--tests")
      into = &a.tests;
    else if (word == "--fortran")
      into = &a.fortran;
    else if (word == "--fortran-tests")
      into = &a.fortran_tests;
    else if (word == "--out" && i + 1 < argc)
      a.out = argv[++i], into = nullptr;
    else if (word == "--ran" && i + 1 < argc)
      a.ran = argv[++i], into = nullptr;
    else if (word == "--compiled" && i + 1 < argc)
      a.compiled = argv[++i], into = nullptr;
    else if (into != nullptr)
      into->push_back(word);
    else
      die("unexpected argument " + word);
  }
  if (a.lists.empty() || a.tests.empty() || a.out.empty())
    die("usage: spec_coverage --names LIST... --tests SOURCE... --out TABLE.md "
        "[--fortran LIST... --fortran-tests SOURCE...]");
  return a;
}

// Names that are compiled and cannot run: they are excused, by the reason that the list gives.
void excuse(const std::string& path, std::vector<Name>& names) {
  std::vector<Name> compiled;
  read_list(path, compiled);
  for (Name& name : names)
    for (const Name& one : compiled)
      if (one.text == name.text) name.excuse = one.excuse;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::vector<Name> names;
  for (const std::string& list : arguments.lists) read_list(list, names);
  if (!arguments.compiled.empty()) excuse(arguments.compiled, names);
  RanLines lines;
  if (!arguments.ran.empty() && !lines.read(arguments.ran)) die(arguments.ran + ": has no lines");
  const RanLines* const ran = arguments.ran.empty() ? nullptr : &lines;
  Uses uses;
  std::map<std::string, std::string> glued;
  for (const std::string& test : arguments.tests) scan(test, ran, uses, glued);

  Fortran fortran(arguments.fortran, arguments.fortran_tests);

  std::ostringstream table;
  size_t exercised = 0, excused = 0;
  std::vector<std::string> wrong;
  table << "| specification | name | exercised by | in Fortran |\n|---|---|---|---|\n";
  for (const Name& name : names) {
    std::string by;
    if (const auto found = uses.find(name.text); found != uses.end()) by = cases_of(found->second);
    // The longest beginning that a macro completes.
    for (const auto& [word, where] : glued)
      if (by.empty() && name.text.compare(0, word.size(), word) == 0) by = where + " (by macro)";
    if (by.empty() && name.excuse.empty())
      wrong.push_back(name.text + " has no test (" + name.list + ")");
    if (!by.empty() && name.excuse == "not yet")
      wrong.push_back(name.text + " is said to be missing, and " + by + " uses it (" + name.list +
                      ")");
    exercised += by.empty() ? 0 : 1;
    excused += by.empty() ? 1 : 0;
    table << "| " << name.list << " | `" << name.text << "` | "
          << (by.empty() ? (name.excuse.empty() ? "NOTHING" : name.excuse) : by) << " | "
          << fortran.tell(name, wrong) << " |\n";
  }
  fortran.finish(wrong);
  std::ofstream(arguments.out) << "# Names of the specifications and their tests\n\n"
                               << exercised << " of " << names.size() << " names are exercised, "
                               << excused << " are not.\n\n"
                               << table.str();
  std::cout << "specification coverage: " << exercised << " of " << names.size()
            << " names exercised, " << excused << " not; table in " << arguments.out << '\n';
  for (const std::string& text : wrong) std::cerr << "spec_coverage: " << text << '\n';
  return wrong.empty() ? 0 : 1;
}
