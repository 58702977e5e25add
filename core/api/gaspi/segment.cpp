#include "api/gaspi/segment.h"

#include <algorithm>
#include <cstring>

#include "api/gaspi/atomic.h"
#include "api/gaspi/passive.h"
#include "base/error.h"
#include "base/log.h"
#include "base/membarrier.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "process/runtime.h"

namespace causeway::gaspi {
namespace {

// Slots and the sleep word.
constexpr uint64_t notes_bytes(uint64_t slots) {
  return sleep_word_offset(slots) + 64;
}

std::atomic<uint64_t> g_serial{1};  // relaxed: only has to count

// "serial base size slots slot_count length packed packed-notes"
std::string describe(const LocalSegment& s) {
  const std::string data = s.data->pack();
  const std::string notes = s.notes != nullptr ? s.notes->pack() : std::string();
  return fmt::format("{} {} {} {} {} {} ", s.serial, reinterpret_cast<uint64_t>(s.base), s.size,
                     reinterpret_cast<uint64_t>(s.slots), s.slot_count, data.size()) +
         data + notes;
}

std::unique_ptr<FarSegment> read_description(uint32_t rank, const std::string& text) {
  auto r = std::make_unique<FarSegment>();
  char* at = nullptr;
  r->rank = rank;
  r->serial = std::strtoull(text.c_str(), &at, 10);
  r->base = std::strtoull(at, &at, 10);
  r->size = std::strtoull(at, &at, 10);
  r->slots = std::strtoull(at, &at, 10);
  r->slot_count = static_cast<uint32_t>(std::strtoul(at, &at, 10));
  const size_t length = std::strtoull(at, &at, 10);
  const auto begin = static_cast<size_t>(at + 1 - text.c_str());
  if (*at != ' ' || begin > text.size() || length > text.size() - begin)
    throw Error(CWY_ERR_INVALID, "what rank {} says of a segment is garbled", rank);
  r->data.facts = PackedSegment::unpack(text.substr(begin, length));
  if (begin + length < text.size())
    r->notes.facts = PackedSegment::unpack(text.substr(begin + length));
  if (const std::string device = r->data.facts.right(kDeviceEntry); !device.empty()) {
    const bool same_host = runtime().job().locality(rank) != Locality::remote;
    r->data.device = std::make_unique<RemoteDevice>(DeviceFacts::unpack(device), rank,
                                                    r->data.facts.number, same_host);
  }
  return r;
}

// Opens what the peer's connections need to reach the memory. Under the connect mutex.
void open_rights(const World& world, Peer& peer, FarSegment& r) {
  Connection& put = Connection::of(peer.put.load(std::memory_order_acquire));
  Connection& get = Connection::of(peer.get.load(std::memory_order_acquire));
  r.put_key = r.data.right(*put.cep, peer.rank);
  r.get_key = r.data.right(*get.cep, peer.rank);
  r.atomic_key = r.data.right(*atomic_endpoint(world, peer), peer.rank);
  r.put_over_am.store(r.put_key == nullptr, std::memory_order_relaxed);
  r.get_over_am.store(r.get_key == nullptr, std::memory_order_relaxed);
}

void map_memory(const Peer& base, FarSegment& r) {
  if (!runtime().direct_allowed()) return;
  if (r.data.device == nullptr) map_directly(base, r.data);
  r.direct = r.data.direct;
  r.delta = r.data.delta;
  Publication& notes = r.notes.facts.size == 0 ? r.data : r.notes;
  if (&notes == &r.notes) map_directly(base, r.notes);
  r.notes_direct = notes.direct;
  r.notes_delta = notes.delta;
  r.sleep_word = reinterpret_cast<SleepWord*>(r.mapped_slot(0) + sleep_word_offset(r.slot_count));
}

// Makes the segment usable here, or throws Error and leaves nothing open: its owner may have
// deleted it meanwhile, or a part of it.
void open_segment(World& world, Peer& peer, FarSegment& r) {
  try {
    map_memory(base_peer(peer), r);
    if (r.notes_direct && r.rank != world.rank)
      world.neighbors_store.store(true, std::memory_order_relaxed);
    // Sleepers' barriers pass through this process from now on.
    if (r.notes_direct) membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
    const std::lock_guard lock(peer.ep->connect_mutex());
    open_rights(world, peer, r);
  } catch (...) {
    const std::lock_guard lock(peer.ep->connect_mutex());
    r.close();
    throw;
  }
}

}  // namespace

void FarSegment::close() {
  data.device.reset();
  data.close();
  notes.close();
}

Segments::~Segments() {
  for (auto& slot : world_.segments) delete slot.load(std::memory_order_relaxed);
  for (auto& ghost : ghosts_) ghost->close();
  for (auto& row : world_.remote) {
    World::Row* const r = row.load(std::memory_order_relaxed);
    if (r == nullptr) continue;
    for (uint32_t rank = 0; rank < world_.size; ++rank) {
      FarSegment* const segment = r[rank].load(std::memory_order_relaxed);
      if (segment == nullptr) continue;
      segment->close();
      delete segment;
    }
  }
}

// ---- local ----

void Segments::require_room(unsigned id) const {
  if (world_.segments[id].load(std::memory_order_acquire) != nullptr)
    refuse(GASPI_ERR_INV_SEG, "segment {} exists already", id);
  const uint32_t most = world_.config.segment_max;
  if (count() >= most) refuse(GASPI_ERR_MANY_SEG, "there are {} segments, segment_max", most);
}

void Segments::allocate(unsigned id, uint64_t size, bool zero) {
  auto s = std::make_unique<LocalSegment>();
  const uint64_t at = (size + 63) / 64 * 64;
  s->data.reset(Segment::allocate(world_.client, at + notes_bytes(world_.config.notification_num)));
  char* const base = static_cast<char*>(s->data->addr());
  // Touching it here also places it near this thread.
  if (zero) std::memset(base, 0, size);
  publish(id, std::move(s), base, size, base + at);
}

void Segments::bind(unsigned id, void* memory, uint64_t size, std::shared_ptr<Device> device) {
  auto s = std::make_unique<LocalSegment>();
  if (device != nullptr) {
    s->on_device = true;
    s->kind = std::make_unique<MemKind>(world_.client, std::move(device));
    s->data.reset(Segment::on_device(world_.client, *s->kind, memory, size, 0));
  } else {
    s->data.reset(Segment::describe(world_.client, memory, size, 0));
  }
  s->notes.reset(Segment::allocate(world_.client, notes_bytes(world_.config.notification_num)));
  void* const slots = s->notes->addr();
  publish(id, std::move(s), memory, size, slots);
}

void Segments::publish(unsigned id, std::unique_ptr<LocalSegment> s, void* memory, uint64_t size,
                       void* slots) {
  s->id = static_cast<uint8_t>(id);
  s->base = static_cast<char*>(memory);
  s->size = size;
  s->slots = static_cast<uint64_t*>(slots);
  s->slot_count = world_.config.notification_num;
  // A conduit's memory may have been somebody's before.
  std::memset(s->slots, 0, notes_bytes(s->slot_count));
  s->sleep_word =
      reinterpret_cast<SleepWord*>(static_cast<char*>(slots) + sleep_word_offset(s->slot_count));
  s->serial = g_serial.fetch_add(1, std::memory_order_relaxed);
  s->told.reset(new std::atomic<Told>[world_.size]);
  for (uint32_t r = 0; r < world_.size; ++r) s->told[r].store(Told::nothing);
  const std::lock_guard lock(mutex_);
  require_room(id);
  tell_self(*s);
  count_.fetch_add(1, std::memory_order_relaxed);
  world_.segments[id].store(s.release(), std::memory_order_release);
}

bool Segments::remove(unsigned id) {
  LocalSegment* const s = take_out(id);
  if (s == nullptr) return false;
  // Without the mutex: it polls. Not at the end, when others may poll no more.
  if (!world_.ended.load(std::memory_order_relaxed)) s->data->recall("gaspi_segment_delete()");
  s->data.reset();
  s->notes.reset();
  s->kind.reset();
  const std::lock_guard lock(mutex_);
  retired_local_.emplace_back(s);
  return true;
}

// Nobody finds it any more, and everybody is told; its memory is still there.
LocalSegment* Segments::take_out(unsigned id) {
  const std::lock_guard lock(mutex_);
  // acq_rel: what others did with the segment comes before its end.
  LocalSegment* const s = world_.segments[id].exchange(nullptr, std::memory_order_acq_rel);
  if (s == nullptr) return nullptr;
  count_.fetch_sub(1, std::memory_order_relaxed);
  replace(id, world_.rank, nullptr);
  for (uint32_t r = 0; r < world_.size; ++r) {
    const Told told = s->told[r].load(std::memory_order_acquire);
    if (r != world_.rank && told != Told::nothing)
      post(world_, r, ControlMessage::drop_segment, {id, s->serial});
  }
  world_.passive->forget_memory(s->base, s->size);
  return s;
}

// ---- what others know ----

// This rank reaches its own segment without a control message.
void Segments::tell_self(LocalSegment& s) {
  Peer& peer = world_.peer(world_.rank);
  Deadline forever("the making of a segment", GASPI_BLOCK, world_.rank);
  wait_for(forever, [&] { return try_connect(world_, world_.rank); });
  auto r = read_description(world_.rank, describe(s));
  r->epoch = world_.epoch(world_.rank);
  open_segment(world_, peer, *r);
  replace(s.id, world_.rank, r.release());
  s.told[world_.rank].store(Told::registered, std::memory_order_release);
}

gaspi_return_t Segments::tell(LocalSegment& s, uint32_t rank) {
  Told told = s.told[rank].load(std::memory_order_acquire);
  if (told == Told::registered) return GASPI_SUCCESS;
  if (!world_.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
  if (told == Told::refused) {
    s.told[rank].store(Told::nothing, std::memory_order_release);  // asked again next time
    return GASPI_ERROR;
  }
  Told nothing = Told::nothing;
  if (s.told[rank].compare_exchange_strong(nothing, Told::asked, std::memory_order_acq_rel))
    post(world_, rank, ControlMessage::register_segment, {s.id, s.serial}, describe(s));
  return GASPI_TIMEOUT;
}

void Segments::on_registered(uint32_t from, const Header& header) {
  if (header.a >= kSegmentIds) return;
  LocalSegment* const s = world_.segments[header.a].load(std::memory_order_acquire);
  if (s == nullptr || s->serial != header.b) return;  // deleted meanwhile
  s->told[from].store(header.c != 0 ? Told::registered : Told::refused, std::memory_order_release);
}

// ---- what this rank knows of others ----

void Segments::on_register(uint32_t from, const Header& header, const std::string& text) {
  if (header.a >= kSegmentIds) return;
  const std::lock_guard lock(asked_mutex_);
  asked_.push_back({from, header, text});
  world_.work.fetch_add(1, std::memory_order_relaxed);
}

// One thread takes them, in order: the mutex is held meanwhile. Not before the mechanism of atomics
// is agreed on, which decides what rights are needed.
uint32_t Segments::take_registrations() {
  const std::unique_lock lock(asked_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || asked_.empty() || world_.atomics == nullptr) return 0;
  const size_t before = asked_.size();
  std::erase_if(asked_, [this](const Asked& asked) { return take(asked); });
  const size_t taken = before - asked_.size();
  world_.work.fetch_sub(static_cast<uint32_t>(taken), std::memory_order_relaxed);
  return static_cast<uint32_t>(taken);
}

bool Segments::take(const Asked& asked) {
  if (world_.is_corrupt(asked.from)) return true;
  uint64_t serial = 0, well = 1;
  try {
    auto r = read_description(asked.from, asked.text);
    serial = r->serial;
    r->epoch = world_.epoch(asked.from);
    lay_ghosts(asked.from);
    Peer& peer = world_.peer(asked.from);
    Peer& base = base_peer(peer);
    if (connect_peer(base) == CWY_RETRY || connect_peer(peer) == CWY_RETRY) return false;
    open_segment(world_, peer, *r);
    replace(static_cast<unsigned>(asked.header.a), asked.from, r.release());
  } catch (const Error& e) {
    log_info("segment {} of rank {} cannot be used here: {}", asked.header.a, asked.from, e.text());
    well = 0;
  }
  post(world_, asked.from, ControlMessage::registered, {asked.header.a, serial, well});
  return true;
}

void Segments::on_drop(uint32_t from, const Header& header) {
  if (header.a >= kSegmentIds) return;
  {
    // A registration that still waits for a connection.
    const std::lock_guard lock(asked_mutex_);
    const size_t gone = std::erase_if(asked_, [&](const Asked& asked) {
      return asked.from == from && asked.header.a == header.a && asked.header.b == header.b;
    });
    world_.work.fetch_sub(static_cast<uint32_t>(gone), std::memory_order_relaxed);
  }
  const FarSegment* const r = world_.remote_segment(static_cast<unsigned>(header.a), from);
  if (r != nullptr && r->serial == header.b)
    replace(static_cast<unsigned>(header.a), from, nullptr);
}

void Segments::replace(unsigned id, uint32_t rank, FarSegment* fresh) {
  const std::lock_guard lock(rows_mutex_);
  World::Row* row = world_.remote[id].load(std::memory_order_acquire);
  if (row == nullptr) {
    row = new World::Row[world_.size];
    for (uint32_t r = 0; r < world_.size; ++r) row[r].store(nullptr, std::memory_order_relaxed);
    world_.remote[id].store(row, std::memory_order_release);
  }
  FarSegment* const old = row[rank].exchange(fresh, std::memory_order_acq_rel);
  if (old == nullptr) return;
  const std::lock_guard connect(world_.peer(rank).ep->connect_mutex());
  old->close();
  retired_remote_.emplace_back(old);
}

void Segments::forget(uint32_t rank) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& slot : world_.segments) {
      LocalSegment* const s = slot.load(std::memory_order_acquire);
      if (s != nullptr) s->told[rank].store(Told::nothing, std::memory_order_release);
    }
  }
  {
    const std::lock_guard lock(asked_mutex_);
    const size_t gone = std::erase_if(asked_, [rank](const Asked& a) { return a.from == rank; });
    world_.work.fetch_sub(static_cast<uint32_t>(gone), std::memory_order_relaxed);
  }
  const std::lock_guard lock(rows_mutex_);
  for (auto& slot : world_.remote) {
    World::Row* const row = slot.load(std::memory_order_acquire);
    FarSegment* const old =
        row != nullptr ? row[rank].exchange(nullptr, std::memory_order_acq_rel) : nullptr;
    if (old != nullptr) ghosts_.emplace_back(old);
  }
}

void Segments::lay_ghosts(uint32_t rank) {
  const std::lock_guard lock(rows_mutex_);
  const std::lock_guard connect(world_.peer(rank).ep->connect_mutex());
  for (auto& ghost : ghosts_) {
    if (ghost->rank != rank) continue;
    ghost->close();
    retired_remote_.push_back(std::move(ghost));
  }
  std::erase(ghosts_, nullptr);
}

}  // namespace causeway::gaspi
