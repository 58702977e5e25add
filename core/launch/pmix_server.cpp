#include "launch/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "diag/error.h"

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
    throw Error(CWY_ERR_UNREACHABLE, "the PMIx server library failed to {}: {}", what,
                PMIx_Error_string(status));
}

pmix_proc_t make_proc(const std::string& nspace, pmix_rank_t rank) {
  pmix_proc_t proc;
  PMIX_PROC_CONSTRUCT(&proc);
  PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
  return proc;
}

// An outer launcher's PMIx variables would make the server library take itself for a client of it.
void drop_outer_pmix_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.rfind("PMIX_", 0) == 0 && text.rfind("PMIX_MCA_", 0) != 0)
      names.push_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

std::string take_regex(pmix_status_t status, char* regex, const char* what) {
  check(status, what);
  std::string text = regex;
  std::free(regex);
  return text;
}

std::string all_ranks(uint32_t ranks, char separator) {
  std::string text;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank != 0) text += separator;
    text += std::to_string(rank);
  }
  return text;
}

}  // namespace

struct PmixUpcalls {
  static void queue(PmixReport::Kind kind, const pmix_proc_t* proc, int status = 0,
                    const char* line = nullptr) {
    if (g_server != nullptr)
      g_server->report({kind, proc->rank, status, line == nullptr ? "" : line, {}});
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

  // Every participant is local, so what the library collected is already everything, unless a
  // participant is gone: the library takes it out of later fences, which must fail instead. Only
  // the supervision loop knows who lives.
  static pmix_status_t fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data,
                             size_t size, pmix_modex_cbfunc_t done, void* context) {
    if (g_server == nullptr) return PMIX_ERR_INIT;
    PmixReport report{PmixReport::Kind::fence, 0, 0, {}, {}};
    report.answer = [=](bool complete) {
      done(complete ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION, data, size, context, &std::free,
           data);
    };
    g_server->report(std::move(report));
    return PMIX_SUCCESS;
  }

  // Asked for data of a rank that no local client has published: there is nobody else to ask.
  static pmix_status_t direct_modex(const pmix_proc_t*, const pmix_info_t*, size_t,
                                    pmix_modex_cbfunc_t, void*) {
    return PMIX_ERR_NOT_FOUND;
  }

  static pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t*, size_t,
                                       pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
  static pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
  static pmix_status_t notify(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t*,
                              size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
};

namespace {

void start_library(const std::string& directory) {
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

  InfoList info(4);
  info.add_text(PMIX_SERVER_TMPDIR, directory.c_str());
  info.add_text(PMIX_SYSTEM_TMPDIR, directory.c_str());
  const bool no = false;
  info.add(PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
  check(PMIx_server_init(&module, info.data(), info.size()), "start");
}

void register_job(const std::string& job_id, uint32_t ranks) {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  char* regex = nullptr;
  const pmix_status_t nodes_status = PMIx_generate_regex(host, &regex);
  const std::string nodes = take_regex(nodes_status, regex, "describe the host");
  const std::string peers = all_ranks(ranks, ',');
  const pmix_status_t ppn_status = PMIx_generate_ppn(peers.c_str(), &regex);
  const std::string ppn = take_regex(ppn_status, regex, "describe the ranks");

  InfoList info(16);
  info.add_u32(PMIX_UNIV_SIZE, ranks);
  info.add_u32(PMIX_JOB_SIZE, ranks);
  info.add_u32(PMIX_MAX_PROCS, ranks);
  info.add_u32(PMIX_LOCAL_SIZE, ranks);
  info.add_u32(PMIX_NODE_SIZE, ranks);
  info.add_u32(PMIX_NUM_NODES, 1);
  info.add_u32(PMIX_JOB_NUM_APPS, 1);
  info.add_text(PMIX_NODE_MAP, nodes.c_str());
  info.add_text(PMIX_PROC_MAP, ppn.c_str());
  info.add_text(PMIX_LOCAL_PEERS, peers.c_str());
  info.add_text(PMIX_JOBID, job_id.c_str());
  check(PMIx_server_register_nspace(job_id.c_str(), static_cast<int>(ranks), info.data(),
                                    info.size(), nullptr, nullptr),
        "register the job");
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const pmix_proc_t proc = make_proc(job_id, rank);
    check(PMIx_server_register_client(&proc, ::getuid(), ::getgid(), nullptr, nullptr, nullptr),
          "register a rank");
  }
}

}  // namespace

PmixServer::PmixServer(const std::string& directory, const std::string& job_id, uint32_t ranks)
    : job_id_(job_id), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  g_server = this;
  start_library(directory);
  register_job(job_id_, ranks);
}

PmixServer::~PmixServer() {
  PMIx_server_finalize();
  g_server = nullptr;
}

std::vector<std::string> PmixServer::client_environment(uint32_t rank) const {
  const pmix_proc_t proc = make_proc(job_id_, rank);
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
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

std::vector<PmixReport> PmixServer::take_reports() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  std::vector<PmixReport> taken(std::make_move_iterator(reports_.begin()),
                                std::make_move_iterator(reports_.end()));
  reports_.clear();
  return taken;
}

void PmixServer::announce_death(uint32_t rank, const std::string& how) {
  const pmix_proc_t proc = make_proc(job_id_, rank);
  InfoList info(2);
  info.add(PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
  info.add_text(PMIX_EVENT_TEXT_MESSAGE, how.c_str());
  // Blocking form: the library copies `info` before it returns. A failure leaves the ranks to
  // notice the death through SIGQUIT, which follows anyway.
  PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &proc, PMIX_RANGE_LOCAL, info.data(), info.size(),
                    nullptr, nullptr);
}

}  // namespace causeway::launch
