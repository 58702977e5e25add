// causeway-bench-memkinds: transfers between a host and the memory of its neighbor's device, and
// between two processes' memory of one device, beside the driver's own copies of page-locked host
// memory and within the device, in turn.
#include <fmt/format.h>
#include <gasnet_mk.h>

#include <cstdio>
#include <cstring>

#include "../raw/device_access.h"
#include "measure.h"
#include "options/options.h"
#include "session.h"

namespace causeway::bench {
namespace {

constexpr size_t kMost = size_t{256} << 20;

struct Wish : Wanted {
  bool probe = false, staged = false;
};

std::optional<int> parse(int argc, char** argv, Wish& wish) {
  Options app("The measuring program of `causeway bench --memkinds`; start it through that");
  app.flag("--probe", wish.probe, "Print the device, or why there is none, and end");
  app.flag("--staged", wish.staged, "The figures of transfers through host buffers");
  wish.add_options(app);
  return app.parse(argc, argv);
}

class Memkinds {
 public:
  explicit Memkinds(Session& session) : session_(session), job_(session.job()) {}
  // False when an object cannot be made; the library has said why.
  bool open();
  void measure(bool staged);

 private:
  enum class Way { put, get, within };
  void compare(const std::string& name, Way way, size_t bytes);
  void ours(Way way, size_t bytes);
  void raw(Way way, size_t bytes);

  Session& session_;
  Job& job_;
  mk::Access& device_ = mk::access();
  gex_TM_t from_host_ = GEX_TM_INVALID, from_device_ = GEX_TM_INVALID;
  char *host_ = nullptr, *locked_ = nullptr, *own_ = nullptr, *raw_ = nullptr;
  void* there_ = nullptr;
};

bool Memkinds::open() {
  gex_Client_t client = gex_TM_QueryClient(job_.tm());
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  const gex_MK_Create_args_t args = device_.args(0);
  if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, nullptr, kMost, kind, 0) != GASNET_OK ||
      gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK ||
      gex_EP_BindSegment(ep, segment, 0) != GASNET_OK ||
      gex_EP_PublishBoundSegment(job_.tm(), &ep, 1, 0) != GASNET_OK)
    return false;
  from_host_ = gex_TM_Pair(gex_TM_QueryEP(job_.tm()), gex_EP_QueryIndex(ep));
  from_device_ = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  own_ = static_cast<char*>(gex_Segment_QueryAddr(segment));
  gex_Segment_QueryBound(from_host_, job_.peer(), &there_, nullptr, nullptr);
  host_ = static_cast<char*>(gex_Segment_QueryAddr(gex_EP_QuerySegment(gex_TM_QueryEP(job_.tm()))));
  if (!job_.is_first()) return true;
  std::memset(host_, 1, kMost);
  raw_ = static_cast<char*>(device_.alloc(0, kMost));
  locked_ = static_cast<char*>(aligned_alloc(4096, kMost));
  std::memset(locked_, 1, kMost);
  if (!device_.pin(0, locked_, kMost))
    fmt::print(stderr, "raw copies: host memory is not page-locked\n");
  return true;
}

void Memkinds::ours(Way way, size_t bytes) {
  const gex_Rank_t peer = job_.peer();
  if (way == Way::get)
    gex_RMA_GetBlocking(from_host_, host_, peer, there_, bytes, 0);
  else if (way == Way::put)
    gex_RMA_PutBlocking(from_host_, peer, there_, host_, bytes, 0);
  else
    gex_RMA_PutBlocking(from_device_, peer, there_, own_, bytes, 0);
}

void Memkinds::raw(Way way, size_t bytes) {
  char* const to = way == Way::get ? locked_ : raw_;
  const char* const from = way == Way::get ? raw_ : way == Way::put ? locked_ : own_;
  device_.copy(0, to, from, bytes);
}

// Rank 0 measures; the other one makes progress, for it may have to copy.
void Memkinds::compare(const std::string& name, Way way, size_t bytes) {
  if (!session_.wants(name)) return;
  if (job_.is_first()) {
    const uint64_t turns = bytes <= 4096 ? 200 : bytes <= (1 << 20) ? 20 : 1;
    ours(way, bytes);
    raw(way, bytes);
    const Comparison c = interleave(
        session_.quick() ? 3 : 11, [&] { return each_ns(turns, [&] { ours(way, bytes); }) * 1e-3; },
        [&] { return each_ns(turns, [&] { raw(way, bytes); }) * 1e-3; });
    const double gigabytes = static_cast<double>(bytes) * 1e-3;
    session_.report({name, c.ours, c.raw, "library",
                     fmt::format("{:.2f} GB/s beside {:.2f}, {:.3f} of the raw copy's speed",
                                 gigabytes / c.ours, gigabytes / c.raw, c.raw / c.ours),
                     c.spread});
  }
  gex_Event_Wait(gex_Coll_BarrierNB(job_.tm(), 0));
}

void Memkinds::measure(bool staged) {
  const std::string prefix = staged ? "mk.staged." : "mk.";
  struct Size {
    const char* word;
    size_t bytes;
  };
  constexpr Size kSizes[] = {
      {"8", 8}, {"4KiB", 4096}, {"1MiB", 1 << 20}, {"64MiB", size_t{64} << 20}, {"256MiB", kMost}};
  for (const Size& size : kSizes) {
    compare(prefix + "put." + size.word, Way::put, size.bytes);
    compare(prefix + "get." + size.word, Way::get, size.bytes);
    compare(prefix + "d2d." + size.word, Way::within, size.bytes);
  }
}

int run(Job& job, const Wish& wish) {
  if (job.size() != 2) {
    fmt::print(stderr, "causeway-bench-memkinds: needs 2 ranks\n");
    return 1;
  }
  if (job.is_first()) print_facts(job.size(), job.cores(), job.pinned());
  Session session(job, wish);
  Memkinds memkinds(session);
  if (!memkinds.open()) return 1;
  memkinds.measure(wish.staged);
  return 0;
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wish wish;
  if (const auto status = parse(argc, argv, wish)) return *status;
  if (wish.probe) {
    constexpr int kNone = 77;
    try {
      std::printf("%d device(s) of kind %s\n", mk::access().devices(), mk::access().name());
      return 0;
    } catch (const std::exception& e) {
      std::printf("%s\n", e.what());
      return kNone;
    }
  }
  Job job(&argc, &argv, kMost, true);
  const int status = run(job, wish);
  job.sync();
  gasnet_exit(status);
}
