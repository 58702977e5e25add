#include "api/gaspi/control.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "am/internal.h"
#include "api/gaspi/control_queue.h"
#include "api/gaspi/group.h"
#include "api/gaspi/messages.h"
#include "api/gaspi/passive.h"
#include "api/gaspi/process.h"
#include "api/gaspi/rejoin.h"
#include "api/gaspi/segment.h"
#include "api/gaspi/world.h"

namespace causeway::gaspi {

void ControlQueue::post(uint32_t rank, ControlMessage message, const Header& header,
                        std::string text) {
  if (world_.is_corrupt(rank) || world_.ended.load(std::memory_order_relaxed)) return;
  if (rank == world_.rank) {
    const std::lock_guard lock(in_mutex_);
    return hand_in({rank, world_.epoch(rank), message, header, std::move(text), 0});
  }
  world_.work.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(new_mutex_);
  new_.push_back({rank, world_.epoch(rank), 0, message, header, std::move(text)});
}

namespace {

// Set in the id of a control message that keeps no order: a welcome goes before what waits for it.
constexpr uint32_t kUnordered = 1u << 31;

uint32_t following(uint32_t id) {
  return (id + 1) & (kUnordered - 1);
}

}  // namespace

uint32_t ControlQueue::next_id(const Outgoing& out) {
  if (out.message == ControlMessage::welcome) return kUnordered | unordered_++;
  Numbers& numbers = numbers_[out.to];
  if (numbers.epoch != out.epoch) numbers = {out.epoch, 0};
  return numbers.next;
}

ControlQueue::Sent ControlQueue::send_pieces(Outgoing& out) {
  if (world_.is_corrupt(out.to) || out.epoch != world_.epoch(out.to)) return Sent::lost;
  // Acquire: see World::reached. A welcome is what makes a process known.
  if (out.message != ControlMessage::welcome &&
      !world_.reached[out.to].load(std::memory_order_acquire))
    return Sent::later;
  const gaspi_return_t connected = try_connect(world_, out.to);
  if (connected == GASPI_TIMEOUT) return Sent::later;
  if (connected != GASPI_SUCCESS) return Sent::lost;
  Peer& peer = world_.peer(out.to);
  if (!out.begun) out.id = next_id(out);
  const size_t piece = Connection::of(peer.am.load(std::memory_order_acquire)).attr->am_medium_max;
  while (!out.begun || out.sent < out.text.size()) {
    const size_t n = std::min(piece, out.text.size() - out.sent);
    const Header& h = out.header;
    const int32_t args[] = {static_cast<int32_t>(static_cast<uint32_t>(Message::piece) |
                                                 static_cast<uint32_t>(out.message) << 8),
                            static_cast<int32_t>(out.id),
                            static_cast<int32_t>(out.sent),
                            static_cast<int32_t>(out.text.size()),
                            low_half(h.a),
                            high_half(h.a),
                            low_half(h.b),
                            high_half(h.b),
                            low_half(h.c),
                            high_half(h.c)};
    const void* const payload = n == 0 ? nullptr : out.text.data() + out.sent;
    const cwy_status status =
        try_send_internal(peer, Internal::interface, args, 10, payload, n, false);
    if (status == CWY_RETRY) return Sent::later;
    if (status != CWY_OK) return Sent::lost;
    out.sent += n;
    if (std::exchange(out.begun, true) || out.message == ControlMessage::welcome) continue;
    numbers_[out.to].next = following(out.id);
  }
  return Sent::all;
}

uint32_t ControlQueue::send() {
  const std::unique_lock lock(out_mutex_, std::try_to_lock);
  return lock.owns_lock() ? send_all() : 0;  // somebody is at it
}

void ControlQueue::flush() {
  const std::lock_guard lock(out_mutex_);
  send_all();
}

// The mutex is held.
uint32_t ControlQueue::send_all() {
  {
    const std::lock_guard fresh(new_mutex_);
    std::move(new_.begin(), new_.end(), std::back_inserter(out_));
    new_.clear();
  }
  if (out_.empty()) return 0;
  uint32_t moved = 0;
  std::set<uint32_t> busy;  // ranks that take no more now
  auto later = out_.begin();
  for (Outgoing& out : out_) {
    const bool waits = busy.count(out.to) != 0 && out.message != ControlMessage::welcome;
    if (waits || send_pieces(out) == Sent::later) {
      busy.insert(out.to);
      std::swap(*later++, out);
      continue;
    }
    ++moved;
    world_.work.fetch_sub(1, std::memory_order_relaxed);
  }
  out_.erase(later, out_.end());
  return moved;
}

bool ControlQueue::all_sent() {
  const std::unique_lock lock(out_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const std::unique_lock fresh(new_mutex_, std::try_to_lock);
  return fresh.owns_lock() && out_.empty() && new_.empty();
}

void ControlQueue::forget(uint32_t rank) {
  const std::lock_guard lock(in_mutex_);
  std::erase_if(partial_, [rank](const auto& entry) { return entry.first.first == rank; });
}

void ControlQueue::on_piece(uint32_t from, const int32_t* args, const void* payload,
                            size_t length) {
  const size_t at = static_cast<uint32_t>(args[2]), total = static_cast<uint32_t>(args[3]);
  if (at > total || length > total - at) return;
  const std::lock_guard lock(in_mutex_);
  const std::pair<uint32_t, uint32_t> key{from, static_cast<uint32_t>(args[1])};
  Incoming whole;  // most control messages have one piece
  Incoming& in = length == total ? whole : partial_[key];
  if (in.received == 0) {
    in.from = from;
    in.epoch = world_.epoch(from);
    in.message = static_cast<ControlMessage>(static_cast<uint32_t>(args[0]) >> 8 & 0xff);
    in.header = {join_halves(args[4], args[5]), join_halves(args[6], args[7]),
                 join_halves(args[8], args[9])};
    in.text.resize(total);
  }
  if (length != 0) std::memcpy(in.text.data() + at, payload, length);
  in.received += length;
  if (in.received < total) return;
  arrived(key.second, std::move(in));
  if (length != total) partial_.erase(key);
}

// This and the next: the mutex is held.
void ControlQueue::arrived(uint32_t id, Incoming&& in) {
  if (id & kUnordered) return hand_in(std::move(in));
  Order& order = orders_[in.from];
  if (order.numbers.epoch != in.epoch) order = Order{{in.epoch, 0}, {}};
  uint32_t& next = order.numbers.next;
  if (id != next) {
    order.early.insert_or_assign(id, std::move(in));
    return;
  }
  hand_in(std::move(in));
  next = following(next);
  for (auto held = order.early.find(next); held != order.early.end();
       held = order.early.find(next)) {
    hand_in(std::move(held->second));
    order.early.erase(held);
    next = following(next);
  }
}

void ControlQueue::hand_in(Incoming&& in) {
  in_.push_back(std::move(in));
  world_.work.fetch_add(1, std::memory_order_relaxed);
}

uint32_t ControlQueue::deliver() {
  const std::unique_lock one(deliver_mutex_, std::try_to_lock);
  if (!one.owns_lock()) return 0;
  uint32_t moved = 0;
  for (;; ++moved) {
    Incoming in;
    {
      const std::lock_guard lock(in_mutex_);
      if (in_.empty()) break;
      in = std::move(in_.front());
      in_.pop_front();
    }
    world_.work.fetch_sub(1, std::memory_order_relaxed);
    // Messages that a process sent before it was lost are handled, unless the rank has a new
    // process.
    if (in.epoch != world_.epoch(in.from)) continue;
    handle_control_message(world_, in.from, in.message, in.header, in.text);
  }
  if (moved != 0) world_.tell_news();
  return moved;
}

void post(World& world, uint32_t rank, ControlMessage message, Header header, std::string text) {
  world.control->post(rank, message, header, std::move(text));
}

uint32_t move_control_messages(World& world) {
  const uint32_t sent = world.control->send();
  const uint32_t handled = world.control->deliver();
  // Answers to what was handled go out at once.
  return sent + handled + (handled != 0 ? world.control->send() : 0);
}

bool control_messages_sent(World& world) {
  return world.control->all_sent();
}

void on_piece(World& world, Peer& from, const int32_t* args, unsigned nargs, const void* payload,
              size_t length) {
  if (nargs == 10) world.control->on_piece(from.rank, args, payload, length);
}

void handle_control_message(World& w, uint32_t from, ControlMessage message, const Header& header,
                            std::string& text) {
  switch (message) {
    case ControlMessage::register_segment:
      return w.segment_table->on_register(from, header, text);
    case ControlMessage::registered:
      return w.segment_table->on_registered(from, header);
    case ControlMessage::drop_segment:
      return w.segment_table->on_drop(from, header);
    case ControlMessage::join:
    case ControlMessage::leave:
    case ControlMessage::commit:
    case ControlMessage::step:
      return w.groups->on_control_message(from, message, header, text);
    case ControlMessage::passive_ready:
    case ControlMessage::passive_go:
    case ControlMessage::passive_data:
    case ControlMessage::passive_taken:
    case ControlMessage::passive_cancel:
      return w.passive->on_control_message(from, message, header, text);
    case ControlMessage::kill:
    case ControlMessage::leaving:
    case ControlMessage::connect:
    case ControlMessage::disconnect:
    case ControlMessage::ping:
    case ControlMessage::answer:
    case ControlMessage::print:
      return on_process_message(w, from, message, header, text);
    case ControlMessage::welcome:
      return on_welcome(w, from, header, text);
  }
}

}  // namespace causeway::gaspi
