#include "options.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "../../common/plugin_error.h"
#include "../common/option_reader.h"
#include "services.h"

namespace causeway::ucx {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isupper(c) || std::isdigit(c) || c == '_';
  });
}

// "RNDV_THRESH=64k TCP_TX_SEG_SIZE=16k"; the prefix UCX_ may stand before a name.
cwy_status read_settings(const std::string& text, Options& out, cwy_err* err) {
  std::istringstream words(text);
  std::string word;
  while (words >> word) {
    const size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (name.rfind("UCX_", 0) == 0) name.erase(0, 4);
    if (equals == std::string::npos || !is_name(name))
      return report(err, CWY_ERR_INVALID,
                    "option 'settings': '%.80s' is not NAME=value; expected for example "
                    "'RNDV_THRESH=64k TCP_TX_SEG_SIZE=16k'",
                    word.c_str());
    out.settings.emplace_back(name, word.substr(equals + 1));
  }
  return CWY_OK;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

bool one_of(const std::string& word, std::initializer_list<const char*> set) {
  return std::any_of(set.begin(), set.end(), [&](const char* s) { return word == s; });
}

// "\tcp" in UCX's syntax is the exact transport; "tcp:aux" marks a helper.
std::string bare(std::string word) {
  if (!word.empty() && word[0] == '\\') word.erase(0, 1);
  return word.substr(0, word.find(':'));
}

constexpr auto is_shared = [](const std::string& word) {
  return one_of(word, {"sm", "shm", "mm", "posix", "sysv", "xpmem", "cma", "knem"});
};

// Does the list name something, and nothing but "self" and what `wanted` says?
template <typename Wanted>
bool names_only(const std::string& tls, Wanted wanted) {
  const std::vector<std::string> words = split(tls);
  return !words.empty() && words[0][0] != '^' &&
         std::all_of(words.begin(), words.end(),
                     [&](const std::string& w) { return bare(w) == "self" || wanted(bare(w)); });
}

// UCX's `shm` has System V's segments too, which a killed process leaves behind. With both kinds
// UCX 1.18 aborts where a peer closes while it is being introduced (wireup.c:1734).
std::string without_system_v(const std::string& tls) {
  std::string kept;
  for (const std::string& word : split(tls))
    kept += (kept.empty() ? "" : ",") + (one_of(word, {"sm", "shm"}) ? "posix,cma" : word);
  return kept;
}

}  // namespace

cwy_status read_options(const cwy_options* opts, Options& out, cwy_err* err) {
  std::string settings;
  OptionReader r(*services, opts, err);
  r.text("tls", out.tls);
  out.tls = without_system_v(out.tls);
  r.text("settings", settings);
  r.size("medium_max", out.medium_max);
  r.number("outstanding", out.outstanding);
  r.time("peer_timeout", out.peer_timeout_ns);
  r.choice("ethernet", {"take", "leave"}, out.leaves_ethernet);
  r.flag("wakeup", out.wakeup);
  return r.status() == CWY_OK ? read_settings(settings, out, err) : r.status();
}

bool admits_shared_memory(const std::string& tls) {
  std::vector<std::string> words = split(tls);
  if (words.empty()) return true;
  const bool negated = words[0][0] == '^';
  if (negated) {
    words[0].erase(0, 1);
    return std::none_of(words.begin(), words.end(), [](const std::string& w) {
      return one_of(bare(w), {"sm", "shm"});
    });
  }
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& w) { return bare(w) == "all" || is_shared(bare(w)); });
}

bool only_shared_memory(const std::string& tls) {
  return names_only(tls, is_shared);
}

bool only_tcp(const std::string& tls) {
  return names_only(tls, [](const std::string& w) { return w == "tcp"; });
}

}  // namespace causeway::ucx
