#include "schedule.h"

#include <string.h>

namespace base {
namespace {

constexpr uint64_t kLine = 64;
// More than two slots per channel let a sender run ahead of a receiver that is away for a while:
// so many, and more, up to kMostSlots, where messages are short, as far as the scratch goes.
constexpr uint32_t kFewSlots = 4;
// A piece that goes straight into the receiver's buffer: with its headers it fills two of TCP's
// largest packets (64 KiB less IP's and TCP's headers). Whole 128 KiB leave a few bytes over, which
// travel in a third one; a sum of 8 MiB over loopback took up to a third longer so.
constexpr uint64_t kStraightBytes = 127 << 10;
// How many pieces one step moves before the others get a turn.
constexpr uint32_t kPiecesPerStep = 64;
// How far behind the first incomplete action one may lie to be looked at. Algorithms list their
// actions in the order of their rounds, and none needs an action that many rounds ahead.
constexpr uint32_t kWindow = 24;
// A copy within this member gives way to the others after so many bytes.
constexpr uint64_t kCopyBytes = 128 << 10;

bool is_incoming(Kind kind) {
  return kind == Kind::receive || kind == Kind::fold_left || kind == Kind::fold_right;
}

uint32_t pieces_of(uint64_t bytes, uint64_t piece_bytes) {
  return bytes == 0 ? 1 : static_cast<uint32_t>((bytes + piece_bytes - 1) / piece_bytes);
}

// Signals behind those of the channels' slots and credits.
uint32_t credit_signal(const Schedule& s, uint32_t channel) {
  return s.channels * s.slots + channel;
}
uint32_t offer_signal(const Schedule& s) {
  return s.channels * (s.slots + 1);
}
uint32_t straight_signal(const Schedule& s) {
  return s.channels * (s.slots + 1) + 1;
}

// Pieces of a channel use `window` signals in turns, and are at most so many ahead of what their
// receiver has taken. Credits are given for half of them together: each is a message where no
// memory is shared.
uint32_t credit_pieces(uint32_t window) {
  return window > 1 ? window / 2 : 1;
}

// May this piece go out?
bool has_credit(const Run& run, const Action& a, uint32_t window) {
  if (a.piece < window) return true;
  const uint64_t credits =
      run.s->signal(run.team, run.seq, credit_signal(*run.schedule, a.channel));
  return credits * credit_pieces(window) >= a.piece - window + 1;
}

// Does the sender need a credit for this piece and those before it, of `total` that will come?
bool owes_credit(const Action& a, uint32_t window, uint32_t total) {
  const uint32_t together = credit_pieces(window), next = a.piece + 1;
  return next % together == 0 && next - together + window < total;
}

uint8_t* bytes_of(void* data) {
  return static_cast<uint8_t*>(data);
}
const uint8_t* bytes_of(const void* data) {
  return static_cast<const uint8_t*>(data);
}

int32_t add(const Run& run, const Action& what, const When& when) {
  Schedule& s = *run.schedule;
  if (s.count == s.capacity) {
    s.out_of_memory = true;  // an algorithm that counts its actions wrongly; never silently
    return kNone;
  }
  Action& a = s.actions[s.count];
  a = what;
  a.follow = when.follow;
  a.skip = when.skip;
  a.after = when.after;
  a.target = when.target;
  a.order = kNone;
  a.pieces = 1;
  return static_cast<int32_t>(s.count++);
}

Action action(Kind kind, uint32_t peer, uint32_t channel, uint8_t* data, const uint8_t* other,
              uint64_t bytes) {
  Action a{};
  a.kind = kind;
  a.peer = peer;
  a.channel = channel;
  a.data = data;
  a.other = other;
  a.bytes = bytes;
  return a;
}

bool complete(const Action& a) {
  return a.pieces == 0;
}

// May the bytes up to `end` of this action be worked on?
bool released(const Schedule& s, const Action& a, uint64_t end) {
  if (a.order != kNone && !complete(s.actions[a.order])) return false;
  if (a.after != kNone && !complete(s.actions[a.after])) return false;
  if (a.follow == kNone) return true;
  const Action& leader = s.actions[a.follow];
  return complete(leader) || leader.done >= a.skip + end;
}

uint64_t piece_length(const Action& a, uint64_t piece_bytes) {
  const uint64_t left = a.bytes - a.done;
  return left < piece_bytes ? left : piece_bytes;
}

// Each answers whether something moved, or an error.
struct Moved {
  bool yes;
  cwy_status status;
};

// The data of an offer.
struct Offer {
  uint64_t usable;
  cwyl_region region;
};
constexpr uint64_t kOfferBytes = (sizeof(Offer) + kLine - 1) / kLine * kLine;

Moved make_offer(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  Offer o{};
  o.usable =
      a.other != nullptr && run.s->expose(run.team, run.seq, a.data, a.bytes, &o.region) == CWY_OK;
  const cwy_status status =
      run.s->put_signal(run.team, run.seq, a.peer, &o, sizeof o, s.offer_at, offer_signal(s));
  if (status != CWY_OK) return {false, status == CWY_RETRY ? CWY_OK : status};
  if (!o.usable) s.in_way = Way::slots;
  a.pieces = 0;
  return {true, CWY_OK};
}

// Before the action's first piece: they are others than those of slots.
void count_straight(const Schedule& s, Action& a) {
  if (a.is_straight) return;
  a.is_straight = true;
  a.piece = a.straight_piece;
  a.pieces = pieces_of(a.bytes, s.straight_bytes);
}

// Has the receiver made its offer, and can it be taken?
Moved find_way_out(const Run& run, const Action& a) {
  Schedule& s = *run.schedule;
  if (run.s->signal(run.team, run.seq, offer_signal(s)) == 0) return {false, CWY_OK};
  Offer o;
  memcpy(&o, s.scratch + s.offer_at, sizeof o);
  s.out_way = Way::slots;
  if (o.usable == 0) return {true, CWY_OK};
  uint32_t done = 0;
  const cwy_status status =
      run.s->put_region(run.team, run.seq, a.peer, &o.region, 0, s.scratch, 0, &done);
  if (status == CWY_ERR_PEER_FAILED) return {false, status};
  if (status != CWY_OK) return {true, CWY_OK};
  s.out_way = Way::straight;
  s.target = o.region;
  return {true, CWY_OK};
}

// After a put of `n` bytes that answered `status`.
Moved piece_left(Action& a, uint64_t n, cwy_status status) {
  if (status != CWY_OK) return {false, status == CWY_RETRY ? CWY_OK : status};
  a.done += n;
  ++a.piece;
  --a.pieces;
  return {true, CWY_OK};
}

Moved put_piece(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  count_straight(s, a);
  const uint64_t n = piece_length(a, s.straight_bytes);
  if (!released(s, a, a.done + n) || s.puts - s.freed == kMostPuts ||
      !has_credit(run, a, kMostPuts))
    return {false, CWY_OK};
  uint32_t* const done = &s.put_done[s.puts % kMostPuts];
  *done = 0;
  const cwy_status status =
      run.s->put_region_signal(run.team, run.seq, a.peer, &s.target, a.target + a.done,
                               a.data + a.done, n, straight_signal(s) + s.puts % kMostPuts, done);
  const Moved moved = piece_left(a, n, status);
  if (moved.yes) ++s.puts;
  return moved;
}

// Looks which sources are free again, in the order of their puts.
Moved free_sources(Schedule& s) {
  bool moved = false;
  for (; s.freed != s.puts; ++s.freed, moved = true) {
    // Acquire: stored with release, on whatever thread completed the put.
    const uint32_t done = __atomic_load_n(&s.put_done[s.freed % kMostPuts], __ATOMIC_ACQUIRE);
    if (done == 0) break;
    if (done == 2) return {false, CWY_ERR_PEER_FAILED};
  }
  return {moved, CWY_OK};
}

Moved send_piece(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  if (a.channel == s.straight_channel && s.out_way != Way::slots)
    return s.out_way == Way::unknown ? find_way_out(run, a) : put_piece(run, a);
  const uint64_t n = piece_length(a, s.piece_bytes);
  if (!released(s, a, a.done + n)) return {false, CWY_OK};
  const uint32_t slot = a.channel * s.slots + a.piece % s.slots;
  if (!has_credit(run, a, s.slots)) return {false, CWY_OK};
  return piece_left(
      a, n,
      run.s->put_signal(run.team, run.seq, a.peer, a.data + a.done, n, slot * s.slot_bytes, slot));
}

void consume(const Run& run, const Action& a, const uint8_t* incoming, uint64_t n) {
  Schedule& s = *run.schedule;
  uint8_t* const data = a.data + a.done;
  if (a.kind == Kind::receive) {
    if (data != incoming) run.s->copy(run.team, run.seq, data, incoming, n);
  } else if (a.kind == Kind::fold_left) {
    run.s->reduce_into(run.team, run.seq, incoming, a.other + a.done, data, n / s.element);
  } else {
    run.s->reduce_into(run.team, run.seq, a.other + a.done, incoming, data, n / s.element);
  }
}

// Which way the sender has taken, by its first signal.
void find_way_in(const Run& run, const Action& a) {
  Schedule& s = *run.schedule;
  if (run.s->signal(run.team, run.seq, straight_signal(s)) != 0)
    s.in_way = Way::straight;
  else if (run.s->signal(run.team, run.seq, a.channel * s.slots) != 0)
    s.in_way = Way::slots;
}

// How pieces come in on the action's channel.
struct Incoming {
  uint32_t window;
  uint32_t signal;  // of this piece
  uint32_t total;
  uint64_t piece_bytes;
};
Incoming incoming(const Schedule& s, const Action& a, bool straight) {
  if (straight) {
    return {kMostPuts, straight_signal(s) + a.piece % kMostPuts, s.straight_incoming,
            s.straight_bytes};
  }
  return {s.slots, a.channel * s.slots + a.piece % s.slots, s.incoming[a.channel], s.piece_bytes};
}

// A piece is taken in two halves: its bytes, then the credit, which may have to wait for room.
Moved take_piece(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  bool straight = false;
  if (a.channel == s.straight_channel && s.in_way != Way::slots) {
    if (s.in_way == Way::unknown) find_way_in(run, a);
    if (s.in_way == Way::unknown) return {false, CWY_OK};
    straight = s.in_way == Way::straight;
    if (straight) count_straight(s, a);
  }
  const Incoming in = incoming(s, a, straight);
  const bool owes = owes_credit(a, in.window, in.total);
  if (a.right == nullptr) {
    const uint64_t n = piece_length(a, in.piece_bytes);
    if (!released(s, a, a.done + n)) return {false, CWY_OK};
    if (run.s->signal(run.team, run.seq, in.signal) < a.piece / in.window + 1)
      return {false, CWY_OK};
    // A piece that came straight is where it belongs; a piece in a slot has that signal's number.
    const uint8_t* const bytes = straight ? a.data + a.done : s.scratch + in.signal * s.slot_bytes;
    if (n != 0) consume(run, a, bytes, n);
    a.done += n;
    if (owes) a.right = s.scratch;  // the credit is owed
  }
  if (owes) {
    const cwy_status status =
        run.s->put_signal(run.team, run.seq, a.peer, nullptr, 0, 0, credit_signal(s, a.channel));
    if (status == CWY_RETRY) return {false, CWY_OK};
    if (status != CWY_OK) return {false, status};
    a.right = nullptr;
  }
  ++a.piece;
  --a.pieces;
  return {true, CWY_OK};
}

Moved work_locally(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  const uint64_t left = a.bytes - a.done;
  const uint64_t n = a.kind == Kind::copy && left > kCopyBytes ? kCopyBytes : left;
  if (!released(s, a, a.done + n)) return {false, CWY_OK};
  if (a.kind == Kind::copy)
    run.s->copy(run.team, run.seq, a.data + a.done, a.other + a.done, n);
  else
    run.s->reduce_into(run.team, run.seq, a.other, a.right, a.data, n / s.element);
  a.done += n;
  if (a.done == a.bytes) a.pieces = 0;
  return {true, CWY_OK};
}

Moved advance(const Run& run, Action& a) {
  switch (a.kind) {
    case Kind::send:
      return send_piece(run, a);
    case Kind::copy:
    case Kind::combine:
      return work_locally(run, a);
    case Kind::offer:
      return make_offer(run, a);
    default:
      return take_piece(run, a);
  }
}

}  // namespace

void begin(const Run& run, uint32_t channels, uint32_t capacity, uint32_t straight) {
  Schedule& s = *run.schedule;
  uint64_t room = 0;
  s.scratch = static_cast<uint8_t*>(run.s->scratch(run.team, run.seq, &room));
  s.element = run.args->element_bytes != 0 ? run.args->element_bytes : 1;
  s.channels = channels != 0 ? channels : 1;
  s.straight_channel = straight;
  const uint64_t most = run.info->region_put_max;
  s.straight_bytes = (kStraightBytes < most ? kStraightBytes : most) / s.element * s.element;
  uint64_t signals = run.info->signals;
  const uint64_t straight_signals = 1 + kMostPuts;
  // Where there are few, slots come first.
  if (signals < straight_signals + s.channels * (kFewSlots + 1)) s.straight_channel = kNoChannel;
  if (s.straight_channel != kNoChannel) {
    room -= kOfferBytes;
    s.offer_at = room / kLine * kLine;
    signals -= straight_signals;
  }
  const uint64_t put_most = run.info->put_max / kLine * kLine;
  uint64_t slots = put_most != 0 ? room / s.channels / put_most : kFewSlots;
  if (slots < kFewSlots) slots = kFewSlots;
  if (slots > kMostSlots) slots = kMostSlots;
  if (slots > signals / s.channels - 1) slots = signals / s.channels - 1;
  s.slots = static_cast<uint32_t>(slots);
  s.slot_bytes = room / (s.channels * s.slots) / kLine * kLine;
  if (s.slot_bytes > put_most) s.slot_bytes = put_most;
  s.whole_elements = s.element <= s.slot_bytes;
  s.piece_bytes = s.whole_elements ? s.slot_bytes / s.element * s.element : s.slot_bytes;
  // Elements that are combined out of several pieces need memory in between.
  if (!s.whole_elements || s.straight_bytes == 0) s.straight_channel = kNoChannel;
  s.actions = s.fixed;
  s.capacity = kInlineActions;
  if (capacity > kInlineActions) {
    s.actions = static_cast<Action*>(memory(run, uint64_t{capacity} * sizeof(Action)));
    s.capacity = s.actions != nullptr ? capacity : 0;
  }
}

void* memory(const Run& run, uint64_t bytes) {
  void* p = run.s->memory(run.team, run.seq, bytes != 0 ? bytes : 1);
  if (p == nullptr) run.schedule->out_of_memory = true;
  return p;
}

void offer(const Run& run, uint32_t peer, void* data, uint64_t bytes, bool usable) {
  if (run.schedule->straight_channel == kNoChannel) return;
  uint8_t* const at = bytes_of(data);
  add(run, action(Kind::offer, peer, 0, at, usable ? at : nullptr, bytes), {});
}

int32_t send(const Run& run, uint32_t peer, uint32_t channel, const void* data, uint64_t bytes,
             When when) {
  uint8_t* const at = bytes_of(const_cast<void*>(data));
  return add(run, action(Kind::send, peer, channel, at, nullptr, bytes), when);
}

int32_t receive(const Run& run, uint32_t peer, uint32_t channel, void* data, uint64_t bytes,
                When when) {
  return add(run, action(Kind::receive, peer, channel, bytes_of(data), nullptr, bytes), when);
}

int32_t copy(const Run& run, void* data, const void* other, uint64_t bytes, When when) {
  return add(run, action(Kind::copy, 0, 0, bytes_of(data), bytes_of(other), bytes), when);
}

int32_t fold(const Run& run, uint32_t peer, uint32_t channel, void* data, const void* other,
             uint64_t bytes, bool left, When when) {
  if (run.schedule->whole_elements || bytes == 0) {
    const Kind kind = left ? Kind::fold_left : Kind::fold_right;
    return add(run, action(kind, peer, channel, bytes_of(data), bytes_of(other), bytes), when);
  }
  // Elements longer than a piece are put together before they are combined.
  const uint8_t* const mine = bytes_of(other);
  uint8_t* const whole = bytes_of(memory(run, bytes));
  const int32_t arrival = receive(run, peer, channel, whole, bytes);
  Action a = action(Kind::combine, 0, 0, bytes_of(data), left ? whole : mine, bytes);
  a.right = left ? mine : whole;
  // `after` is taken by the arrival; what the caller wanted to wait for is waited for before it.
  if (when.after != kNone && arrival != kNone) run.schedule->actions[arrival].after = when.after;
  when.after = arrival;
  return add(run, a, when);
}

void finish(const Run& run) {
  Schedule& s = *run.schedule;
  int32_t last_out[kMostChannels], last_in[kMostChannels];
  uint32_t outgoing[kMostChannels] = {}, straight_in = 0, straight_out = 0;
  for (uint32_t c = 0; c < kMostChannels; ++c) last_out[c] = last_in[c] = kNone;
  for (uint32_t i = 0; i < s.count; ++i) {
    Action& a = s.actions[i];
    const bool in = is_incoming(a.kind);
    if (!in && a.kind != Kind::send) continue;
    a.pieces = pieces_of(a.bytes, s.piece_bytes);
    uint32_t& total = in ? s.incoming[a.channel] : outgoing[a.channel];
    int32_t& last = in ? last_in[a.channel] : last_out[a.channel];
    a.piece = total;
    a.order = last;
    total += a.pieces;
    last = static_cast<int32_t>(i);
    if (a.channel != s.straight_channel) continue;
    uint32_t& straight = in ? straight_in : straight_out;
    a.straight_piece = straight;
    straight += pieces_of(a.bytes, s.straight_bytes);
  }
  s.straight_incoming = straight_in;
}

cwy_status execute(const Run& run) {
  Schedule& s = *run.schedule;
  if (s.out_of_memory) return CWY_ERR_NOMEM;
  for (uint32_t budget = kPiecesPerStep; budget != 0;) {
    bool moved = false;
    const uint32_t end = s.head + kWindow < s.count ? s.head + kWindow : s.count;
    for (uint32_t i = s.head; i < end && budget != 0; ++i) {
      while (!complete(s.actions[i]) && budget != 0) {
        const Moved m = advance(run, s.actions[i]);
        if (m.status != CWY_OK) return m.status;
        if (!m.yes) break;
        moved = true;
        --budget;
      }
    }
    while (s.head < s.count && complete(s.actions[s.head])) ++s.head;
    if (s.puts != s.freed) {
      const Moved m = free_sources(s);
      if (m.status != CWY_OK) return m.status;
      moved |= m.yes;
    }
    if (s.head == s.count && s.puts == s.freed) return CWY_OK;
    if (!moved) break;
  }
  return CWY_INPROGRESS;
}

}  // namespace base
