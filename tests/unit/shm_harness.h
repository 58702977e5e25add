// Drives a conduit plugin through its C interface alone: services, ranks made by fork, exchange of
// addresses through shared memory. For the tests of the self and shm conduits.
#pragma once

#include <causeway/conduit.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace harness {

using OptionMap = std::map<std::string, std::string>;

inline OptionMap shm_defaults(const OptionMap& changes = {}) {
  OptionMap options{{"memory", "auto"},      {"ring_bytes", "0"},     {"connections", "0"},
                    {"huge_pages", "never"}, {"numa", "first_touch"}, {"reserve", "auto"},
                    {"cma", "auto"},         {"wakeup", "auto"}};
  for (const auto& [key, value] : changes) options[key] = value;
  return options;
}

inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

struct PeerEvent {
  cwy_peer peer;
  cwy_peer_state state;
  std::string why;
};

// What the fake core remembers; one per process.
struct Core {
  cwy_job job{};
  std::string job_id = "unittest";
  std::mutex mutex;
  std::vector<PeerEvent> peer_events;
  std::vector<std::string> log_lines;
};
inline Core& core() {
  static Core instance;
  return instance;
}

inline const OptionMap& as_map(const cwy_options* opts) {
  return *reinterpret_cast<const OptionMap*>(opts);
}
inline const std::string* find_option(const cwy_options* opts, const char* key) {
  const auto it = as_map(opts).find(key);
  return it == as_map(opts).end() ? nullptr : &it->second;
}
template <class T>
cwy_status number_option(const cwy_options* opts, const char* key, T* out) {
  const std::string* text = find_option(opts, key);
  if (text == nullptr) return CWY_ERR_INVALID;
  *out = static_cast<T>(std::strtoll(text->c_str(), nullptr, 0));
  return CWY_OK;
}

inline const cwy_services* make_services() {
  static cwy_services s{};
  s.head = CWY_HEAD(cwy_services);
  s.job = &core().job;
  s.log = [](const char*, cwy_log_level, const char* text) {
    const std::lock_guard lock(core().mutex);
    core().log_lines.emplace_back(text);
  };
  s.opt_string = [](const cwy_options* opts, const char* key, const char** out) -> cwy_status {
    const std::string* text = find_option(opts, key);
    if (text == nullptr) return CWY_ERR_INVALID;
    *out = text->c_str();
    return CWY_OK;
  };
  s.opt_int = number_option<int64_t>;
  s.opt_bool = number_option<int32_t>;
  s.opt_size = number_option<uint64_t>;
  s.opt_time = number_option<uint64_t>;
  s.peer_state = [](void*, cwy_peer peer, cwy_peer_state state, const char* why) {
    const std::lock_guard lock(core().mutex);
    core().peer_events.push_back({peer, state, why});
  };
  s.wake = [](void*) {};
  s.now = now_ns;
  return &s;
}

// Loads the built plugin and initialises it for this process.
inline const cwyc_module* load_conduit(const char* name, uint32_t rank, uint32_t size,
                                       uint32_t epoch = 1) {
  cwy_job& job = core().job;
  job.head = CWY_HEAD(cwy_job);
  job.rank = job.local_index = rank;
  job.size = job.local_count = size;
  job.epoch = epoch;
  job.job_id = core().job_id.c_str();
  job.session_dir = "";
  const std::string path =
      std::string(CAUSEWAY_BINARY_DIR) + "/lib/causeway/2/conduit_" + name + ".so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return nullptr;
  }
  auto init = reinterpret_cast<cwy_conduit_init_fn>(dlsym(handle, CWY_CONDUIT_INIT_NAME));
  const cwyc_module* module = nullptr;
  cwy_err err{};
  if (init == nullptr || init(make_services(), &module, &err) != CWY_OK) return nullptr;
  return module;
}

struct Message {
  cwy_peer from;
  uint64_t word;
  uint32_t kind;
  const int32_t* args;
  uint32_t nargs;
  char* payload;
  size_t length;
};

// One endpoint with its domain, and connections by index.
class Endpoint {
 public:
  using Handler = std::function<void(Endpoint&, const Message&)>;

  Endpoint(const cwyc_module* module, OptionMap options, bool threads = false)
      : module_(module), options_(std::move(options)) {
    cwy_err err{};
    const auto* opts = reinterpret_cast<const cwy_options*>(&options_);
    const cwyc_domain_params any{CWY_HEAD(cwyc_domain_params), "", {}, "", "", ""};
    if (module->domain_open(opts, &any, &domain_, &err) != CWY_OK) fail("domain_open", err);
    cwyc_ep_params params{};
    params.head = CWY_HEAD(cwyc_ep_params);
    params.core_ep = this;
    params.deliver = &Endpoint::deliver;
    params.multithreaded = threads ? 1 : 0;
    params.max_peers = core().job.size;
    if (module->ep_open(domain_, &params, &ep_, &err) != CWY_OK) fail("ep_open", err);
    attr_.head = CWY_HEAD(cwyc_ep_attr);
    module->ep_query(ep_, &attr_);
    address_.resize(attr_.ep_address_max);
    uint64_t length = address_.size();
    if (module->ep_address(ep_, address_.data(), &length, &err) != CWY_OK) fail("ep_address", err);
    address_.resize(length);
  }
  ~Endpoint() {
    for (cwyc_conn* conn : connections_) {
      module_->disconnect(conn);
      std::free(conn);
    }
    if (ep_ != nullptr) module_->ep_close(ep_);
    if (domain_ != nullptr) module_->domain_close(domain_);
  }
  Endpoint(const Endpoint&) = delete;

  cwyc_peer_desc describe(const std::string& address, cwy_peer peer, bool same_process) const {
    cwyc_peer_desc desc{};
    desc.head = CWY_HEAD(cwyc_peer_desc);
    desc.peer = peer;
    desc.same_process = same_process ? 1 : 0;
    desc.same_host = 1;
    desc.hostname = "here";
    desc.address = address.data();
    desc.address_len = address.size();
    return desc;
  }
  // NULL, with last_error(), when it fails.
  cwyc_conn* connect(const std::string& address, cwy_peer peer, bool same_process = false) {
    const size_t bytes = (sizeof(cwyc_conn) + attr_.conn_size + 63) / 64 * 64;
    auto* conn = static_cast<cwyc_conn*>(std::aligned_alloc(64, bytes));
    std::memset(static_cast<void*>(conn), 0, bytes);
    conn->ops = module_->ops[0];
    conn->ep = ep_;
    conn->peer = peer;
    const cwyc_peer_desc desc = describe(address, peer, same_process);
    cwyc_op op{};
    last_status_ = module_->connect(ep_, conn, &desc, &op, &error_);
    if (last_status_ != CWY_OK) {
      std::free(conn);
      return nullptr;
    }
    connections_.push_back(conn);
    return conn;
  }
  void drop(cwyc_conn* conn) {
    module_->disconnect(conn);
    std::erase(connections_, conn);
    std::free(conn);
  }
  uint32_t progress(uint32_t lane = CWYC_PROGRESS_ALL, uint32_t budget = 64) {
    return module_->progress(ep_, budget, lane);
  }
  // Polls, with naps, until `done`, or until nothing has come for ten seconds: how long all of it
  // takes depends on what else the machine does.
  template <class Done>
  bool wait(Done done, uint64_t nap_ns = 1'000'000) {
    constexpr uint64_t patience = 10'000'000'000ull;
    uint64_t end = now_ns() + patience;
    while (!done()) {
      if (progress() != 0) {
        end = now_ns() + patience;
        continue;
      }
      if (now_ns() > end) return false;
      if (module_->nap != nullptr) module_->nap(ep_, nap_ns);
    }
    return true;
  }
  std::map<std::string, uint64_t> stats() const {
    std::map<std::string, uint64_t> all;
    module_->ep_stats(
        ep_,
        [](void* arg, const char* name, uint64_t value) {
          (*static_cast<std::map<std::string, uint64_t>*>(arg))[name] += value;
        },
        &all);
    return all;
  }
  std::string pack(cwyc_mem* mem) const {
    std::string blob(attr_.rkey_max, '\0');
    uint64_t length = blob.size();
    cwy_err err{};
    EXPECT_EQ(module_->rkey_pack(mem, blob.data(), &length, &err), CWY_OK) << err.text;
    blob.resize(length);
    return blob;
  }
  cwyc_rkey* open(const std::string& blob, const cwyc_peer_desc& desc) {
    cwyc_rkey* rkey = nullptr;
    last_status_ = module_->rkey_open(ep_, &desc, blob.data(), blob.size(), &rkey, &error_);
    return last_status_ == CWY_OK ? rkey : nullptr;
  }

  Handler handler;
  const cwyc_module* module() const { return module_; }
  cwyc_ep* ep() const { return ep_; }
  cwyc_domain* domain() const { return domain_; }
  const cwyc_ep_attr& attr() const { return attr_; }
  const std::string& address() const { return address_; }
  const std::string last_error() const { return error_.text; }
  cwy_status last_status() const { return last_status_; }

 private:
  static void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                      const int32_t* args, uint32_t nargs, void* payload, size_t length) {
    auto* self = static_cast<Endpoint*>(core_ep);
    if (self->handler)
      self->handler(*self, {from, word, kind, args, nargs, static_cast<char*>(payload), length});
  }
  [[noreturn]] static void fail(const char* what, const cwy_err& err) {
    std::fprintf(stderr, "%s: %s\n", what, err.text);
    std::abort();
  }

  const cwyc_module* module_;
  OptionMap options_;
  cwyc_domain* domain_ = nullptr;
  cwyc_ep* ep_ = nullptr;
  cwyc_ep_attr attr_{};
  std::string address_;
  std::vector<cwyc_conn*> connections_;
  cwy_err error_{};
  cwy_status last_status_ = CWY_OK;
};

// Memory that ranks made by fork share: blackboard, barrier and free words.
struct Board {
  static constexpr uint32_t most = 64;
  std::atomic<uint32_t> arrived, generation, abandoned;
  std::atomic<uint64_t> words[64];
  struct Blob {
    uint64_t length;
    char bytes[1000];
  } blobs[most];

  static Board* make() {
    void* p =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (p) Board{};
  }
  void post(uint32_t who, const std::string& blob) {
    blobs[who].length = blob.size();
    std::memcpy(blobs[who].bytes, blob.data(), blob.size());
  }
  std::string read(uint32_t who) const { return {blobs[who].bytes, blobs[who].length}; }
  void barrier(uint32_t n) {
    const uint32_t g = generation.load();
    if (arrived.fetch_add(1) + 1 == n) {
      arrived = 0;
      ++generation;
    }
    const uint64_t end = now_ns() + 60'000'000'000ull;
    while (generation.load() == g && now_ns() < end && abandoned == 0) sched_yield();
  }
};

// Runs body(rank) in `n` processes; rank 0 is the test's own. Failures of any of them fail the
// test.
inline void run_ranks(uint32_t n, Board* board, const std::function<void(uint32_t)>& body) {
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (uint32_t rank = 1; rank < n; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(100);
      body(rank);
      const bool failed = ::testing::Test::HasFailure();
      if (failed) board->abandoned = 1;
      std::fflush(nullptr);
      _exit(failed ? 1 : 0);
    }
    children.push_back(pid);
  }
  body(0);
  if (::testing::Test::HasFailure()) board->abandoned = 1;
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "a child ended with wait status " << status;
  }
}

inline void pin(unsigned cpu) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu % static_cast<unsigned>(cpus), &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace harness
