// The runtime over GASNet-EX: handles live in void* slots, GASNet fills them through casts of the
// slots' addresses, and events wait in one array of void*.
#include "runtime.hpp"

#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <cstring>
#include <deque>
#include <unordered_map>

#include "config.hpp"

namespace futures {
namespace {

static_assert(sizeof(gex_TM_t) == sizeof(void*) && sizeof(gex_AD_t) == sizeof(void*) &&
                  sizeof(gex_Event_t) == sizeof(void*),
              "handles fit into void*");

template <class Handle>
Handle* slot(void*& opaque) {
  return reinterpret_cast<Handle*>(&opaque);
}
template <class Handle>
Handle get(void* opaque) {
  return reinterpret_cast<Handle>(opaque);
}

void *client_slot, *ep_slot, *segment_slot;
team the_world;
std::vector<void*> bases;

// ---- events: an array for gex_Event_TestSome, and what to do for each ----
std::vector<void*> events;
std::deque<std::function<void()>> actions, due;

void when(gex_Event_t event, std::function<void()> action) {
  if (event == GEX_EVENT_INVALID) {
    due.push_back(std::move(action));
    return;
  }
  events.push_back(event);
  actions.push_back(std::move(action));
}

void collect() {
  if (events.empty()) return;
  gex_Event_TestSome(reinterpret_cast<gex_Event_t*>(events.data()), events.size(), 0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i] == nullptr) {
      due.push_back(std::move(actions[i]));
    } else {
      events[kept] = events[i];
      actions[kept++] = std::move(actions[i]);
    }
  }
  events.resize(kept);
  actions.resize(kept);
}

// ---- remote calls: a function is its distance from a place that every rank has ----
std::uint64_t next_call = 0;
std::unordered_map<std::uint64_t, future<std::int64_t>> calls;

void place() {}
std::uintptr_t origin() {
  return reinterpret_cast<std::uintptr_t>(&place);
}

gex_AM_Arg_t low(std::uint64_t x) {
  return static_cast<gex_AM_Arg_t>(static_cast<std::uint32_t>(x));
}
gex_AM_Arg_t high(std::uint64_t x) {
  return low(x >> 32);
}
std::uint64_t join(gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(hi)) << 32 |
         static_cast<std::uint32_t>(lo);
}

enum { ASK = GEX_AM_INDEX_BASE + 3, ANSWER };
struct request {
  std::uint64_t function_distance, id;
  std::int64_t argument;
};

void on_ask(gex_Token_t token, void* payload, std::size_t bytes) {
  request r;
  if (bytes != sizeof r) gasnett_fatalerror("a call of %" PRIuSZ " bytes", bytes);
  std::memcpy(&r, payload, sizeof r);
  const function f = reinterpret_cast<function>(origin() + r.function_distance);
  const std::uint64_t result = static_cast<std::uint64_t>(f(r.argument));
  gex_AM_ReplyShort(token, ANSWER, 0, high(r.id), low(r.id), high(result), low(result));
}

void on_answer(gex_Token_t, gex_AM_Arg_t id1, gex_AM_Arg_t id0, gex_AM_Arg_t r1, gex_AM_Arg_t r0) {
  const std::uint64_t id = join(id1, id0), result = join(r1, r0);
  due.push_back([id, result] {
    const future<std::int64_t> f = calls.at(id);
    calls.erase(id);
    f.fulfill(static_cast<std::int64_t>(result));
  });
}

gex_AM_Entry_t handlers[] = {
    {ASK, reinterpret_cast<gex_AM_Fn_t>(on_ask), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0,
     nullptr, "ask"},
    {ANSWER, reinterpret_cast<gex_AM_Fn_t>(on_answer), GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 4,
     nullptr, "answer"},
};

void* remote(int rank, std::size_t offset) {
  return static_cast<char*>(bases[static_cast<std::size_t>(rank)]) + offset;
}

void fill_team(team& t) {
  t.rank = static_cast<int>(gex_TM_QueryRank(get<gex_TM_t>(t.handle)));
  t.size = static_cast<int>(gex_TM_QuerySize(get<gex_TM_t>(t.handle)));
}

gex_Rank_t number(int rank) {
  return static_cast<gex_Rank_t>(rank);
}

}  // namespace

void die(const char* what) {
  gasnett_fatalerror_nopos("rank %d: %s", the_world.rank, what);
}

void progress() {
  gasnet_AMPoll();
  collect();
  std::deque<std::function<void()>> now;
  now.swap(due);
  for (auto& action : now) action();
}

void init(int* argc, char*** argv, std::size_t segment_bytes) {
  gex_TM_t* const tm = slot<gex_TM_t>(the_world.handle);
  if (gex_Client_Init(slot<gex_Client_t>(client_slot), slot<gex_EP_t>(ep_slot), tm, "futures", argc,
                      argv, 0) != GASNET_OK)
    std::abort();
  fill_team(the_world);
  if (gex_EP_RegisterHandlers(get<gex_EP_t>(ep_slot), handlers, 2) != GASNET_OK) die("handlers");
  if (gex_Segment_Attach(slot<gex_Segment_t>(segment_slot), *tm, segment_bytes) != GASNET_OK)
    die("no segment");
  bases.resize(static_cast<std::size_t>(the_world.size));
  for (int r = 0; r < the_world.size; ++r) {
    std::uintptr_t size = 0;
    void* ours = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(*tm, number(r), &bases[static_cast<std::size_t>(r)],
                                              &ours, &size, 0));
    if (size < segment_bytes) die("a segment is too small");
  }
  barrier(the_world).wait();
}

void finalize(int status) {
  barrier(the_world).wait();
  if (!calls.empty() || !events.empty()) die("something is left over");
  gasnet_exit(status);
}

const team& world() {
  return the_world;
}

team split(const team& parent, int color, int key) {
  team t;
  gex_TM_Split(slot<gex_TM_t>(t.handle), get<gex_TM_t>(parent.handle), color, key, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  fill_team(t);
  return t;
}

void destroy(team& t) {
  gex_TM_Destroy(get<gex_TM_t>(t.handle), nullptr, 0);
  t.handle = nullptr;
}

future<unit> barrier(const team& t) {
  const future<unit> f;
  when(gex_Coll_BarrierNB(get<gex_TM_t>(t.handle), 0), [f] { f.fulfill(unit()); });
  return f;
}

void* local(std::size_t offset) {
  return remote(the_world.rank, offset);
}

future<unit> rput(int rank, std::size_t offset, const void* from, std::size_t bytes) {
  const future<unit> f;
  when(gex_RMA_PutNB(get<gex_TM_t>(the_world.handle), number(rank), remote(rank, offset), from,
                     bytes, GEX_EVENT_DEFER, 0),
       [f] { f.fulfill(unit()); });
  return f;
}

future<unit> rget(void* into, int rank, std::size_t offset, std::size_t bytes) {
  const future<unit> f;
  when(gex_RMA_GetNB(get<gex_TM_t>(the_world.handle), into, number(rank), remote(rank, offset),
                     bytes, 0),
       [f] { f.fulfill(unit()); });
  return f;
}

counters make_counters(const team& t) {
  counters c;
  gex_AD_Create(slot<gex_AD_t>(c.handle), get<gex_TM_t>(t.handle), GEX_DT_U64,
                GEX_OP_FADD | GEX_OP_GET | GEX_OP_SET, 0);
  return c;
}

void destroy(counters& c) {
  gex_AD_Destroy(get<gex_AD_t>(c.handle));
  c.handle = nullptr;
}

future<std::uint64_t> fetch_add(const counters& c, int rank, std::size_t offset, std::uint64_t by) {
  const future<std::uint64_t> f;
  const auto result = std::make_shared<std::uint64_t>();
  when(gex_AD_OpNB_U64(get<gex_AD_t>(c.handle), result.get(), number(rank), remote(rank, offset),
                       GEX_OP_FADD, by, 0, 0),
       [f, result] { f.fulfill(*result); });
  return f;
}

future<std::int64_t> rpc(int rank, function f, std::int64_t argument) {
  const request r = {reinterpret_cast<std::uintptr_t>(f) - origin(), next_call++, argument};
  const future<std::int64_t> answer = calls[r.id];
  gex_AM_RequestMedium(get<gex_TM_t>(the_world.handle), number(rank), ASK, &r, sizeof r,
                       GEX_EVENT_NOW, 0);
  return answer;
}

}  // namespace futures
