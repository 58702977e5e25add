#include "launch/pmix_server.h"

#include <fmt/ranges.h>
#include <netinet/in.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error.h"
#include "launch/gate.h"
#include "launch/siphash.h"
#include "launch/watch.h"
#include "spawn/job_words.h"
#include "spawn/limits.h"
#include "spawn/pipes.h"
#include "spawn/prompt_sockets.h"

namespace causeway::launch {
namespace {

// PMIx hands no context to most upcalls. Written before PMIx_server_init starts the thread that
// reads it, and never again while that thread lives.
PmixServer* g_server = nullptr;

class InfoList {
 public:
  explicit InfoList(size_t capacity) : size_(capacity) { PMIX_INFO_CREATE(items_, capacity); }
  ~InfoList() { PMIX_INFO_FREE(items_, size_); }
  InfoList(const InfoList&) = delete;

  template <typename T>
  void add(const char* key, const T* value, pmix_data_type_t type) {
    PMIX_INFO_LOAD(&items_[used_], key, value, type);
    ++used_;
  }
  void add_u32(const char* key, uint32_t value) { add(key, &value, PMIX_UINT32); }
  void add_text(const char* key, const char* value) { add(key, value, PMIX_STRING); }

  pmix_info_t* data() { return items_; }
  size_t size() const { return used_; }

 private:
  pmix_info_t* items_ = nullptr;
  size_t size_;
  size_t used_ = 0;
};

void check(pmix_status_t status, const char* what) {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw Error(
        CWY_ERR_UNREACHABLE,
        "the PMIx server library failed to {}: {}; it needs a loopback interface with IPv4 that is "
        "up (ip link set lo up), memory (ulimit -v), some dozens of descriptors and one a rank "
        "(ulimit -n), and no PMIX_MCA_ variables that it does not know",
        what, PMIx_Error_string(status));
}

pmix_proc_t make_proc(const std::string& nspace, pmix_rank_t rank) {
  pmix_proc_t proc;
  PMIX_PROC_CONSTRUCT(&proc);
  PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
  return proc;
}

std::vector<std::string> host_names(const JobLayout& layout) {
  if (!layout.hosts.empty()) return layout.hosts;
  char own_name[256] = "localhost";
  ::gethostname(own_name, sizeof own_name - 1);
  return {own_name};
}

// nullptr: nothing of that type stands under the key.
const pmix_value_t* value_in(const char* key, pmix_data_type_t type, const pmix_info_t* info,
                             size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (PMIX_CHECK_KEY(&info[i], key) && info[i].value.type == type) return &info[i].value;
  return nullptr;
}

// The code of a rank that leaves.
int code_in(const pmix_info_t* info, size_t count) {
  const pmix_value_t* code = value_in(kCodeKey, PMIX_UINT32, info, count);
  return code != nullptr ? static_cast<int>(code->data.uint32 & 0xff) : PmixReport::kAlone;
}

}  // namespace

struct PmixUpcalls {
  static void queue(PmixReport::Kind kind, const pmix_proc_t* proc, int status = 0,
                    const char* line = nullptr) {
    if (g_server == nullptr) return;
    PmixReport report(kind);
    report.process = proc->rank;
    report.status = status;
    report.line = line == nullptr ? "" : line;
    g_server->report(std::move(report));
  }

  static pmix_status_t connected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t,
                                 pmix_op_cbfunc_t, void*) {
    queue(PmixReport::Kind::connected, proc);
    return PMIX_OPERATION_SUCCEEDED;
  }

  static pmix_status_t finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    queue(PmixReport::Kind::finalized, proc);
    return PMIX_OPERATION_SUCCEEDED;
  }

  static pmix_status_t abort(const pmix_proc_t* proc, void*, int status, const char* line,
                             pmix_proc_t*, size_t, pmix_op_cbfunc_t, void*) {
    queue(PmixReport::Kind::aborted, proc, status, line);
    return PMIX_OPERATION_SUCCEEDED;
  }

  // The library has collected what the participants of this host contribute, unless one of them is
  // gone: the library takes it out of later fences, which must fail instead. Only the supervision
  // loop knows who lives, and only it can reach the other hosts.
  static pmix_status_t fence(const pmix_proc_t* procs, size_t count, const pmix_info_t*, size_t,
                             char* data, size_t size, pmix_modex_cbfunc_t done, void* context) {
    if (g_server == nullptr) return PMIX_ERR_INIT;
    PmixReport report(PmixReport::Kind::fence);
    for (size_t i = 0; i < count; ++i) {
      if (procs[i].rank == PMIX_RANK_WILDCARD) {
        report.participants.clear();
        break;
      }
      report.participants.push_back(procs[i].rank);
    }
    std::ranges::sort(report.participants);
    if (data != nullptr) report.data.assign(data, size);
    std::free(data);
    report.answer = [done, context, own = report.data](bool complete, const std::string* all) {
      auto* answer = new std::string(all != nullptr ? *all : own);
      done(complete ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION, answer->data(), answer->size(),
           context, &delete_text, answer);
    };
    g_server->report(std::move(report));
    return PMIX_SUCCESS;
  }

  // Asked for data of a process that no process of this host has published.
  static pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t* info, size_t count,
                                    pmix_modex_cbfunc_t done, void* context) {
    if (g_server == nullptr || !PMIX_CHECK_NSPACE(proc->nspace, g_server->namespace_.c_str()))
      return PMIX_ERR_NOT_FOUND;
    if (proc->rank >= g_server->processes_) return PMIX_ERR_NOT_FOUND;
    PmixReport report(PmixReport::Kind::modex);
    report.process = proc->rank;
    if (const pmix_value_t* limit = value_in(PMIX_TIMEOUT, PMIX_INT, info, count))
      report.limit_s = limit->data.integer;
    report.supply = [done, context](const std::optional<std::string>& data) {
      auto* answer = new std::string(data.value_or(""));
      done(data ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, answer->data(), answer->size(), context,
           &delete_text, answer);
    };
    g_server->report(std::move(report));
    return PMIX_SUCCESS;
  }

  static void data_is_there(pmix_status_t status, char* data, size_t size, void* context) {
    if (g_server == nullptr) return;
    PmixReport report(PmixReport::Kind::modex_data);
    report.question = reinterpret_cast<uintptr_t>(context);
    report.found = status == PMIX_SUCCESS;
    if (report.found && data != nullptr) report.data.assign(data, size);
    g_server->report(std::move(report));
  }

  static void delete_text(void* text) { delete static_cast<std::string*>(text); }

  static pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t*, size_t,
                                       pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
  static pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
  static pmix_status_t notify(pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t,
                              pmix_info_t* info, size_t count, pmix_op_cbfunc_t, void*) {
    if (code == kStartedEvent) queue(PmixReport::Kind::started, source);
    if (code == kLeavingEvent) queue(PmixReport::Kind::leaving, source, code_in(info, count));
    if (code == kLetGoOnEvent) {
      const pmix_value_t* rank = value_in(kRankKey, PMIX_UINT32, info, count);
      if (rank != nullptr)
        queue(PmixReport::Kind::let_go_on, source, static_cast<int>(rank->data.uint32));
    }
    return PMIX_OPERATION_SUCCEEDED;
  }
};

namespace {

// The library's listening thread waits for a socket that it did not get, which ends the process.
void demand_listening() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return;  // the library has others
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  const bool bound = ::bind(socket.get(), address, length) == 0;
  if (!bound && errno == EADDRNOTAVAIL) return;  // the library says what it needs
  demand_call(bound, "bind");
  demand_call(::listen(socket.get(), 1) == 0, "listen");
  demand_call(::getsockname(socket.get(), address, &length) == 0, "getsockname");
}

void start_library(const std::string& directory, const JobLayout& layout, uint32_t host) {
  static pmix_server_module_t module{};
  module.client_connected2 = &PmixUpcalls::connected;
  module.client_finalized = &PmixUpcalls::finalized;
  module.abort = &PmixUpcalls::abort;
  module.fence_nb = &PmixUpcalls::fence;
  module.direct_modex = &PmixUpcalls::direct_modex;
  module.register_events = &PmixUpcalls::register_events;
  module.deregister_events = &PmixUpcalls::deregister_events;
  module.notify_event = &PmixUpcalls::notify;

  drop_outer_pmix_variables();
  // The hash store keeps job data in the server's memory: no shared-memory files to be left behind.
  ::setenv("PMIX_MCA_gds", "hash", 0);
  ::setenv("PMIX_MCA_ptl_base_if_include", "lo", 0);
  // The library looks at the machine through hwloc, whose plugins ask ten X displays for graphics
  // cards: name lookups, each of seconds where "localhost" is not in a file. The directory of the
  // session holds no plugins.
  ::setenv("HWLOC_PLUGINS_PATH", directory.c_str(), 0);

  InfoList info(6);
  // Hosts go by the names of the host file: two of them may be one machine to the kernel.
  if (!layout.hosts.empty()) info.add_text(PMIX_HOSTNAME, layout.hosts[host].c_str());
  info.add_text(PMIX_SERVER_TMPDIR, directory.c_str());
  info.add_text(PMIX_SYSTEM_TMPDIR, directory.c_str());
  const bool no = false;
  info.add(PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
  guard_connections();
  demand_affinity();
  demand_listening();
  check(PMIx_server_init(&module, info.data(), info.size()), "start");
  send_promptly(is_listening);
}

// A client that names it is a rank to the library. The name of the job stands in names of files;
// the rest is known to those alone who may read a rank's environment.
std::string namespace_of(const JobLayout& layout) {
  Key key{};
  layout.job_key.copy(reinterpret_cast<char*>(key.data()), key.size());
  return fmt::format("{}.{:02x}", layout.job_id, fmt::join(siphash(key, "PMIx"), ""));
}

// No map of hosts and ranks: every rank would keep 1.6 KB of each other one (PMIx 4.2).
void register_job(const JobLayout& layout, const std::string& name, uint32_t host) {
  const std::vector<std::string> hosts = host_names(layout);
  const std::vector<uint32_t> local = layout.on_host(host);
  const std::string peers = fmt::format("{}", fmt::join(local, ","));
  InfoList info(16);
  info.add_u32(PMIX_UNIV_SIZE, layout.processes());
  info.add_u32(PMIX_JOB_SIZE, layout.processes());
  info.add_u32(PMIX_MAX_PROCS, layout.processes());
  info.add_u32(PMIX_LOCAL_SIZE, static_cast<uint32_t>(local.size()));
  info.add_u32(PMIX_NODE_SIZE, static_cast<uint32_t>(local.size()));
  info.add_u32(PMIX_NUM_NODES, static_cast<uint32_t>(hosts.size()));
  info.add_u32(PMIX_JOB_NUM_APPS, 1);
  const pmix_rank_t leader = local.empty() ? 0 : local.front();
  info.add(PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
  info.add_text(PMIX_LOCAL_PEERS, peers.c_str());
  info.add_text(kLayoutKey, layout.words().c_str());
  info.add_text(kHostKey, std::to_string(host).c_str());
  info.add_text(kHostNameKey, hosts[host].c_str());
  // PMIx 4.2 refuses its clients where nothing is known of the last process.
  InfoList last(2);
  const pmix_rank_t last_rank = layout.processes() - 1;
  last.add(PMIX_RANK, &last_rank, PMIX_PROC_RANK);
  last.add_u32(PMIX_APPNUM, 0);
  const pmix_data_array_t facts{PMIX_INFO, last.size(), last.data()};
  info.add(PMIX_PROC_DATA, &facts, PMIX_DATA_ARRAY);
  info.add_text(PMIX_JOBID, layout.job_id.c_str());
  pmix_byte_object_t key{const_cast<char*>(layout.job_key.data()), layout.job_key.size()};
  info.add(kJobKey, &key, PMIX_BYTE_OBJECT);
  check(PMIx_server_register_nspace(name.c_str(), static_cast<int>(local.size()), info.data(),
                                    info.size(), nullptr, nullptr),
        "register the job");
  for (const uint32_t process : local) {
    const pmix_proc_t proc = make_proc(name, process);
    check(PMIx_server_register_client(&proc, ::getuid(), ::getgid(), nullptr, nullptr, nullptr),
          "register a rank");
  }
}

}  // namespace

PmixServer::PmixServer(const std::string& directory, const JobLayout& layout, uint32_t host)
    : namespace_(namespace_of(layout)),
      processes_(layout.processes()),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  g_server = this;
  start_library(directory, layout, host);
  register_job(layout, namespace_, host);
}

PmixServer::~PmixServer() {
  PMIx_server_finalize();
  stop_guarding();
  g_server = nullptr;
}

std::vector<std::string> PmixServer::client_environment(uint32_t process) const {
  const pmix_proc_t proc = make_proc(namespace_, process);
  char** list = nullptr;
  check(PMIx_server_setup_fork(&proc, &list), "prepare a rank's environment");
  std::vector<std::string> result;
  for (char** entry = list; entry != nullptr && *entry != nullptr; ++entry) {
    result.emplace_back(*entry);
    std::free(*entry);
  }
  std::free(list);
  return result;
}

void PmixServer::report(PmixReport what) {
  {
    const std::lock_guard lock(mutex_);
    reports_.push_back(std::move(what));
  }
  wake(event_.get());
}

std::vector<PmixReport> PmixServer::take_reports() {
  discard_input(event_.get());
  const std::lock_guard lock(mutex_);
  std::vector<PmixReport> taken(std::make_move_iterator(reports_.begin()),
                                std::make_move_iterator(reports_.end()));
  reports_.clear();
  return taken;
}

// Blocking form of the notification: the library copies what it is given before it returns. A
// failure leaves the ranks to notice a death through SIGQUIT, which follows anyway.
void PmixServer::announce(const Announcement& what) {
  const pmix_proc_t proc = make_proc(namespace_, what.process);
  InfoList info(3);
  info.add(PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
  pmix_status_t event = kAllLeaveEvent;
  // The library keeps an event from the process that it names as its source, and the new process
  // has to hear of its place, as every one of the end.
  pmix_proc_t source = proc;
  switch (what.kind) {
    case Announcement::Kind::death:
      event = PMIX_ERR_PROC_ABORTED;
      info.add_text(PMIX_EVENT_TEXT_MESSAGE, what.how.c_str());
      break;
    case Announcement::Kind::replacement:
      event = kReplacedEvent;
      source = make_proc(namespace_, PMIX_RANK_UNDEF);
      info.add_u32(kRankKey, what.rank);
      info.add_u32(kEpochKey, what.epoch);
      break;
    case Announcement::Kind::departed:
      event = kDepartedEvent;
      source = make_proc(namespace_, PMIX_RANK_UNDEF);
      info.add_text(PMIX_EVENT_TEXT_MESSAGE, what.how.c_str());
      break;
    case Announcement::Kind::all_leave:
      source = make_proc(namespace_, PMIX_RANK_UNDEF);
      break;
  }
  PMIx_Notify_event(event, &source, PMIX_RANGE_LOCAL, info.data(), info.size(), nullptr, nullptr);
}

void PmixServer::ask_data(uint32_t process, uint64_t question) {
  const pmix_proc_t proc = make_proc(namespace_, process);
  // The number of the question is what PMIx hands back.
  if (PMIx_server_dmodex_request(&proc, &PmixUpcalls::data_is_there,
                                 reinterpret_cast<void*>(question)) == PMIX_SUCCESS)
    return;
  PmixReport report(PmixReport::Kind::modex_data);
  report.question = question;
  this->report(std::move(report));
}

}  // namespace causeway::launch
