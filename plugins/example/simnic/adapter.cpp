#include "adapter.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "atomic.h"

namespace simnic {
namespace {

constexpr int kEvents = 16;
constexpr uint32_t kLookEvery = 64;  // at the file of the port, in calls
constexpr uint32_t kRest = 4;
constexpr size_t kWindow = 64;  // packets to one peer that are not acknowledged
constexpr std::chrono::milliseconds kAgain{5};
constexpr int kSendRoom = 1 << 20;  // of a socket, bytes

bool watch(int epoll, int fd, void* what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = what;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

bool Registrations::add(uint64_t wish, uint64_t addr, uint64_t length, uint64_t* key) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= most_) return false;
  *key = wish != 0 && entries_.count(wish) == 0 ? wish : next_++;
  entries_[*key] = {addr, length};
  return true;
}

void Registrations::remove(uint64_t key) {
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

Adapter::Adapter(const Traits& traits, Registrations& memory, uint64_t job, cwy_peer self,
                 Driver& driver)
    : traits_(traits),
      memory_(memory),
      job_(job),
      self_(self),
      driver_(driver),
      random_(static_cast<uint64_t>(traits.seed)) {}

std::string Adapter::open() {
  for (auto& buffer : buffer_) buffer.resize(sizeof(Header) + traits_.mtu + alignof(Header));
  reply_.resize(traits_.mtu);
  wait_fd_ = epoll_create1(EPOLL_CLOEXEC);
  for (int& fd : lane_fd_) {
    fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0 || !watch(wait_fd_, fd, nullptr)) return std::strerror(errno);
  }
  return {};
}

Adapter::~Adapter() {
  while (!pairs_.empty()) destroy_pair(pairs_.back().get());
  for (const int fd : {lane_fd_[0], lane_fd_[1], wait_fd_})
    if (fd >= 0) close(fd);
}

// ---- queue pairs ----------------------------------------------------------------------------

QueuePair* Adapter::create_pair(cwy_peer peer) {
  auto pair = std::make_unique<QueuePair>();
  pair->peer = peer;
  if (getrandom(&pair->number, sizeof pair->number, 0) != sizeof pair->number) return nullptr;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const Name name(pair->number, lane);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    pair->fd[lane] = fd;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendRoom, sizeof kSendRoom);
    if (fd < 0 || bind(fd, name.get(), name.length) != 0 ||
        !watch(lane_fd_[lane], fd, pair.get())) {
      const int why = errno;
      for (const int opened : pair->fd)
        if (opened >= 0) close(opened);
      errno = why;
      return nullptr;
    }
  }
  pairs_.push_back(std::move(pair));
  return pairs_.back().get();
}

void Adapter::destroy_pair(QueuePair* pair) {
  for (const int fd : pair->fd) close(fd);
  std::erase_if(answers_, [&](const Answer& a) { return a.from == pair; });
  std::erase_if(pairs_, [&](const auto& p) { return p.get() == pair; });
}

// ---- sending --------------------------------------------------------------------------------

Header Adapter::header(uint16_t verb) const {
  Header h{};
  h.verb = verb;
  h.rank = self_.rank;
  h.epoch = self_.epoch;
  return h;
}

// Over a network that loses packets a copy is kept until it is acknowledged.
Adapter::Sent Adapter::send(QueuePair& from, Lane lane, uint64_t to, Header& header,
                            const void* bytes) {
  if (traits_.inject_loss == 0) return transmit(from, lane, to, header, bytes);
  Stream& stream = from.streams[lane][to];
  if (stream.kept.size() >= kWindow) return Sent::full;
  header.number = stream.next;
  const Sent answer = transmit(from, lane, to, header, bytes);
  if (answer != Sent::yes) return answer;
  const char* const at = static_cast<const char*>(bytes);
  Kept& kept = stream.kept[stream.next++];
  kept = {header, {}, std::chrono::steady_clock::now()};
  if (header.verb != kGet && header.length != 0) kept.bytes.assign(at, at + header.length);
  return answer;
}

void Adapter::send_again() {
  if (traits_.inject_loss == 0) return;
  const auto now = std::chrono::steady_clock::now();
  for (auto& pair : pairs_)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      for (auto& [to, stream] : pair->streams[lane]) {
        Sent answer = Sent::yes;
        for (auto& [number, kept] : stream.kept) {
          if (answer != Sent::yes || now - kept.tried < kAgain) continue;
          kept.tried = now;
          answer = transmit(*pair, Lane(lane), to, kept.header, kept.bytes.data());
          ++again;
        }
        if (answer != Sent::refused) continue;
        stream.kept.clear();
        driver_.refused(to);
      }
}

bool Adapter::unacknowledged() const {
  if (traits_.inject_loss == 0) return false;
  for (const auto& pair : pairs_)
    for (const auto& streams : pair->streams)
      for (const auto& [to, stream] : streams)
        if (!stream.kept.empty()) return true;
  return false;
}

// Numbers go on: what comes behind is not what came before.
void Adapter::forget(QueuePair& pair, uint64_t to) {
  for (auto& streams : pair.streams)
    if (const auto at = streams.find(to); at != streams.end()) at->second.kept.clear();
}

Adapter::Sent Adapter::transmit(const QueuePair& from, Lane lane, uint64_t to, Header& header,
                                const void* bytes) {
  if (port_down_) return Sent::full;
  if (traits_.inject_loss != 0 && random_() % 1000 < static_cast<uint64_t>(traits_.inject_loss)) {
    ++lost;
    return Sent::yes;
  }
  header.seal = seal(to);
  header.sender = from.number;
  const Name name(to, lane);
  const size_t length = header.verb == kGet ? 0 : header.length;
  iovec pieces[] = {{&header, sizeof header}, {const_cast<void*>(bytes), length}};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(name.get());
  message.msg_namelen = name.length;
  message.msg_iov = pieces;
  message.msg_iovlen = length == 0 ? 1 : 2;
  ssize_t done;
  do {
    done = sendmsg(from.fd[lane], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (done < 0 && errno == EINTR);
  if (done >= 0) {
    ++sent;
    return Sent::yes;
  }
  if (errno == ECONNREFUSED || errno == ECONNRESET || errno == EPIPE || errno == ENOENT)
    return Sent::refused;
  return Sent::full;  // EAGAIN, ENOBUFS, ENOMEM: so far
}

// Those whose doorbell was rung, in the order of the queue or in none.
void Adapter::work(Flow& flow) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    SendQueue& queue = flow.queue[lane];
    if (queue.rest_ > 0) {
      --queue.rest_;
      continue;
    }
    for (size_t tries = queue.rung_.size(); tries > 0; --tries) {
      if (flow.from == nullptr || flow.refused || failure_.size() != 0) return;
      const size_t at = traits_.unordered ? random_() % queue.rung_.size() : 0;
      Work& work = queue.work_[queue.rung_[at]];
      if (work.turns > 0) {
        --work.turns;
        continue;
      }
      const void* bytes = work.source != nullptr ? work.source : work.copy.data();
      const Sent answer = send(*flow.from, Lane(lane), flow.to, work.header, bytes);
      if (answer == Sent::full) {
        queue.rest_ = kRest;
        break;
      }
      if (answer == Sent::refused) {
        flow.refused = true;
        return;
      }
      if (work.sent_ticket != 0) complete(work.sent_ticket, CWY_OK);
      queue.free_.push_back(queue.rung_[at]);
      queue.rung_.erase(queue.rung_.begin() + static_cast<ptrdiff_t>(at));
    }
  }
}

// An answer for which there is no room waits, and stands in nobody's way.
void Adapter::answer() {
  for (size_t tries = std::min<size_t>(answers_.size(), 64); tries > 0; --tries) {
    Answer a = answers_.front();
    answers_.pop_front();
    const void* bytes = &a.value;
    if (a.header.opcode == kGet && a.header.status == CWY_OK) {
      bytes = reply_.data();
      const bool there = memory_.with(a.key, a.raddr, a.header.length, [&](const char* at) {
        std::memcpy(reply_.data(), at, a.header.length);
      });
      if (!there) a.header.status = CWY_ERR_INVALID, a.header.length = 0;
    }
    if (send(*a.from, kAnswers, a.to, a.header, bytes) == Sent::full) answers_.push_back(a);
  }
}

bool Adapter::say_goodbye(QueuePair& pair, uint64_t to) {
  Header h = header(kGoodbye);
  return send(pair, kAnswers, to, h, nullptr) != Sent::full;
}

// Hardware whose outstanding work nobody bounded does the same: the queue is lost, and with it the
// port.
void Adapter::complete(uint64_t ticket, cwy_status status) {
  if (completions_.size() >= static_cast<size_t>(traits_.completions)) {
    failure_ = "its completion queue has overflowed";
    return;
  }
  ++completed;
  completions_.push_back({ticket, status});
}

const char* Adapter::failure() {
  if (failure_.empty() && traits_.fail_after != 0 &&
      sent >= static_cast<uint64_t>(traits_.fail_after))
    failure_ = "its port is down";
  return failure_.empty() ? nullptr : failure_.c_str();
}

bool Adapter::port_down() {
  struct stat file;
  if (!traits_.port_file.empty() && looks_++ % kLookEvery == 0)
    port_down_ = stat(traits_.port_file.c_str(), &file) == 0;
  return port_down_;
}

// ---- receiving ------------------------------------------------------------------------------

bool Adapter::arrived() const {
  epoll_event event;
  return epoll_wait(wait_fd_, &event, 1, 0) != 0;
}

char* Adapter::packet(uint32_t lane) {
  const auto place = reinterpret_cast<uintptr_t>(buffer_[lane].data());
  return buffer_[lane].data() + (-place & (alignof(Header) - 1));
}

// Another buffer takes the kept one's place.
std::vector<char>* Adapter::keep(const void* payload) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!inside_[lane] || payload != packet(lane) + sizeof(Header)) continue;
    auto* const kept = new std::vector<char>(buffer_[lane].size());
    kept->swap(buffer_[lane]);
    return kept;
  }
  return nullptr;
}

uint32_t Adapter::receive(Lane lane, uint32_t budget) {
  // From inside a message: the other lane alone, whose buffer is its own.
  if (inside_[lane] || !failure_.empty() || port_down_) return 0;
  inside_[lane] = true;
  epoll_event events[kEvents];
  uint32_t count = 0;
  const int ready = epoll_wait(lane_fd_[lane], events, kEvents, 0);
  for (int i = 0; i < ready; ++i) {
    QueuePair& pair = *static_cast<QueuePair*>(events[i].data.ptr);
    const uint32_t most = std::max(budget / static_cast<uint32_t>(ready), 1u);
    for (uint32_t n = 0; n < most && failure_.empty(); ++n) {
      const ssize_t bytes =
          recv(pair.fd[lane], packet(lane), sizeof(Header), MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC);
      if (bytes < 0) break;
      ++count;
      take(pair, lane, bytes);
    }
  }
  inside_[lane] = false;
  return count;
}

// Anybody on the host can send to a socket: nothing is believed that was not checked.
bool Adapter::wanted(QueuePair& pair, Lane lane, const Header& h, ssize_t bytes) {
  const bool whole = bytes >= static_cast<ssize_t>(sizeof h) &&
                     static_cast<size_t>(bytes) <= sizeof h + traits_.mtu;
  if (!whole || h.seal != seal(pair.number) || h.verb > kAck || h.nargs > CWYC_AM_MAX_ARGS ||
      (h.verb != kGet && h.length != static_cast<size_t>(bytes) - sizeof h) ||
      (pair.peer.rank != UINT32_MAX && (h.rank != pair.peer.rank || h.epoch != pair.peer.epoch)) ||
      !driver_.known(h)) {
    ++dropped;
    return false;
  }
  return (h.number == 0 && h.verb != kAck) || first_time(pair, lane, h);
}

// The header has come, and `bytes` say how long the packet is. Its payload is read behind that,
// since the place may depend on the header. A place that is no memory loses the port, as a local
// protection error does.
void Adapter::take(QueuePair& pair, Lane lane, ssize_t bytes) {
  char* payload = packet(lane) + sizeof(Header);
  const Header& h = *reinterpret_cast<const Header*>(packet(lane));
  if (!wanted(pair, lane, h, bytes)) {
    recv(pair.fd[lane], nullptr, 0, MSG_DONTWAIT);
    return;
  }
  if (h.verb == kMedium && h.length != 0 && h.length >= traits_.placed)
    if (char* const place = driver_.place(h)) payload = place, ++placed;
  iovec pieces[] = {{packet(lane), sizeof h}, {payload, static_cast<size_t>(bytes) - sizeof h}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  if (recvmsg(pair.fd[lane], &message, MSG_DONTWAIT) != bytes) {
    failure_ = std::string("a payload cannot be written to its place: ") + std::strerror(errno);
    return;
  }
  ++received;
  pair.meet(h.sender);
  serve(pair, h, payload);
}

bool Seen::add(uint64_t number) {
  if (number <= all || !above.insert(number).second) return false;
  while (above.erase(all + 1) != 0) ++all;
  return true;
}

// Acknowledges what came before, too: its acknowledgement may have been lost.
bool Adapter::first_time(QueuePair& pair, Lane lane, const Header& h) {
  if (h.verb == kAck) {
    if (h.opcode < kLanes) pair.streams[h.opcode][h.sender].kept.erase(h.number);
    return false;
  }
  Header ack = header(kAck);
  ack.opcode = lane;
  ack.number = h.number;
  transmit(pair, kAnswers, h.sender, ack, nullptr);
  return pair.seen[lane][h.sender].add(h.number) && !deaf_;
}

void Adapter::serve(QueuePair& pair, const Header& h, const char* payload) {
  switch (h.verb) {
    case kShort:
    case kMedium:
      return driver_.message(h, const_cast<char*>(payload));
    case kLong: {
      // A long to memory that is no more is a message to nobody.
      const bool there = memory_.with(h.key, h.raddr, h.length,
                                      [&](char* at) { std::memcpy(at, payload, h.length); });
      if (!there && h.length != 0) {
        ++dropped;
        return;
      }
      return driver_.message(h, reinterpret_cast<char*>(h.raddr));
    }
    case kGoodbye:
      return driver_.goodbye(h.sender);
    case kDone: {
      char* const to = driver_.place(h.ticket, h.length);
      if (to != nullptr && h.length != 0) std::memcpy(to, payload, h.length);
      if (to != nullptr) complete(h.ticket, h.status);
      return;
    }
    default:
      break;
  }
  Answer a{&pair, h.sender, h.key, h.raddr, header(kDone), 0};
  a.header.ticket = h.ticket;
  a.header.opcode = h.verb;  // of what it answers
  a.header.length = h.verb == kGet ? h.length : h.verb == kAtomic ? sizeof a.value : 0;
  a.header.status = execute(h, payload, &a.value);
  if (a.header.status != CWY_OK) a.header.length = 0;
  answers_.push_back(a);
  if (h.verb == kPutImmediate && a.header.status == CWY_OK) driver_.immediate(h);
}

// False: the memory may not be reached. A put of no bytes reaches none.
bool Adapter::write(const Header& put, const char* payload) {
  return memory_.with(put.key, put.raddr, put.length, [&](char* at) {
    std::memcpy(at, payload, put.length);
  }) || put.length == 0;
}

// An error: the request is refused, and nothing has happened. A get is looked at only; its answer
// reads.
cwy_status Adapter::execute(const Header& h, const char* payload, uint64_t* value) {
  const auto nothing = [](char*) {};
  bool done = false;
  switch (h.verb) {
    case kPutImmediate:
      if (!driver_.listens()) return CWY_ERR_UNSUPPORTED;
      [[fallthrough]];
    case kPut:
      done = write(h, payload);
      break;
    case kPutAdd:
      if (h.operand2 % 8 != 0) break;
      memory_.with(h.word, h.operand2, 8, [&](char* at) {
        done = write(h, payload);
        if (done) raise_counter(at, h.operand1);
      });
      break;
    case kGet:
      done = h.length <= traits_.mtu &&
             (memory_.with(h.key, h.raddr, h.length, nothing) || h.length == 0);
      break;
    case kAtomic:
      done = memory_.with(h.key, h.raddr, 8, [&](char* at) {
        *value = execute_atomic(h.opcode, at, h.operand1, h.operand2);
      });
      break;
    default:
      break;
  }
  return done ? CWY_OK : CWY_ERR_INVALID;
}

}  // namespace simnic
