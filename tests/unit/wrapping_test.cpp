// Conduits in front of conduits: how the core resolves them, what passes through, and that chaos
// injects the same for the same seed. Behind is `self`, so that one process is enough.
#include "connection/wrapping.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

std::vector<std::string> g_failed_peers;

const cwy_services* job_services() {
  static cwy_job job = [] {
    cwy_job j{};
    j.head = CWY_HEAD(cwy_job);
    j.size = j.local_count = j.epoch = j.cpu_count = 1;
    j.job_id = "wrapping-test";
    j.session_dir = "";
    return j;
  }();
  static cwy_services table = [] {
    cwy_services s = *services();
    s.job = &job;
    s.now = [] { return uint64_t{1}; };
    s.wake = [](void*) {};
    s.peer_state = [](void*, cwy_peer, cwy_peer_state state, const char* why) {
      if (state == CWY_PEER_FAILED) g_failed_peers.push_back(why);
    };
    fill_wrap_service(s);
    return s;
  }();
  return &table;
}

const cwyc_domain_params kAnyDevice{CWY_HEAD(cwyc_domain_params), "", {}, "", "", ""};

ConduitSpec spec_of(const std::string& name, const std::string& plugin,
                    std::map<std::string, std::string> options) {
  ConduitSpec spec;
  spec.name = name;
  spec.plugin = plugin;
  spec.options = std::move(options);
  return spec;
}

class Wrapping : public testing::Test {
 protected:
  ~Wrapping() override { g_failed_peers.clear(); }

  ConfiguredConduit configure(const std::string& name) {
    if (!loader_) loader_ = std::make_unique<Loader>(config_, job_services());
    ConduitConfigurer configurer(config_, *loader_, [](ConduitSpec&, const Manifest&) {});
    for (const ConduitSpec& spec : config_.conduits) {
      if (spec.name != name) continue;
      const ConduitPlugin* plugin = loader_->conduit(spec.plugin);
      if (plugin == nullptr) throw Error(CWY_ERR_INVALID, "no plugin {}", spec.plugin);
      return configurer.configure(spec, *plugin);
    }
    throw Error(CWY_ERR_INVALID, "no conduit {}", name);
  }
  std::string refusal(const std::string& name) {
    try {
      configure(name);
    } catch (const Error& error) {
      return error.text();
    }
    return "configured";
  }

  Config config_ = config_with({}, LoadErrorPolicy::ignore);
  std::unique_ptr<Loader> loader_;
};

// One endpoint that talks to itself through a configured conduit.
class Talker {
 public:
  explicit Talker(ConfiguredConduit conduit) : conduit_(std::move(conduit)) {
    const cwyc_module& m = module();
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    EXPECT_EQ(m.domain_open(as_c(conduit_.options.get()), &kAnyDevice, &domain_, &err), CWY_OK)
        << err.text;
    cwyc_ep_params params{};
    params.head = CWY_HEAD(cwyc_ep_params);
    params.core_ep = this;
    params.deliver = [](void* self, cwy_peer, uint64_t word, uint32_t, const int32_t*, uint32_t,
                        void*, size_t) { static_cast<Talker*>(self)->words.push_back(word); };
    EXPECT_EQ(m.ep_open(domain_, &params, &ep_, &err), CWY_OK) << err.text;
    attr.head = CWY_HEAD(cwyc_ep_attr);
    EXPECT_EQ(m.ep_query(ep_, &attr), CWY_OK);
    place_.resize(sizeof(cwyc_conn) + attr.conn_size + 64);
    void* start = place_.data();
    size_t room = place_.size();
    conn = static_cast<cwyc_conn*>(std::align(64, sizeof(cwyc_conn), start, room));
    conn->ops = &conduit_.plugin->ops[0];
    conn->ep = ep_;
    conn->peer = {0, 1};
    cwyc_peer_desc peer{};
    peer.head = CWY_HEAD(cwyc_peer_desc);
    peer.peer = conn->peer;
    peer.same_process = peer.same_host = 1;
    cwyc_op op{};
    op.fn = [](cwyc_op*, uint32_t, cwy_status, const cwy_detail*) {};
    connected = m.connect(ep_, conn, &peer, &op, &err);
    why = err.text;
  }
  ~Talker() {
    if (connected == CWY_OK) module().disconnect(conn);
    module().ep_close(ep_);
    module().domain_close(domain_);
  }
  const cwyc_module& module() const { return conduit_.plugin->module; }
  const cwyc_ops& ops() const { return *conn->ops; }
  uint32_t progress() { return module().progress(ep_, 64, CWYC_PROGRESS_ALL); }
  cwyc_domain* domain() const { return domain_; }
  std::map<std::string, uint64_t> stats() {
    std::map<std::string, uint64_t> all;
    module().ep_stats(
        ep_,
        [](void* to, const char* name, uint64_t value) {
          (*static_cast<std::map<std::string, uint64_t>*>(to))[name] = value;
        },
        &all);
    return all;
  }

  cwyc_ep_attr attr{};
  cwyc_conn* conn = nullptr;
  cwy_status connected = CWY_ERR_INVALID;
  std::string why;
  std::vector<uint64_t> words;  // delivered

 private:
  ConfiguredConduit conduit_;
  cwyc_domain* domain_ = nullptr;
  cwyc_ep* ep_ = nullptr;
  std::vector<char> place_;
};

struct CountedOp {
  cwyc_op op{};
  uint32_t seen = 0, reports = 0;
  cwy_status status = CWY_OK;
  CountedOp() {
    op.fn = [](cwyc_op* raw, uint32_t what, cwy_status s, const cwy_detail*) {
      auto* self = reinterpret_cast<CountedOp*>(raw);
      self->seen |= what;
      ++self->reports;
      self->status = s;
    };
  }
};

// An operation that needs no memory.
cwy_status ask(Talker& t, CountedOp& op) {
  return t.ops().get(t.conn, nullptr, nullptr, 0, nullptr, 0, 0, &op.op);
}

// The view of a caller of 400 shorts and 200 gets with progress after each: answers, order of
// delivery, and how many calls of progress each get took.
std::vector<uint64_t> transcript(Talker& t) {
  std::vector<uint64_t> seen;
  for (uint64_t n = 0; n < 400; ++n) {
    while (t.ops().am_short(t.conn, n, nullptr, 0, 0) == CWY_RETRY) {
      seen.push_back(1'000'000 + n);
      t.progress();
    }
    t.progress();
    if (n % 2 != 0) continue;
    CountedOp op;
    cwy_status status;
    while ((status = ask(t, op)) == CWY_RETRY) t.progress();
    uint64_t calls = 0;
    while (status == CWY_INPROGRESS && op.seen == 0) t.progress(), ++calls;
    EXPECT_LE(op.reports, 1u);
    seen.push_back(2'000'000 + calls);
  }
  for (int i = 0; i < 200; ++i) t.progress();
  seen.insert(seen.end(), t.words.begin(), t.words.end());
  return seen;
}

// Would catch: misfortune that depends on anything but the seed; a seed that changes nothing;
// messages lost or doubled on the way.
TEST_F(Wrapping, SameSeedSameRun) {
  std::vector<std::vector<uint64_t>> runs;
  for (const char* seed : {"7", "7", "8"}) {
    config_.conduits = {
        spec_of("c", "chaos", {{"over", "self"}, {"seed", seed}, {"retry", "200"}})};
    Talker t(configure("c"));
    ASSERT_EQ(t.connected, CWY_OK) << t.why;
    runs.push_back(transcript(t));
    EXPECT_EQ(t.words.size(), 400u);
    EXPECT_FALSE(std::is_sorted(t.words.begin(), t.words.end())) << "nothing was reordered";
    std::sort(t.words.begin(), t.words.end());
    for (uint64_t n = 0; n < t.words.size(); ++n) ASSERT_EQ(t.words[n], n);
    const auto stats = t.stats();
    for (const char* name :
         {"chaos_refusals", "chaos_delayed", "chaos_messages_held", "chaos_polls_shortened"})
      EXPECT_GT(stats.at(name), 0u) << name;
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

// Would catch: a peer that is reported dead too early, twice or without a reason, or that goes on.
TEST_F(Wrapping, PeerFailsAtTheOperationAskedFor) {
  config_.conduits = {spec_of(
      "c", "chaos", {{"over", "self"}, {"fail_at", "5"}, {"retry", "0"}, {"delay", "1000"}})};
  Talker t(configure("c"));
  CountedOp asked;
  EXPECT_EQ(ask(t, asked), CWY_INPROGRESS);
  for (uint64_t n = 1; n < 5; ++n) {
    EXPECT_TRUE(g_failed_peers.empty());
    EXPECT_EQ(t.ops().am_short(t.conn, n, nullptr, 0, 0), CWY_OK);
  }
  ASSERT_EQ(g_failed_peers.size(), 1u);
  EXPECT_EQ(g_failed_peers[0], "chaos lets the peer fail at operation 5");
  EXPECT_EQ(t.ops().am_short(t.conn, 9, nullptr, 0, 0), CWY_ERR_PEER_FAILED);
  EXPECT_EQ(asked.reports, 0u);
  t.module().purge(t.conn);
  EXPECT_EQ(asked.reports, 1u);
  EXPECT_EQ(asked.status, CWY_ERR_PEER_FAILED);
  CountedOp late;
  EXPECT_EQ(ask(t, late), CWY_ERR_PEER_FAILED);
}

// Would catch: capabilities that promise what is hidden or held back, or that get lost.
TEST_F(Wrapping, CapabilitiesPassThrough) {
  config_.conduits = {spec_of("plain", "self", {}), spec_of("chaos", "chaos", {{"over", "plain"}}),
                      spec_of("open", "chaos", {{"over", "plain"}, {"direct", "true"}})};
  Talker plain(configure("plain")), chaos(configure("chaos")), open(configure("open"));
  const uint64_t kept = plain.attr.caps & ~uint64_t{CWYC_CAP_NO_PROGRESS};
  EXPECT_EQ(chaos.attr.caps, kept & ~uint64_t{CWYC_CAP_DIRECT});
  EXPECT_EQ(open.attr.caps, kept);
  EXPECT_GT(chaos.attr.conn_size, plain.attr.conn_size);
  EXPECT_EQ(std::memcmp(chaos.attr.atomic_ops, plain.attr.atomic_ops, sizeof plain.attr.atomic_ops),
            0);
}

// Would catch: options of the conduit behind taken from the one in front, or its device.
TEST_F(Wrapping, ConfiguredConduitIsBehind) {
  config_.conduits = {spec_of("named", "null", {{"reason", "behind a friend"}}),
                      spec_of("front", "chaos", {{"over", "named"}}),
                      spec_of("bare", "chaos", {{"over", "null"}})};
  for (const auto& [name, reason] : std::map<std::string, std::string>{
           {"front", "behind a friend"}, {"bare", "the null conduit reaches nobody"}}) {
    ConfiguredConduit conduit = configure(name);
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    cwyc_domain* domain = nullptr;
    const cwyc_module& m = conduit.plugin->module;
    ASSERT_EQ(m.domain_open(as_c(conduit.options.get()), &kAnyDevice, &domain, &err), CWY_OK);
    cwyc_peer_desc peer{};
    peer.head = CWY_HEAD(cwyc_peer_desc);
    EXPECT_EQ(m.reach(domain, &peer, &err), CWY_ERR_UNREACHABLE);
    EXPECT_EQ(err.text, reason);
    m.domain_close(domain);
  }
}

// Would catch: endless recursion, a typing error without a word, and a wrong option accepted.
TEST_F(Wrapping, RefusalsSayWhy) {
  config_.conduits = {
      spec_of("a", "chaos", {{"over", "b"}}), spec_of("b", "trace", {{"over", "a"}}),
      spec_of("typo", "chaos", {{"over", "slef"}}), spec_of("rate", "chaos", {{"retry", "1001"}})};
  EXPECT_NE(refusal("a").find("conduit a would stand in front of itself: a -> b -> a"),
            std::string::npos)
      << refusal("a");
  EXPECT_NE(refusal("typo").find("no conduit 'slef' is configured or installed"),
            std::string::npos);
  EXPECT_NE(refusal("rate").find("retry"), std::string::npos);
}

// Would catch: a service that answers where nobody can keep what it hands out.
TEST_F(Wrapping, WrapOnlyWhileConfiguring) {
  cwy_wrapped wrapped{};
  wrapped.head = CWY_HEAD(cwy_wrapped);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  EXPECT_EQ(job_services()->wrap_conduit("self", &wrapped, &err), CWY_ERR_INVALID);
  EXPECT_STREQ(err.text, "wrap_conduit may be called from configure only");
  EXPECT_EQ(wrapped.module, nullptr);
}

// Would catch: members of a later minor that get lost in front, members read that an older one
// does not have (they hold poison there), and a missing entry that is no longer missing.
TEST_F(Wrapping, OtherMinorsPassThrough) {
  config_ = config_with({plugin_directory("newest"), plugin_directory("oldest")});
  config_.conduits = {spec_of("new", "chaos", {{"over", "newest"}}),
                      spec_of("old", "chaos", {{"over", "oldest"}}),
                      spec_of("traced", "trace", {{"over", "oldest"}})};
  const ConfiguredConduit newer = configure("new");
  const cwyc_module* own = newer.plugin->own;
  ASSERT_GT(own->head.struct_size, sizeof(cwyc_module));
  EXPECT_EQ(own->head.minor, 7);
  const auto* tail = reinterpret_cast<const unsigned char*>(own);
  for (size_t i = sizeof(cwyc_module); i < own->head.struct_size; ++i) ASSERT_EQ(tail[i], 0x5a);
  ASSERT_GT(own->ops[0]->head.struct_size, sizeof(cwyc_ops));
  tail = reinterpret_cast<const unsigned char*>(own->ops[0]);
  for (size_t i = sizeof(cwyc_ops); i < own->ops[0]->head.struct_size; ++i) {
    ASSERT_EQ(tail[i], 0x5a);
  }
  for (const char* name : {"old", "traced"}) {
    const ConfiguredConduit older = configure(name);
    EXPECT_EQ(older.plugin->ops[0].am_long, nullptr);
    EXPECT_EQ(older.plugin->ops[0].put, nullptr);
    int fd = -1;
    EXPECT_EQ(older.plugin->module.wait_fd(nullptr, &fd), CWY_ERR_UNSUPPORTED);
  }
}

// Would catch: conduits in front of conduits in front of conduits that lose each other's state.
TEST_F(Wrapping, SeveralInARow) {
  const Scratch scratch;
  config_.conduits = {
      spec_of("inner", "trace",
              {{"over", "self"}, {"file", scratch.path("t.%r")}, {"size", "64KiB"}}),
      spec_of("outer", "chaos", {{"over", "inner"}, {"seed", "4"}}),
      spec_of("twice", "trace", {{"over", "outer"}})};
  EXPECT_NE(refusal("twice").find("plugin trace would stand twice in one row: twice -> outer"),
            std::string::npos)
      << refusal("twice");
  {
    Talker t(configure("outer"));
    ASSERT_EQ(t.connected, CWY_OK) << t.why;
    EXPECT_EQ(transcript(t).empty(), false);
    EXPECT_EQ(t.words.size(), 400u);
  }
  struct stat info {};
  ASSERT_EQ(stat(scratch.path("t.0").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

// Would catch: a trace that cannot be written and is not missed.
TEST_F(Wrapping, TraceNeedsItsFile) {
  config_.conduits = {
      spec_of("t", "trace", {{"over", "self"}, {"file", "/no/such/folder/trace.%r"}})};
  Talker t(configure("t"));
  EXPECT_EQ(t.connected, CWY_ERR_INVALID);
  EXPECT_EQ(t.why,
            "trace: /no/such/folder/trace.0 cannot be created (option 'file'): No such file or "
            "directory");
}

// Would catch: a full disk that keeps an empty trace, or whose line names no way out.
TEST_F(Wrapping, TraceNeedsItsSpace) {
  const Scratch scratch;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ::getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small{32 << 10, usual.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  config_.conduits = {spec_of("t", "trace", {{"over", "self"}, {"file", scratch.path("t.%r")}})};
  Talker t(configure("t"));
  ::setrlimit(RLIMIT_FSIZE, &usual);
  EXPECT_EQ(t.connected, CWY_ERR_INVALID) << t.why;
  EXPECT_NE(t.why.find("bytes (option 'size'): File too large"), std::string::npos) << t.why;
  EXPECT_NE(::access(scratch.path("t.0").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace causeway::loader_test
