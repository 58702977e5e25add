// causeway top: what the ranks of this user's jobs on this host do each second.
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <tuple>

#include "base/clock.h"
#include "commands.h"
#include "job_view.h"
#include "text.h"

namespace causeway::command {
namespace {

struct TopArguments {
  std::string job;
  double interval = 1;
  unsigned count = 0;
  bool json = false;
};

volatile sig_atomic_t g_ended = 0, g_stops = 0;

// A terminal shows one page after the other, whose keys come at once; it gets its own back.
class Screen {
 public:
  explicit Screen(bool wanted) : shown_(wanted && has_terminal()) {
    struct sigaction action {};
    action.sa_handler = [](int) { g_ended = 1; };
    action.sa_flags = SA_RESETHAND;  // a second one ends a command that hangs
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
    if (!wanted || ::isatty(STDOUT_FILENO) == 0) return;
    listen_to_stops();
    std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
    enter();
  }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;

  // Begins a page, and says how many lines of it can be seen: the last one would make it roll.
  size_t begin() const {
    winsize seen{};
    if (shown_) fmt::print("\033[H\033[J");
    const bool known = shown_ && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &seen) == 0 && seen.ws_row > 0;
    return known ? std::max<size_t>(seen.ws_row, 2) - 1 : SIZE_MAX;
  }
  // False when it is to end.
  bool wait_until(uint64_t time_ns) {
    for (uint64_t now; g_ended == 0;) {
      if (g_stops != 0) stop();
      if ((now = now_ns()) >= time_ns) return true;
      pollfd key{keys_ ? STDIN_FILENO : -1, POLLIN, 0};
      if (::poll(&key, 1, static_cast<int>((time_ns - now) / 1'000'000) + 1) <= 0) continue;
      char pressed = 'q';
      if (::read(STDIN_FILENO, &pressed, 1) <= 0 || pressed == 'q') return false;
    }
    return false;
  }

 private:
  void enter() {
    keys_ = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() && ::tcgetattr(STDIN_FILENO, &before_) == 0;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
    if (shown_)
      fmt::print("\033[?1049h\033[?25l\033[?7l");  // lines are cut where the terminal ends
  }
  void leave() {
    if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    if (shown_) fmt::print("\033[?7h\033[?25h\033[?1049l");
    std::fflush(stdout);
  }
  static void listen_to_stops() {
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { g_stops = 1; };
    action.sa_flags = SA_RESTART;
    if (::sigaction(SIGTSTP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(SIGTSTP, &action, nullptr);
  }
  // As ^Z wants it, until somebody continues it; the kernel does not stop what nobody could.
  void stop() {
    g_stops = 0;
    leave();
    std::signal(SIGTSTP, SIG_DFL);
    ::raise(SIGTSTP);
    listen_to_stops();
    enter();
  }

  bool shown_, keys_ = false;
  termios before_{};
};

// Three of them at most, the busiest first.
std::string busiest_peers(const RankView& rank) {
  std::vector<std::tuple<double, double, uint32_t>> peers;
  for (const auto& [peer, rate] : rank.peers_per_s)
    if (rate.operations() > 0) peers.emplace_back(-rate.bytes(), -rate.operations(), peer);
  std::sort(peers.begin(), peers.end());
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(peers.size(), 3); ++i)
    out += (out.empty() ? "" : " ") + std::to_string(std::get<uint32_t>(peers[i]));
  return out.empty() ? "-" : out;
}

std::string short_state(const RankView& rank) {
  const std::string word = rank.state();
  if (rank.waited_s() == 0) return word;
  const bool told = word == "waits" || word == "starts";
  return (told ? word : word + ", waits") + " " + duration_text(rank.waited_s());
}

// At most so many ranks, and a line that says how many there are beyond.
void print_job(const std::vector<RankView>& ranks, size_t lines) {
  const RankView& first = ranks[0];
  const std::string title = fmt::format("{}  {}  {} of {} ranks  {}", first.job, first.program,
                                        ranks.size(), first.ranks, state_text(ranks));
  fmt::print("{}\n", bold(title.substr(0, page_columns())));
  std::vector<std::vector<std::string>> rows{
      {"rank", "pid", "cpu%", "ops/s", "bytes/s", "retries/s", "memory", "peers", "state"}};
  for (const RankView& r : ranks) {
    if (rows.size() > lines) break;
    const auto rate = [&](double n) { return r.seconds > 0 ? amount_text(n) : "-"; };
    rows.push_back(
        {std::to_string(r.rank), std::to_string(r.pid), fmt::format("{:.0f}", r.processor * 100),
         rate(r.per_s.operations()), rate(r.per_s.bytes()), rate(r.per_s.of[StatusPage::retries]),
         amount_text(static_cast<double>(r.resident)), busiest_peers(r), short_state(r)});
  }
  print_columns(rows, "");
  if (rows.size() <= ranks.size()) fmt::print("and {} more\n", ranks.size() + 1 - rows.size());
}

void print_page(const Screen& screen, Jobs& jobs, bool json) {
  for (auto& [id, ranks] : jobs) {
    std::stable_sort(ranks.begin(), ranks.end(), [](const RankView& a, const RankView& b) {
      return std::pair(a.per_s.bytes(), a.per_s.operations()) >
             std::pair(b.per_s.bytes(), b.per_s.operations());
    });
  }
  if (json) return fmt::print("{}\n", json_of(jobs));
  const size_t lines = screen.begin();
  if (jobs.empty()) fmt::print("no job of this user has ranks on this host\n");
  // A job has a heading, the head of its table, a line for the ranks beyond and an empty one.
  constexpr size_t kAround = 4;
  const size_t fit = std::max<size_t>(lines / (kAround + 1), 1);
  const size_t each = lines / std::max<size_t>(std::min(jobs.size(), fit), 1);
  size_t shown = 0;
  for (const auto& [id, ranks] : jobs) {
    if (shown++ == fit) break;
    print_job(ranks, each > kAround ? each - kAround : 1);
    if (shown < std::min(jobs.size(), fit)) fmt::print("\n");
  }
}

int top(TopArguments& args) {
  JobViewer viewer;
  const auto interval = static_cast<uint64_t>(args.interval * 1e9);
  const auto look = [&] {
    return viewer.look(args.job, std::min(interval, uint64_t{1'000'000'000}));
  };
  uint64_t next = now_ns();
  const Jobs first = look();
  if (first.empty() && !args.job.empty()) return say_unknown("top", args.job);
  if (!args.job.empty()) args.job = first.begin()->first;  // which outlives the named process
  std::optional<Screen> screen(std::in_place, !args.json);
  for (unsigned n = 0; args.count == 0 || n < args.count; ++n) {
    next = std::max(next + interval, now_ns());
    if (!screen->wait_until(next)) break;
    Jobs jobs = look();
    if (jobs.empty() && !args.job.empty()) {
      screen.reset();
      fmt::print(stderr, "causeway top: the job '{}' has ended\n", args.job);
      break;
    }
    print_page(*screen, jobs, args.json);
    if (std::fflush(stdout) != 0) throw fmt::system_error(errno, "cannot write");
  }
  return kOk;
}

}  // namespace

void add_top(Options& app, int& status) {
  auto args = std::make_shared<TopArguments>();
  Options& sub = app.subcommand(
      "top", "Show what the ranks of this user's jobs on this host do each second; q ends it",
      [args, &status] { status = top(*args); });
  sub.option("job", args->job, "This job alone, as `causeway ps` takes it");
  sub.option("--interval", args->interval, "Seconds from one look to the next")
      .in_range(0.05, 3600.0)
      .shows_default();
  sub.option("--count", args->count, "Ends after so many tables; 0: goes on").shows_default();
  sub.flag("--json", args->json, "Print JSON, one line for each look");
}

}  // namespace causeway::command
