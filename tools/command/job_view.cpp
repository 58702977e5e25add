#include "job_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "commands.h"
#include "spawn/job_id.h"
#include "text.h"

namespace causeway::command {
namespace {

constexpr double kNs = 1e9;

std::string file_text(const std::string& path) {
  std::ostringstream out;  // an iterator would throw where the process ends while it is read
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::string proc(pid_t pid, const char* what) {
  return fmt::format("/proc/{}/{}", pid, what);
}

// Field by field behind the name, which may contain anything.
struct ProcessStat {
  char state = '\0';  // there is no such process
  pid_t parent = 0;
  uint64_t processor_ticks = 0, started = 0;

  explicit ProcessStat(pid_t pid) {
    const std::string text = file_text(proc(pid, "stat"));
    const size_t name = text.rfind(')');
    if (name == std::string::npos) return;
    std::istringstream words(text.substr(name + 1));
    words >> state >> parent;
    std::string word;
    for (int field = 5; words >> word; ++field) {
      if (field == 14 || field == 15) processor_ticks += std::strtoull(word.c_str(), nullptr, 10);
      if (field == 22) started = std::strtoull(word.c_str(), nullptr, 10);
    }
  }
};

// The kernel shows no memory or descriptors of a process's first thread that has ended before
// others.
pid_t living_thread(pid_t pid, const ProcessStat& stat) {
  std::error_code gone;
  if (stat.state == 'Z')
    for (const auto& thread : std::filesystem::directory_iterator(proc(pid, "task"), gone)) {
      const auto id = static_cast<pid_t>(std::atol(thread.path().filename().c_str()));
      if (ProcessStat(id).state != 'Z') return id;
    }
  return pid;
}

std::string program_of(pid_t pid) {
  const std::string words = file_text(proc(living_thread(pid, ProcessStat(pid)), "cmdline"));
  const std::string first = words.substr(0, words.find('\0'));
  return plain(first.substr(first.rfind('/') + 1));
}

// The launcher's process is in the name of its job, where that is of this host: the parent of a
// rank is a keeper, or a relay of the launcher's. Elsewhere it is the parent.
pid_t launcher_of(const std::string& job, pid_t parent) {
  const std::string prefix = job_id_prefix();
  if (!job.starts_with(prefix)) return parent;
  const auto launcher = static_cast<pid_t>(std::atol(job.c_str() + prefix.size()));
  struct stat info {};
  const bool here = launcher > 0 && ::stat(proc(launcher, "").c_str(), &info) == 0 &&
                    info.st_uid == ::geteuid() && program_of(launcher) == program_of(::getpid());
  return here ? launcher : parent;
}

void describe_process(RankView& view, const ProcessStat& stat) {
  view.process_state = stat.state;
  view.processor_ns = stat.processor_ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  uint64_t size = 0, resident = 0, shared = 0;
  std::istringstream(file_text(proc(living_thread(view.pid, stat), "statm"))) >> size >> resident >>
      shared;
  view.resident = resident * ::sysconf(_SC_PAGESIZE);
  view.shared = shared * ::sysconf(_SC_PAGESIZE);
}

Traffic<uint64_t> copy(const StatusPage::Counts& from) {
  Traffic<uint64_t> out;
  std::transform(from.begin(), from.end(), out.of.begin(),
                 [](const auto& count) { return count.load(std::memory_order_relaxed); });
  return out;
}

// The last answer, whole: it is written over when another two have begun.
void read_counts(RankView& view, StatusPage& page, uint32_t peers) {
  for (uint32_t turn = 0; turn != page.turn.load(std::memory_order_acquire);) {
    turn = page.turn.load(std::memory_order_acquire);
    const StatusPage::Answer& answer = page.answers[turn % 2];
    view.taken_ns = answer.taken_ns.load(std::memory_order_relaxed);
    view.connections = answer.connections.load(std::memory_order_relaxed);
    view.total = copy(answer.all);
    view.peers.clear();
    for (uint32_t r = 0; r < peers; ++r) {
      const Traffic<uint64_t> traffic = copy(page.of_peers(turn % 2, peers)[r]);
      if (traffic.operations() != 0) view.peers[r] = traffic;
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // the copy is made before the second look
  }
}

void read_waits(RankView& view, const StatusPage& page) {
  for (const WaitEntry& entry : page.waits) {
    WaitEntry::Told wait;
    if (entry.read(wait)) view.waits.push_back(wait);
  }
  std::sort(view.waits.begin(), view.waits.end(),
            [](const auto& a, const auto& b) { return a.since_ns < b.since_ns; });
}

double since(uint64_t then, uint64_t now) {
  return then < now ? static_cast<double>(now - then) / kNs : 0;
}

}  // namespace

double RankView::waited_s() const {
  if (waits.empty()) return phase == StatusPage::starts && !stopped() ? age_s() : 0;
  return since(waits[0].since_ns, looked_ns);
}
double RankView::age_s() const {
  return since(began_ns, looked_ns);
}

const char* RankView::state() const {
  if (stopped()) return "stopped";
  if (phase == StatusPage::leaves) return "ends";
  if (!waits.empty()) return "waits";
  return phase == StatusPage::starts ? "starts" : "computes";
}

void RankView::compare(const RankView& before) {
  const double looked = since(before.looked_ns, looked_ns);
  processor = static_cast<double>(processor_ns - before.processor_ns) / kNs / looked;
  seconds = before.taken_ns == 0 ? 0 : since(before.taken_ns, taken_ns);
  if (seconds <= 0) return;
  for (size_t i = 0; i < total.of.size(); ++i)
    per_s.of[i] = static_cast<double>(total.of[i] - before.total.of[i]) / seconds;
  for (const auto& [peer, traffic] : peers) {
    const auto old = before.peers.find(peer);
    const uint64_t then = old != before.peers.end() ? old->second.bytes() : 0;
    peer_bytes_per_s[peer] = static_cast<double>(traffic.bytes() - then) / seconds;
  }
}

// ---- finding and reading pages ----

void JobViewer::Unmap::operator()(void* at) const {
  ::munmap(at, bytes);
}

// True when it was one of these pages.
bool JobViewer::take_page(pid_t pid, uint64_t started, int fd) {
  struct stat info {};
  constexpr off_t kEveryVersion = 16;
  if (::fstat(fd, &info) != 0 || info.st_size < kEveryVersion) return false;
  if ((::fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0) return false;
  const auto bytes = static_cast<size_t>(info.st_size);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  Page page{{static_cast<StatusPage*>(at), {bytes}}, 0, started, {}};
  if (page.at->magic.load(std::memory_order_acquire) != StatusPage::kMagic) return false;
  if (page.at->version != StatusPage::kVersion) {
    if (refused_.insert(pid).second)
      fmt::print(stderr,
                 "causeway: process {} ({}) shows its state in version {}, and this command reads "
                 "version {}: use the command of its own installation\n",
                 pid, program_of(pid), page.at->version, StatusPage::kVersion);
    return true;
  }
  if (bytes < sizeof(StatusPage)) return false;
  page.peers = page.at->peers;
  if (page.peers > StatusPage::kMostPeers || bytes < StatusPage::bytes(page.peers)) return false;
  // A child that a rank has forked has its descriptors.
  if (page.at->pid == static_cast<uint32_t>(pid)) pages_.emplace(pid, std::move(page));
  return true;
}

void JobViewer::look_for_page(pid_t pid, pid_t thread, uint64_t started) {
  const std::string target = fmt::format("/memfd:{} (deleted)", StatusPage::kName);
  const std::string directory = proc(thread, "fd");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    char name[64];
    const ssize_t length = ::readlinkat(::dirfd(entries.get()), entry->d_name, name, sizeof name);
    if (length < 0 || target != std::string_view(name, static_cast<size_t>(length))) continue;
    const UniqueFd fd(::openat(::dirfd(entries.get()), entry->d_name, O_RDWR | O_CLOEXEC));
    if (fd && take_page(pid, started, fd.get())) return;
  }
}

// Descriptors of processes are for their user alone, root excepted, who sees its own too.
void JobViewer::find_pages() {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (processes == nullptr) return;
  std::map<pid_t, Page> known = std::exchange(pages_, {});
  while (const dirent* entry = ::readdir(processes.get())) {
    const auto pid = static_cast<pid_t>(std::atol(entry->d_name));
    struct stat info {};
    if (pid <= 0 || ::fstatat(::dirfd(processes.get()), entry->d_name, &info, 0) != 0) continue;
    if (info.st_uid != ::geteuid()) continue;
    const ProcessStat stat(pid);
    const auto page = known.find(pid);
    if (page != known.end() && page->second.started == stat.started)
      pages_.insert(known.extract(page));
    else
      look_for_page(pid, living_thread(pid, stat), stat.started);
  }
}

Jobs JobViewer::look(const std::string& wanted, uint64_t patience_ns) {
  find_pages();
  Jobs jobs;
  for (const auto& [pid, page] : pages_) {
    const ProcessStat stat(pid);
    if (stat.started != page.started) continue;
    RankView view;
    view.pid = pid;
    view.job = plain({page.at->job, ::strnlen(page.at->job, sizeof page.at->job)});
    view.launcher = launcher_of(view.job, stat.parent);
    view.phase = page.at->phase.load(std::memory_order_acquire);
    describe_process(view, stat);
    jobs[view.job].push_back(std::move(view));
  }
  std::erase_if(jobs, [&](const auto& job) {
    return !wanted.empty() && job.first != wanted &&
           std::none_of(job.second.begin(), job.second.end(), [&](const RankView& r) {
             return std::to_string(r.launcher) == wanted || std::to_string(r.pid) == wanted;
           });
  });
  std::map<StatusPage*, uint32_t> asked;  // the numbers of the questions
  for (auto& [id, ranks] : jobs) {
    for (const RankView& r : ranks) {
      if (r.phase != StatusPage::runs || r.stopped()) continue;
      StatusPage* const page = pages_.at(r.pid).at.get();
      asked[page] = page->asked.fetch_add(1, std::memory_order_acq_rel) + 1;
      ::syscall(SYS_futex, &page->asked, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
  }
  const uint64_t until = now_ns() + patience_ns;
  for (const auto& [page, number] : asked)
    while (static_cast<int32_t>(page->answered.load(std::memory_order_acquire) - number) < 0 &&
           now_ns() < until)
      ::usleep(500);
  for (auto& [id, ranks] : jobs) {
    for (RankView& view : ranks) read_page(view);
    std::sort(ranks.begin(), ranks.end(), [](auto& a, auto& b) { return a.rank < b.rank; });
  }
  return jobs;
}

void JobViewer::read_page(RankView& view) {
  Page& page = pages_.at(view.pid);
  view.program = program_of(view.pid);
  view.rank = page.at->rank;
  view.ranks = page.at->ranks;
  view.ranks_here = page.at->ranks_here;
  view.epoch = page.at->epoch;
  view.began_ns = page.at->began_ns;
  read_waits(view, *page.at);
  read_counts(view, *page.at, page.peers);
  view.looked_ns = now_ns();
  if (page.last.looked_ns != 0) view.compare(page.last);
  page.last = view;
}

// ---- words ----

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string amount_text(double n) {
  const char* unit = " kMGTP";
  for (; n >= 999.5 && unit[1] != '\0'; ++unit) n /= 1000;
  if (*unit == ' ') return fmt::format("{:.0f}", n);
  return fmt::format("{:.{}f}{}", n, n < 9.95 ? 1 : 0, *unit);
}

std::string state_text(const RankView& rank) {
  const std::string word = rank.state();
  if (rank.waits.empty())
    return word == "starts" ? word + " " + duration_text(rank.waited_s()) : word;
  const size_t more = rank.waits.size() - 1;
  const char* const at_least = rank.waits.size() == WaitEntries{}.size() ? "at least " : "";
  return fmt::format("{} {} in {} for {}{}", word == "waits" ? word : word + ", waits",
                     duration_text(rank.waited_s()), plain(rank.waits[0].call),
                     plain(rank.waits[0].what),
                     more == 0 ? "" : fmt::format("; {}{} threads more wait", at_least, more));
}

namespace {

// Several hosts of a job may be on one machine, as network namespaces.
size_t ranks_elsewhere(const std::vector<RankView>& ranks) {
  const size_t here = std::max<size_t>(ranks.size(), ranks[0].ranks_here);
  return ranks[0].ranks - std::min<size_t>(ranks[0].ranks, here);
}

// The lowest of the job's ranks that is not among `ranks`, which are in order.
uint32_t first_missing(const std::vector<RankView>& ranks) {
  uint32_t rank = 0;
  while (rank < ranks.size() && ranks[rank].rank == rank) ++rank;
  return rank;
}

}  // namespace

std::string state_text(const std::vector<RankView>& ranks) {
  std::map<std::string, std::pair<size_t, double>> words;  // ranks, and how long at most
  for (const RankView& rank : ranks) {
    auto& [count, longest] = words[rank.state()];
    ++count;
    longest = std::max(longest, rank.waited_s());
  }
  std::vector<std::string> parts;
  const size_t missing = ranks[0].ranks_here - std::min<size_t>(ranks[0].ranks_here, ranks.size());
  if (missing != 0) {
    // While all others are in the start, those that are missing have not come yet.
    const bool all_start = std::all_of(ranks.begin(), ranks.end(), [](const RankView& rank) {
      return rank.phase == StatusPage::starts;
    });
    const bool named = missing == 1 && ranks[0].ranks_here == ranks[0].ranks;
    parts.push_back(fmt::format(
        "{} {}", named ? fmt::format("rank {}", first_missing(ranks)) : fmt::to_string(missing),
        all_start ? "not here yet" : "ended"));
  }
  for (const auto& [word, of] : words)
    parts.push_back((words.size() + parts.size() > 1 ? fmt::format("{} ", of.first) : "") + word +
                    (of.second > 0 ? " " + duration_text(of.second) : ""));
  if (const size_t elsewhere = ranks_elsewhere(ranks); elsewhere != 0)
    parts.push_back(fmt::format("{} elsewhere", elsewhere));
  return fmt::format("{}", fmt::join(parts, ", "));
}

int say_unknown(const char* command, const std::string& job) {
  fmt::print(stderr,
             "causeway {}: no job '{}' of this user has ranks on this host; `causeway ps` lists "
             "those that have\n",
             command, job);
  return kFailed;
}

// ---- JSON ----

namespace {

template <typename T>
std::string json_of(const Traffic<T>& traffic) {
  return fmt::format(R"("sent":{},"sent_bytes":{},"received":{},"received_bytes":{},"retries":{})",
                     traffic.of[StatusPage::sent], traffic.of[StatusPage::sent_bytes],
                     traffic.of[StatusPage::received], traffic.of[StatusPage::received_bytes],
                     traffic.of[StatusPage::retries]);
}

std::string json_of(const RankView& rank) {
  std::string out = fmt::format(
      R"({{"rank":{},"pid":{},"epoch":{},"state":"{}","resident_bytes":{},"shared_bytes":{},)"
      R"("processor_s":{:.2f},"waits":)",
      rank.rank, rank.pid, rank.epoch, rank.state(), rank.resident, rank.shared,
      static_cast<double>(rank.processor_ns) / kNs);
  out += json_each(rank.waits, [&](const WaitEntry::Told& wait) {
    return fmt::format(R"({{"call":{},"for":{},"seconds":{:.3f},"thread":{}}})",
                       json_text(plain(wait.call)), json_text(plain(wait.what)),
                       since(wait.since_ns, rank.looked_ns), wait.thread);
  });
  if (rank.taken_ns != 0)
    out += fmt::format(R"(,"counted_s_ago":{:.3f},"connections":{},{})",
                       since(rank.taken_ns, rank.looked_ns), rank.connections, json_of(rank.total));
  if (rank.seconds > 0)
    out +=
        fmt::format(R"(,"processor":{:.3f},"per_s":{{{}}})", rank.processor, json_of(rank.per_s));
  return out + ",\"peers\":" +
         json_each(rank.peers,
                   [&](const auto& peer) {
                     const auto rate = rank.peer_bytes_per_s.find(peer.first);
                     return fmt::format(
                         R"({{"rank":{},{}{}}})", peer.first, json_of(peer.second),
                         rate == rank.peer_bytes_per_s.end()
                             ? ""
                             : fmt::format(R"(,"bytes_per_s":{:.1f})", rate->second));
                   }) +
         "}";
}

}  // namespace

std::string json_of(const Jobs& jobs) {
  return json_each(jobs, [&](const auto& job) {
    const RankView& first = job.second[0];
    return fmt::format(
        R"({{"job":{},"launcher":{},"program":{},"ranks":{},"ranks_here":{},"ranks_elsewhere":{},)"
        R"("age_s":{:.1f},"state":"{}","processes":{}}})",
        json_text(job.first), first.launcher, json_text(first.program), first.ranks,
        job.second.size(), ranks_elsewhere(job.second), first.age_s(), state_text(job.second),
        json_each(job.second, [](const RankView& rank) { return json_of(rank); }));
  });
}

}  // namespace causeway::command
