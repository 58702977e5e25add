#include "job_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "base/clock.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "commands.h"
#include "spawn/job_id.h"
#include "spawn/job_words.h"
#include "text.h"

namespace causeway::command {
namespace {

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
  pid_t parent = 0, group = 0;
  // `stack`: where it begins, elsewhere after each exec.
  uint64_t processor_ticks = 0, started = 0, stack = 0;

  explicit ProcessStat(pid_t pid) {
    const std::string text = file_text(proc(pid, "stat"));
    const size_t name = text.rfind(')');
    if (name == std::string::npos) return;
    std::istringstream words(text.substr(name + 1));
    words >> state >> parent >> group;
    std::string word;
    for (int field = 6; words >> word; ++field) {
      const uint64_t number = std::strtoull(word.c_str(), nullptr, 10);
      if (field == 14 || field == 15) processor_ticks += number;
      if (field == 22) started = number;
      if (field == 28) stack = number;
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

// Its number in its own pid namespace.
pid_t own_number(pid_t pid) {
  std::istringstream lines(file_text(proc(pid, "status")));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("NSpid:"))
      return static_cast<pid_t>(std::atol(line.c_str() + line.rfind('\t') + 1));
  return pid;
}

// Its now_ns() less that of this process: time namespaces have clocks of their own.
uint64_t clock_ahead(pid_t pid) {
  const auto offset = [](const std::string& process) {
    std::istringstream words(file_text("/proc/" + process + "/timens_offsets"));
    std::string clock;
    int64_t seconds = 0, ns = 0;
    words >> clock >> seconds >> ns;  // "monotonic" is the first
    return static_cast<uint64_t>(seconds * 1'000'000'000 + ns);
  };
  return offset(std::to_string(pid)) - offset("self");
}

std::string program_of(pid_t pid) {
  const std::string words = file_text(proc(living_thread(pid, ProcessStat(pid)), "cmdline"));
  const std::string first = words.substr(0, words.find('\0'));
  return plain(first.substr(first.rfind('/') + 1));
}

// Reads what the launcher gives a rank alone, and not what a rank has started: its children are in
// its process group, or have another parent. False: it is no such process.
bool read_mark(RankView& view, const ProcessStat& stat) {
  static const std::string command = program_of(::getpid());
  if (stat.group != view.pid || program_of(stat.parent) != command) return false;
  std::istringstream entries(file_text(proc(living_thread(view.pid, stat), "environ")));
  for (std::string entry; std::getline(entries, entry, '\0');) {
    const std::string_view text = entry;
    const std::string value = entry.substr(std::min(entry.find('='), entry.size() - 1) + 1);
    if (text.starts_with("PMIX_RANK=")) view.rank = static_cast<uint32_t>(std::atol(value.c_str()));
    if (text.starts_with(std::string(kJobVariable) + "=")) {
      view.ranks = number_of_job(value, "ranks").value_or(0);
      view.ranks_here = number_of_job(value, "hosts") == 1u ? view.ranks : 0;
    }
    if (text.starts_with("CAUSEWAY_SESSION_DIR=")) {
      const std::string name = value.substr(value.rfind('/') + 1);
      view.job = plain(name.substr(0, name.find('.')));  // behind a point: a relay's host
    }
  }
  view.outside = true;
  const auto ticks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  timespec up{};  // the clock in which the kernel tells of starts
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  const auto up_ns =
      static_cast<uint64_t>(up.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(up.tv_nsec);
  view.began_ns = now_ns() - up_ns + stat.started * (1'000'000'000 / ticks);
  return !view.job.empty() && view.ranks != 0;
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
  std::ranges::transform(from, out.of.begin(),
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
    view.handlers = answer.handlers.load(std::memory_order_relaxed);
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
  std::ranges::sort(view.waits,
                    [](const auto& a, const auto& b) { return a.since_ns < b.since_ns; });
}

}  // namespace

double since(uint64_t then, uint64_t now) {
  return then < now ? static_cast<double>(now - then) / 1e9 : 0;
}

double RankView::waited_s() const {
  const bool starts = phase == StatusPage::starts && !outside && !stopped();
  if (waits.empty()) return starts ? age_s() : 0;
  return since(waits[0].since_ns, looked_ns);
}
double RankView::age_s() const {
  return since(began_ns, looked_ns);
}

const char* RankView::state() const {
  if (stopped()) return "stopped";
  if (outside) return "outside the library";
  if (phase == StatusPage::leaves) return "ends";
  if (!waits.empty()) return "waits";
  if (phase == StatusPage::starts) return "starts";
  return handlers != 0 ? "runs a handler" : "computes";
}

void RankView::compare(const RankView& before) {
  const double looked = since(before.looked_ns, looked_ns);
  processor = static_cast<double>(processor_ns - before.processor_ns) / 1e9 / looked;
  seconds = before.taken_ns == 0 ? 0 : since(before.taken_ns, taken_ns);
  if (seconds <= 0) return;
  const auto rates = [this](const Traffic<uint64_t>& now, const Traffic<uint64_t>& then) {
    Traffic<double> out;
    for (size_t i = 0; i < now.of.size(); ++i)
      out.of[i] = static_cast<double>(now.of[i] - then.of[i]) / seconds;
    return out;
  };
  per_s = rates(total, before.total);
  for (const auto& [peer, traffic] : peers) {
    const auto old = before.peers.find(peer);
    peers_per_s[peer] =
        rates(traffic, old != before.peers.end() ? old->second : Traffic<uint64_t>{});
  }
}

// ---- finding and reading pages ----

void JobViewer::Unmap::operator()(void* at) const {
  ::munmap(at, bytes);
}

// True when it was one of these pages.
bool JobViewer::take_page(pid_t pid, int fd) {
  struct stat info {};
  constexpr off_t kEveryVersion = 16;
  if (::fstat(fd, &info) != 0 || info.st_size < kEveryVersion) return false;
  if ((::fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0) return false;
  const auto bytes = static_cast<size_t>(info.st_size);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  Page page{{static_cast<StatusPage*>(at), {bytes}}, 0, 0, 0, {}, {}};
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
  if (page.at->pid == static_cast<uint32_t>(own_number(pid))) pages_.emplace(pid, std::move(page));
  return true;
}

bool JobViewer::look_for_page(pid_t pid, pid_t thread) {
  const std::string target = fmt::format("/memfd:{} (deleted)", StatusPage::kName);
  const std::string directory = proc(thread, "fd");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return false;
  while (const dirent* entry = ::readdir(entries.get())) {
    char name[64];
    const ssize_t length = ::readlinkat(::dirfd(entries.get()), entry->d_name, name, sizeof name);
    if (length < 0 || target != std::string_view(name, static_cast<size_t>(length))) continue;
    const UniqueFd fd(::openat(::dirfd(entries.get()), entry->d_name, O_RDWR | O_CLOEXEC));
    if (fd && take_page(pid, fd.get())) return true;
  }
  return false;
}

// Descriptors of processes are for their user alone, root excepted, who sees its own too.
void JobViewer::find_pages() {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (processes == nullptr || ::faccessat(::dirfd(processes.get()), "stat", F_OK, 0) != 0)
    throw Error(CWY_ERR_UNSUPPORTED, "ranks are found in /proc, which is not mounted here");
  std::map<pid_t, Page> known = std::exchange(pages_, {});
  spares_.clear();
  while (const dirent* entry = ::readdir(processes.get())) {
    const auto pid = static_cast<pid_t>(std::atol(entry->d_name));
    struct stat info {};
    if (pid <= 0 || ::fstatat(::dirfd(processes.get()), entry->d_name, &info, 0) != 0) continue;
    if (info.st_uid != ::geteuid()) continue;
    const ProcessStat stat(pid);
    auto page = known.extract(pid);
    const bool same = !page.empty() && page.mapped().started == stat.started;
    if (same && page.mapped().at != nullptr && page.mapped().stack == stat.stack) {
      pages_.insert(std::move(page));
      continue;
    }
    RankView outside;
    outside.pid = pid;
    if (!look_for_page(pid, living_thread(pid, stat)) && read_mark(outside, stat)) {
      if (outside.rank < outside.ranks)
        pages_[pid].mark = std::move(outside);
      else
        ++spares_[outside.job];
    }
    const auto found = pages_.find(pid);
    if (found == pages_.end()) continue;
    found->second.started = stat.started;
    found->second.stack = stat.stack;
    if (same) found->second.last = std::move(page.mapped().last);
  }
}

// By rank, each process outside the library beside none that is in it, or came before it: a shell
// that has started the program, what a rank has left running.
static void put_in_order(std::vector<RankView>& ranks) {
  const auto place = [](const RankView& r) { return std::tuple(r.rank, r.outside, r.began_ns); };
  std::ranges::sort(ranks, [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto same = [](const auto& a, const auto& b) { return a.rank == b.rank && b.outside; };
  ranks.erase(std::unique(ranks.begin(), ranks.end(), same), ranks.end());
  uint32_t here = 0;  // which a process outside may not know
  for (const RankView& rank : ranks) here = std::max(here, rank.ranks_here);
  for (RankView& rank : ranks) rank.ranks_here = here;
}

Jobs JobViewer::look(const std::string& wanted, uint64_t patience_ns) {
  find_pages();
  Jobs jobs;
  for (const auto& [pid, page] : pages_) {
    const ProcessStat stat(pid);
    if (stat.started != page.started) continue;
    RankView view = page.mark;
    view.pid = pid;
    if (page.at != nullptr) {
      view.job = plain({page.at->job, ::strnlen(page.at->job, sizeof page.at->job)});
      view.phase = page.at->phase.load(std::memory_order_acquire);
    }
    view.launcher = launcher_of(view.job, stat.parent);
    describe_process(view, stat);
    jobs[view.job].push_back(std::move(view));
  }
  std::erase_if(jobs, [&](const auto& job) {
    return !wanted.empty() && job.first != wanted &&
           std::ranges::none_of(job.second, [&](const RankView& r) {
             return std::to_string(r.launcher) == wanted || std::to_string(r.pid) == wanted;
           });
  });
  std::map<StatusPage*, uint32_t> asked;  // the numbers of the questions
  for (auto& [id, ranks] : jobs) {
    for (const RankView& r : ranks) {
      if (r.outside || r.phase != StatusPage::runs || r.stopped()) continue;
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
    put_in_order(ranks);
    ranks[0].spares = spares_[id];
  }
  return jobs;
}

void JobViewer::read_page(RankView& view) {
  Page& page = pages_.at(view.pid);
  view.program = program_of(view.pid);
  if (page.at != nullptr) {
    const uint64_t ahead = clock_ahead(view.pid);
    view.rank = page.at->rank;
    view.ranks = page.at->ranks;
    view.ranks_here = page.at->ranks_here;
    view.epoch = page.at->epoch;
    view.began_ns = page.at->began_ns - ahead;
    read_waits(view, *page.at);
    for (WaitEntry::Told& wait : view.waits) wait.since_ns -= ahead;
    read_counts(view, *page.at, page.peers);
    if (view.taken_ns != 0) view.taken_ns -= ahead;
    if (since(view.taken_ns, now_ns()) > 2) view.handlers = 0;  // it has not counted since
  }
  view.looked_ns = now_ns();
  if (page.last.looked_ns != 0) view.compare(page.last);
  page.last = view;
}

}  // namespace causeway::command
