#include "schedule.h"

namespace base {
namespace {

constexpr uint64_t kLine = 64;
// More than two slots per channel let a sender run ahead of a receiver that is away for a while.
constexpr uint32_t kMostSlots = 4;
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

uint32_t pieces_of(const Schedule& s, uint64_t bytes) {
  return bytes == 0 ? 1 : static_cast<uint32_t>((bytes + s.piece_bytes - 1) / s.piece_bytes);
}

int32_t add(const Run& run, const Action& action, const When& when) {
  Schedule& s = *run.schedule;
  if (s.count == s.capacity) {
    s.out_of_memory = true;  // an algorithm that counts its actions wrongly; never silently
    return kNone;
  }
  Action& a = s.actions[s.count];
  a = action;
  a.follow = when.follow;
  a.skip = when.skip;
  a.after = when.after;
  a.order = kNone;
  a.done = 0;
  a.piece = 0;
  a.pieces = 1;
  return static_cast<int32_t>(s.count++);
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

uint64_t piece_length(const Schedule& s, const Action& a) {
  const uint64_t left = a.bytes - a.done;
  return left < s.piece_bytes ? left : s.piece_bytes;
}

// Each answers whether something moved, or an error.
struct Moved {
  bool yes;
  cwy_status status;
};

Moved send_piece(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  const uint64_t n = piece_length(s, a);
  if (!released(s, a, a.done + n)) return {false, CWY_OK};
  const uint32_t slot = a.channel * s.slots + a.piece % s.slots;
  if (a.piece >= s.slots) {
    const uint32_t credits = s.channels * s.slots + a.channel;
    if (run.s->signal(run.team, run.seq, credits) < a.piece - s.slots + 1) return {false, CWY_OK};
  }
  const cwy_status status =
      run.s->put_signal(run.team, run.seq, a.peer, a.data + a.done, n, slot * s.slot_bytes, slot);
  if (status != CWY_OK) return {false, status == CWY_RETRY ? CWY_OK : status};
  a.done += n;
  ++a.piece;
  --a.pieces;
  return {true, CWY_OK};
}

void consume(const Run& run, const Action& a, const uint8_t* incoming, uint64_t n) {
  Schedule& s = *run.schedule;
  uint8_t* const data = a.data + a.done;
  if (a.kind == Kind::receive) {
    run.s->copy(run.team, run.seq, data, incoming, n);
  } else if (a.kind == Kind::fold_left) {
    run.s->reduce_into(run.team, run.seq, incoming, a.other + a.done, data, n / s.element);
  } else {
    run.s->reduce_into(run.team, run.seq, a.other + a.done, incoming, data, n / s.element);
  }
}

// A piece is taken in two halves: its bytes, then the credit, which may have to wait for room.
Moved take_piece(const Run& run, Action& a) {
  Schedule& s = *run.schedule;
  const bool needed_again = a.piece + s.slots < s.incoming[a.channel];
  if (a.right == nullptr) {
    const uint64_t n = piece_length(s, a);
    if (!released(s, a, a.done + n)) return {false, CWY_OK};
    const uint32_t slot = a.channel * s.slots + a.piece % s.slots;
    if (run.s->signal(run.team, run.seq, slot) < a.piece / s.slots + 1) return {false, CWY_OK};
    if (n != 0) consume(run, a, s.scratch + slot * s.slot_bytes, n);
    a.done += n;
    if (needed_again) a.right = s.scratch;  // the credit is owed
  }
  if (needed_again) {
    const cwy_status status = run.s->put_signal(run.team, run.seq, a.peer, nullptr, 0, 0,
                                                s.channels * s.slots + a.channel);
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
  if (a.kind == Kind::copy) {
    run.s->copy(run.team, run.seq, a.data + a.done, a.other + a.done, n);
  } else {
    run.s->reduce_into(run.team, run.seq, a.other, a.right, a.data, n / s.element);
  }
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
    default:
      return take_piece(run, a);
  }
}

}  // namespace

void begin(const Run& run, uint32_t channels, uint32_t capacity) {
  Schedule& s = *run.schedule;
  uint64_t room = 0;
  s.scratch = static_cast<uint8_t*>(run.s->scratch(run.team, run.seq, &room));
  s.element = run.args->element_bytes != 0 ? run.args->element_bytes : 1;
  s.channels = channels != 0 ? channels : 1;
  const uint64_t slots = run.info->signals / s.channels - 1;
  s.slots = slots > kMostSlots ? kMostSlots : static_cast<uint32_t>(slots);
  s.slot_bytes = room / (s.channels * s.slots) / kLine * kLine;
  if (s.slot_bytes > run.info->put_max) s.slot_bytes = run.info->put_max / kLine * kLine;
  s.whole_elements = s.element <= s.slot_bytes;
  s.piece_bytes = s.whole_elements ? s.slot_bytes / s.element * s.element : s.slot_bytes;
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

int32_t send(const Run& run, uint32_t peer, uint32_t channel, const void* data, uint64_t bytes,
             When when) {
  Action a{};
  a.kind = Kind::send;
  a.peer = peer;
  a.channel = channel;
  a.data = static_cast<uint8_t*>(const_cast<void*>(data));
  a.bytes = bytes;
  return add(run, a, when);
}

int32_t receive(const Run& run, uint32_t peer, uint32_t channel, void* data, uint64_t bytes,
                When when) {
  Action a{};
  a.kind = Kind::receive;
  a.peer = peer;
  a.channel = channel;
  a.data = static_cast<uint8_t*>(data);
  a.bytes = bytes;
  return add(run, a, when);
}

int32_t copy(const Run& run, void* data, const void* other, uint64_t bytes, When when) {
  Action a{};
  a.kind = Kind::copy;
  a.data = static_cast<uint8_t*>(data);
  a.other = static_cast<const uint8_t*>(other);
  a.bytes = bytes;
  return add(run, a, when);
}

int32_t fold(const Run& run, uint32_t peer, uint32_t channel, void* data, const void* other,
             uint64_t bytes, bool left, When when) {
  if (run.schedule->whole_elements || bytes == 0) {
    Action a{};
    a.kind = left ? Kind::fold_left : Kind::fold_right;
    a.peer = peer;
    a.channel = channel;
    a.data = static_cast<uint8_t*>(data);
    a.other = static_cast<const uint8_t*>(other);
    a.bytes = bytes;
    return add(run, a, when);
  }
  // Elements longer than a piece are put together before they are combined.
  auto* whole = static_cast<uint8_t*>(memory(run, bytes));
  const int32_t arrival = receive(run, peer, channel, whole, bytes);
  Action a{};
  a.kind = Kind::combine;
  a.data = static_cast<uint8_t*>(data);
  a.other = left ? whole : static_cast<const uint8_t*>(other);
  a.right = left ? static_cast<const uint8_t*>(other) : whole;
  a.bytes = bytes;
  // `after` is taken by the arrival; what the caller wanted to wait for is waited for before it.
  if (when.after != kNone && arrival != kNone) run.schedule->actions[arrival].after = when.after;
  when.after = arrival;
  return add(run, a, when);
}

void finish(const Run& run) {
  Schedule& s = *run.schedule;
  int32_t last_out[kMostChannels], last_in[kMostChannels];
  uint32_t outgoing[kMostChannels] = {};
  for (uint32_t c = 0; c < kMostChannels; ++c) last_out[c] = last_in[c] = kNone;
  for (uint32_t i = 0; i < s.count; ++i) {
    Action& a = s.actions[i];
    const bool in = is_incoming(a.kind);
    if (!in && a.kind != Kind::send) continue;
    a.pieces = pieces_of(s, a.bytes);
    uint32_t& total = in ? s.incoming[a.channel] : outgoing[a.channel];
    int32_t& last = in ? last_in[a.channel] : last_out[a.channel];
    a.piece = total;
    a.order = last;
    total += a.pieces;
    last = static_cast<int32_t>(i);
  }
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
    if (s.head == s.count) return CWY_OK;
    if (!moved) break;
  }
  return CWY_INPROGRESS;
}

}  // namespace base
