// Configuration files with random damage. Catches crashes, hangs, foreign exceptions, problems
// without a position, and accepted documents that do not read back as themselves.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/load_config.h"
#include "config/set_text.h"

namespace causeway {
namespace {

using Random = std::mt19937_64;

uint64_t seed() {
  const char* given = std::getenv("TEST_SEED");
  const uint64_t value = given != nullptr
                             ? std::strtoull(given, nullptr, 0)
                             : (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  std::printf("TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  std::fflush(stdout);
  return value;
}

std::chrono::steady_clock::time_point deadline() {
  const char* given = std::getenv("TEST_SECONDS");
  const int seconds = given != nullptr ? std::atoi(given) : 2;
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}

size_t below(Random& random, size_t n) {
  return n == 0 ? 0 : random() % n;
}

const std::vector<std::string>& fragments() {
  static const std::vector<std::string> list{"{",
                                             "}",
                                             "[",
                                             "]",
                                             ":",
                                             ": ",
                                             ",",
                                             "-",
                                             "- ",
                                             "\n",
                                             "\n  ",
                                             "\t",
                                             "#",
                                             "&a",
                                             "*a",
                                             "!!str ",
                                             "!x ",
                                             "|\n",
                                             ">\n",
                                             "'",
                                             "\"",
                                             "null",
                                             "~",
                                             "<<: *a",
                                             "? ",
                                             "---\n",
                                             "...\n",
                                             "%YAML",
                                             "\xEF\xBB\xBF",
                                             "\xff",
                                             "\\",
                                             "0",
                                             "-1",
                                             "1e999",
                                             "true",
                                             "on",
                                             "shm",
                                             "self",
                                             "peers",
                                             "use",
                                             "match",
                                             "4G",
                                             "99999999999999999999999T",
                                             "5s",
                                             "conduits",
                                             "options",
                                             "native",
                                             std::string(1, '\0'),
                                             "0-3,7-",
                                             "host: '['",
                                             "\r\n",
                                             "\xE2\x80\xA8",
                                             "name: x"};
  return list;
}

std::string mutated(Random& random, std::string text) {
  for (size_t edits = 1 + below(random, 8); edits > 0; --edits) {
    const size_t at = below(random, text.size() + 1);
    const size_t length = below(random, 12);
    switch (below(random, 7)) {
      case 0:
        text.erase(std::min(at, text.size()), length);
        break;
      case 1:
        text.insert(at, fragments()[below(random, fragments().size())]);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        text.insert(at, text.substr(below(random, text.size() + 1), 5 * length));
        break;
      case 4:
        text.insert(at, std::string(below(random, 600), "[{ -"[below(random, 4)]));
        break;
      case 5:
        text.resize(at);
        break;
      default:
        if (at < text.size()) text.replace(at, 1, fragments()[below(random, fragments().size())]);
    }
  }
  return text;
}

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  for (const char* name : {"default.yaml", "schema.yaml", "sites/am-only.yaml", "sites/checks.yaml",
                           "sites/oversubscribed.yaml"}) {
    std::ifstream file(std::string(CAUSEWAY_SOURCE_DIR "/configs/") + name);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    EXPECT_FALSE(out.back().empty()) << name;
  }
  out.emplace_back(
      "conduits: {a: &a {plugin: shm, options: {x: 1, y: '2'}, native: [put, get]}, b: *a}\n"
      "peers:\n  - {match: {locality: host, host: 'n[0-9]*', ranks: '0-3,7-'}, use: [a, b],\n"
      "     require: true, on_fallback: warn, operations: {put: b}, sizes: [{from: 1K, use: a}]}\n"
      "  - use: [self]\n");
  return out;
}

// A file in memory: quick, and gone with the process however that ends.
class File {
 public:
  File() : fd_(::memfd_create("config-fuzz", MFD_CLOEXEC)) {}
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void write(const std::string& text) {
    ASSERT_EQ(::ftruncate(fd_, 0), 0);
    ASSERT_EQ(::pwrite(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// Whether `sources` loaded. Anything but Config or Error ends the test.
bool try_loading(const ConfigSources& sources) {
  try {
    const CheckedConfig checked = check_config(sources);
    EXPECT_EQ(checked.config.has_value(), checked.problems.empty());
    for (const Problem& problem : checked.problems.list()) {
      EXPECT_FALSE(problem.where.source.empty());
      EXPECT_FALSE(problem.message.empty());
      EXPECT_GE(problem.where.line, 0);
      EXPECT_EQ(problem.where.line == 0, problem.where.column == 0) << problem.str();
    }
    if (!checked.config) return false;
    const std::string text = checked.config->text;
    File again;
    again.write(text);
    ConfigSources second;
    second.site_file = "";
    second.files = {again.name()};
    const CheckedConfig reread = check_config(second);
    EXPECT_TRUE(reread.config) << reread.problems.text(20) << "\n" << text;
    // A removed conduit comes back from the default; otherwise the text is the same.
    if (reread.config && reread.config->conduits.size() == checked.config->conduits.size()) {
      EXPECT_EQ(reread.config->text, text);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(ConfigFuzz, DamagedFiles) {
  Random random(seed());
  const std::vector<std::string> texts = corpus();
  const auto end = deadline();
  File file;
  ConfigSources sources;
  sources.site_file = "";
  sources.files = {file.name()};
  size_t runs = 0, loaded = 0;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++runs) {
    const std::string text = mutated(random, texts[below(random, texts.size())]);
    file.write(text);
    const auto start = std::chrono::steady_clock::now();
    loaded += try_loading(sources);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    if (HasFailure()) std::printf("--- the text:\n%s\n---\n", text.c_str());
  }
  std::printf("%zu texts, %zu of them accepted\n", runs, loaded);
  // Both kinds of outcome must occur, or the damage is too much or too little to show anything.
  EXPECT_GT(loaded, 0u);
  EXPECT_LT(loaded, runs);
}

TEST(ConfigFuzz, DamagedSets) {
  Random random(seed());
  const auto end = deadline();
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++runs) {
    const std::string text =
        mutated(random,
                "conduits.shm.options.x=1,peers=[{use: [shm], match: {ranks: '1,2'}}],"
                "plugins.path=[a,\"b,c\"],log.level=info,trace.file=a\\,b");
    ConfigSources sources;
    sources.site_file = "";
    sources.sets = split_sets(text);
    std::string joined;
    for (const std::string& item : sources.sets) {
      joined += (joined.empty() ? "" : ",") + escape_set(item);
    }
    try_loading(sources);
    if (HasFailure()) std::printf("--- the text:\n%s\n---\n", text.c_str());
  }
  std::printf("%zu texts\n", runs);
  EXPECT_GT(runs, 0u);
}

}  // namespace
}  // namespace causeway
