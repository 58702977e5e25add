#include "launch/relay.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "launch/handshake.h"
#include "launch/process_tree.h"
#include "spawn/signal_block.h"

namespace causeway::launch {
namespace {

constexpr double kInvitationLimit = 60.0;
constexpr double kOneAddress = 5.0;
constexpr size_t kLongestLine = 64 << 10;

std::string read_line(int fd) {
  const double until = now_s() + kInvitationLimit;
  std::string line;
  while (line.empty() || line.back() != '\n') {
    if (!wait_readable(fd, until))
      throw Error(CWY_ERR_TIMEOUT, "no invitation on standard input within {:g} s",
                  kInvitationLimit);
    char c = 0;
    const ssize_t n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || line.size() >= kLongestLine) break;
    line += c;
  }
  return line;
}

// The launcher may be seen under some of its addresses only, and what answers at one of them may
// be something else.
UniqueFd reach(const Invitation& invitation) {
  const double until = now_s() + invitation.limit_s;
  std::string reasons;
  for (const std::string& address : invitation.addresses) {
    try {
      const double limit = std::min(kOneAddress, until - now_s());
      if (limit <= 0) throw Error(CWY_ERR_TIMEOUT, "no time left");
      UniqueFd socket = connect_to(address, invitation.port, limit);
      introduce(socket.get(), invitation, kOneAddress);
      return socket;
    } catch (const Error& e) {
      reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", address, e.text());
    }
  }
  throw Error(CWY_ERR_UNREACHABLE,
              "cannot reach the launcher at port {} of {}; see `causeway run --address`",
              invitation.port, reasons);
}

// The order comes when all hosts are there. Nothing but signs of life comes before it.
StartOrder await_order(Channel& link, double limit_s) {
  const double until = now_s() + limit_s;
  for (;;) {
    const std::vector<Frame> next = link.pump(1);
    if (!next.empty() && next[0].word == Word::start) return StartOrder::unpack(next[0].body);
    if (!next.empty()) continue;
    if (!link) throw Error(CWY_ERR_UNREACHABLE, "the launcher has ended: {}", link.why());
    if (!link.wait(until))
      throw Error(CWY_ERR_TIMEOUT, "the launcher did not give the order to start");
  }
}

Crew::Plan plan_of(const StartOrder& order, const SessionDir& session, const sigset_t& mask) {
  Crew::Plan plan;
  plan.spawn.programs = order.programs;
  plan.spawn.stdin_process = order.stdin_process;
  plan.spawn.signal_mask = mask;
  plan.binding = order.binding;
  plan.layout = order.layout;
  plan.host = order.host;
  plan.session_path = session.path();
  plan.environment = order.environment;
  return plan;
}

}  // namespace

Joined join_launcher(int invitation_fd) {
  const Invitation invitation = Invitation::unpack(read_line(invitation_fd));
  Joined joined;
  joined.link = Channel(reach(invitation), Cipher::Side::relay,
                        invitation.encrypted ? &invitation.secret : nullptr);
  // The launcher itself gives up after the limit; the rest covers what is under way.
  joined.order = await_order(joined.link, invitation.limit_s + kOneAddress);
  return joined;
}

std::string relay_session(const StartOrder& order) {
  return fmt::format("{}.{}", order.layout.job_id, order.host);
}

Relay::Relay(const StartOrder& order, const SessionDir& session, Channel link, UniqueFd front_fd,
             const sigset_t& caller_mask)
    : order_(order),
      session_(session),
      front_(std::move(front_fd)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      link_(std::move(link)) {
  child_signals_ = child_signals();
  link_.attend(epoll_.get(), kLink);
  WorkforceEvents& events = *this;
  crew_ = std::make_unique<Crew>(plan_of(order, session, caller_mask), events, epoll_.get());
}

void Relay::spawn() {
  crew_->spawn();
}

void Relay::start_processes() {
  for (RankProcess& process : crew_->processes()) {
    for (const uint32_t stream : {STDOUT_FILENO, STDERR_FILENO}) {
      UniqueFd fd = std::move(stream == STDOUT_FILENO ? process.out : process.err);
      ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
      const Watch watch(epoll_.get(), kSource | sources_.size(), EPOLLIN);
      sources_.push_back({process.process, stream, std::move(fd), watch});
      watch_source(static_cast<uint32_t>(sources_.size() - 1));
    }
    if (process.in) stdin_ = Feed(std::move(process.in), epoll_.get(), kFeed);
  }
  crew_->start_server();
}

int Relay::supervise() {
  ::signal(SIGPIPE, SIG_IGN);
  muted_.mute();
  watch_readable(epoll_.get(), front_.get(), kFront);
  watch_readable(epoll_.get(), child_signals_.get(), kChild);
  start_processes();
  on_link();  // words that came with the order
  bool told_done = false;
  while (!over_) {
    if (!told_done && crew_->quiet()) {
      // Processes that the ranks had started hold the ranks' pipes open, and end with the ranks.
      kill_descendants({}, 2.0);
      for (uint32_t i = 0; i < sources_.size(); ++i) on_source(i);
      if (drained()) {
        session_.sweep();
        link_.send(Word::done);
        told_done = true;
      }
    }
    take_events(epoll_.get(), next_deadline(), [this](uint64_t tag) { dispatch(tag); });
    on_timers(now_s());
  }
  kill_all();
  kill_descendants({}, 2.0);
  return status_;
}

void Relay::dispatch(uint64_t tag) {
  switch (tag & kTagMask) {
    case kFront:
      return on_front();
    case kChild:
      discard_input(child_signals_.get());
      return crew_->on_children();
    case kLink:
      return on_link();
    case kSource:
      return on_source(static_cast<uint32_t>(tag));
    case kFeed:
      return feed_stdin_process();
    default:
      crew_->dispatch(tag);
  }
}

// A signal to a relay is not the job's: whoever sends it wants this host's part to end.
void Relay::on_front() {
  unsigned char signal = 0;
  const ssize_t n = ::read(front_.get(), &signal, 1);
  if (n < 0) return;
  if (n == 0) return give_up("the process that started it is gone");
  if (only_passed_on(signal)) return;
  on_remark(fmt::format("the relay was told to end by signal {}", signal));
  kill_all();
}

void Relay::on_started(uint32_t process, pid_t pid) {
  link_.send(Word::started, pack(process, pid));
}

void Relay::on_exec_failure(uint32_t process, int failure) {
  link_.send(Word::exec_failed, pack(process, failure));
}

void Relay::on_ended(uint32_t process, int wait_status) {
  // The last output of a process comes before its end.
  for (uint32_t i = 0; i < sources_.size(); ++i)
    if (sources_[i].process == process) on_source(i);
  link_.send(Word::ended, pack(process, wait_status));
}

void Relay::on_stopped(uint32_t process, bool stopped) {
  link_.send(Word::stopped, pack(process, stopped));
}

void Relay::on_remark(const std::string& line) {
  link_.send(Word::remark, pack(line));
}

void Relay::on_report(PmixReport& report) {
  switch (report.kind) {
    case PmixReport::Kind::fence:
      link_.send(Word::fence, pack(report.participants) + report.data);
      fences_.push_back({std::move(report.participants), std::move(report.answer)});
      return;
    case PmixReport::Kind::modex: {
      const uint64_t number = next_question_++;
      questions_[number] = std::move(report.supply);
      link_.send(Word::modex_ask, pack(number, report.process, report.limit_s));
      return;
    }
    case PmixReport::Kind::modex_data:
      link_.send(Word::modex_data, pack(report.question, report.found, report.data));
      return;
    default:
      link_.send(Word::report, pack(report.kind, report.process, report.status, report.line));
  }
}

void Relay::on_link() {
  try {
    for (const Frame& frame : link_.pump()) take(frame);
  } catch (const Error& e) {
    return give_up("the launcher sent what cannot be understood: " + e.text());
  }
  if (!link_ && !over_) give_up("the connection to the launcher ended: " + link_.why());
}

void Relay::take(const Frame& frame) {
  Unpacker in(frame.body);
  switch (frame.word) {
    case Word::signal: {
      const auto process = in.take<uint32_t>();
      return crew_->signal(process, in.take<int32_t>());
    }
    case Word::announce:
      return take_announcement(in);
    case Word::fence_done: {
      const auto participants = in.take<std::vector<uint32_t>>();
      const bool complete = in.take<bool>();
      const auto data = in.take<std::string>();
      const auto fence = std::ranges::find_if(
          fences_, [&](const Fence& f) { return f.participants == participants; });
      if (fence == fences_.end()) return;
      const auto answer = std::move(fence->answer);
      fences_.erase(fence);
      return answer(complete, &data);
    }
    case Word::modex_ask: {
      const auto question = in.take<uint64_t>();
      return crew_->server().ask_data(in.take<uint32_t>(), question);
    }
    case Word::modex_data: {
      const auto found = questions_.find(in.take<uint64_t>());
      const bool there = in.take<bool>();
      if (found == questions_.end()) return;
      const auto supply = std::move(found->second);
      questions_.erase(found);
      return supply(there ? std::optional(in.take<std::string>()) : std::nullopt);
    }
    case Word::stdin_data:
      if (frame.body.empty())
        stdin_.end();
      else
        stdin_.push(frame.body);
      return feed_stdin_process();
    case Word::output_taken: {
      const auto process = in.take<uint32_t>();
      const auto stream = in.take<uint32_t>();
      const auto count = in.take<uint32_t>();
      for (uint32_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i].process != process || sources_[i].stream != stream) continue;
        sources_[i].room = std::min(sources_[i].room + count, kWindow);
        watch_source(i);
      }
      return;
    }
    case Word::dismiss:
      over_ = true;
      return;
    default:
      return;
  }
}

void Relay::take_announcement(Unpacker& in) {
  Announcement what;
  in.take(what.kind);
  in.take(what.rank);
  in.take(what.process);
  in.take(what.epoch);
  in.take(what.how);
  crew_->announce(what);
}

void Relay::feed_stdin_process() {
  const size_t gone = stdin_.pump();
  if (gone > 0) link_.send(Word::stdin_taken, pack(static_cast<uint32_t>(gone)));
  if (stdin_.broken() && !stdin_broken_told_) {
    stdin_broken_told_ = true;
    link_.send(Word::stdin_closed);
  }
}

void Relay::watch_source(uint32_t index) {
  Source& source = sources_[index];
  source.watch.set(source.fd.get(), source.room > 0);
}

void Relay::on_source(uint32_t index) {
  Source& source = sources_[index];
  char chunk[64 << 10];
  while (source.fd && source.room > 0) {
    const ssize_t n = ::read(source.fd.get(), chunk, std::min(sizeof chunk, source.room));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // nothing now
    link_.send(Word::output,
               pack(source.process, source.stream) + std::string(chunk, static_cast<size_t>(n)));
    source.room -= static_cast<size_t>(n);
    if (n == 0) {
      source.watch.set(source.fd.get(), false);
      source.fd.reset();
    }
  }
  watch_source(index);
}

bool Relay::drained() const {
  return std::ranges::none_of(sources_,
                              [](const Source& source) { return static_cast<bool>(source.fd); });
}

double Relay::next_deadline() const {
  return std::min(link_.sent_at() + beat_interval(order_.peer_s), link_.heard_at() + order_.peer_s);
}

void Relay::on_timers(double now) {
  if (over_) return;
  if (!link_) return give_up("the connection to the launcher failed: " + link_.why());
  if (link_.sent_at() + beat_interval(order_.peer_s) <= now) link_.send(Word::beat);
  if (link_.heard_at() + order_.peer_s <= now)
    give_up(fmt::format("no sign of life from the launcher for {:g} s", order_.peer_s));
}

// The launcher cannot be told any more; a line here may still reach somebody through the agent.
void Relay::give_up(const std::string& why) {
  if (over_) return;
  over_ = true;
  status_ = 1;
  const std::string line = fmt::format("causeway relay: {}; ending the job on this host\n", why);
  [[maybe_unused]] const ssize_t n = ::write(muted_.real(), line.data(), line.size());
}

void Relay::kill_all() {
  for (const RankProcess& process : crew_->processes()) process.send_signal(SIGKILL);
}

}  // namespace causeway::launch
