#include "launch/relay.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/process_tree.h"
#include "launch/watch.h"

namespace causeway::launch {
namespace {

Crew::Plan plan_of(const StartOrder& order, const SessionDir& session, const sigset_t& mask) {
  Crew::Plan plan;
  plan.spawn.command = order.command;
  plan.spawn.stdin_process = order.stdin_process;
  plan.spawn.signal_mask = mask;
  plan.layout = order.layout;
  plan.host = order.host;
  plan.session_path = session.path();
  plan.environment = order.environment;
  return plan;
}

}  // namespace

Relay::Relay(const StartOrder& order, const SessionDir& session, UniqueFd socket, UniqueFd front_fd,
             const sigset_t& caller_mask)
    : order_(order),
      session_(session),
      front_(std::move(front_fd)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  child_signals_ = child_signals();
  link_ = Channel(std::move(socket), epoll_.get(), kLink);
  WorkforceEvents& events = *this;
  crew_ = std::make_unique<Crew>(plan_of(order, session, caller_mask), events, epoll_.get());
}

void Relay::spawn() {
  crew_->spawn();
}

void Relay::watch(int fd, uint64_t tag) {
  watch_readable(epoll_.get(), fd, tag);
}

void Relay::start_processes() {
  for (RankProcess& process : crew_->processes()) {
    for (const uint32_t stream : {STDOUT_FILENO, STDERR_FILENO}) {
      UniqueFd fd = std::move(stream == STDOUT_FILENO ? process.out : process.err);
      ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
      sources_.push_back({process.process, stream, std::move(fd)});
      watch_source(static_cast<uint32_t>(sources_.size() - 1));
    }
    if (process.in) stdin_ = Feed(std::move(process.in), epoll_.get(), kFeed);
  }
  crew_->start_server();
}

int Relay::supervise() {
  ::signal(SIGPIPE, SIG_IGN);
  muted_.mute();
  watch(front_.get(), kFront);
  watch(child_signals_.get(), kChild);
  start_processes();
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
    const double wait = next_deadline() - now_s();
    const int ms = std::isinf(wait) ? -1 : static_cast<int>(std::clamp(wait, 0.0, 1e5) * 1e3) + 1;
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, 64, ms);
    for (int i = 0; i < count; ++i) dispatch(events[i].data.u64, events[i].events);
    on_timers(now_s());
  }
  kill_all();
  kill_descendants({}, 2.0);
  return status_;
}

void Relay::dispatch(uint64_t tag, uint32_t events) {
  switch (tag & kTagMask) {
    case kFront:
      return on_front();
    case kChild: {
      signalfd_siginfo info;
      while (::read(child_signals_.get(), &info, sizeof info) > 0) {
      }
      return crew_->on_children();
    }
    case kLink:
      return on_link();
    case kSource:
      return on_source(static_cast<uint32_t>(tag));
    case kFeed:
      return feed_stdin_process();
    default:
      crew_->dispatch(tag, events);
  }
}

// A signal to a relay is not the job's: whoever sends it wants this host's part to end.
void Relay::on_front() {
  unsigned char signal = 0;
  const ssize_t n = ::read(front_.get(), &signal, 1);
  if (n < 0) return;
  if (n == 0) return give_up("its front is gone");
  if (signal == SIGTSTP || signal == SIGCONT || signal == SIGURG) return;
  on_remark(fmt::format("the relay was told to end by signal {}", signal));
  kill_all();
}

void Relay::on_started(uint32_t process, pid_t pid) {
  link_.send(Word::started, Packer().number(process).number(static_cast<int32_t>(pid)).bytes());
}

void Relay::on_exec_failure(uint32_t process, int failure) {
  link_.send(Word::exec_failed, Packer().number(process).number(failure).bytes());
}

void Relay::on_ended(uint32_t process, int wait_status) {
  // The last output of a process comes before its end.
  for (uint32_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].process == process) on_source(i);
  }
  link_.send(Word::ended, Packer().number(process).number(wait_status).bytes());
}

void Relay::on_stopped(uint32_t process, bool stopped) {
  link_.send(Word::stopped, Packer().number(process).number(uint32_t{stopped}).bytes());
}

void Relay::on_remark(const std::string& line) {
  link_.send(Word::remark, Packer().text(line).bytes());
}

void Relay::on_report(PmixReport& report) {
  switch (report.kind) {
    case PmixReport::Kind::fence:
      link_.send(Word::fence, Packer().numbers(report.participants).bytes() + report.data);
      fences_.push_back({std::move(report.participants), std::move(report.answer)});
      return;
    case PmixReport::Kind::modex: {
      const uint64_t number = next_question_++;
      questions_[number] = std::move(report.supply);
      link_.send(Word::modex_ask,
                 Packer().number(number).number(report.process).number(report.limit_s).bytes());
      return;
    }
    case PmixReport::Kind::modex_data:
      link_.send(Word::modex_data, Packer()
                                       .number(report.question)
                                       .number(static_cast<uint32_t>(report.found))
                                       .text(report.data)
                                       .bytes());
      return;
    default:
      link_.send(Word::report, Packer()
                                   .number(static_cast<uint32_t>(report.kind))
                                   .number(report.process)
                                   .number(static_cast<int32_t>(report.status))
                                   .text(report.line)
                                   .bytes());
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
    case Word::signal:
      return take_signal(in);
    case Word::announce:
      return take_announcement(in);
    case Word::fence_done: {
      const std::vector<uint32_t> participants = in.numbers();
      const bool complete = in.number<uint32_t>() != 0;
      const std::string data = in.text();
      const auto fence = std::find_if(fences_.begin(), fences_.end(), [&](const Fence& f) {
        return f.participants == participants;
      });
      if (fence == fences_.end()) return;
      const auto answer = std::move(fence->answer);
      fences_.erase(fence);
      return answer(complete, &data);
    }
    case Word::modex_ask: {
      const auto question = in.number<uint64_t>();
      return crew_->server().ask_data(in.number<uint32_t>(), question);
    }
    case Word::modex_data: {
      const auto found = questions_.find(in.number<uint64_t>());
      const bool there = in.number<uint32_t>() != 0;
      if (found == questions_.end()) return;
      const auto supply = std::move(found->second);
      questions_.erase(found);
      return supply(there ? std::optional(in.text()) : std::nullopt);
    }
    case Word::stdin_data:
      if (frame.body.empty()) {
        stdin_.end();
      } else {
        stdin_.push(frame.body);
      }
      return feed_stdin_process();
    case Word::output_taken: {
      const auto process = in.number<uint32_t>();
      const auto stream = in.number<uint32_t>();
      const auto count = in.number<uint32_t>();
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

void Relay::take_signal(Unpacker& in) {
  const auto process = in.number<uint32_t>();
  crew_->signal(process, in.number<int32_t>());
}

void Relay::take_announcement(Unpacker& in) {
  Announcement what;
  what.kind = static_cast<Announcement::Kind>(in.number<uint32_t>());
  what.rank = in.number<uint32_t>();
  what.process = in.number<uint32_t>();
  what.epoch = in.number<uint32_t>();
  what.how = in.text();
  crew_->announce(what);
}

void Relay::feed_stdin_process() {
  const size_t gone = stdin_.pump();
  if (gone > 0) link_.send(Word::stdin_taken, Packer().number(static_cast<uint32_t>(gone)).bytes());
  if (stdin_.broken() && !stdin_broken_told_) {
    stdin_broken_told_ = true;
    link_.send(Word::stdin_closed);
  }
}

void Relay::watch_source(uint32_t index) {
  Source& source = sources_[index];
  const bool wanted = source.fd && source.room > 0;
  if (wanted == source.watched || !source.fd) return;
  source.watched = wanted;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kSource | index;
  ::epoll_ctl(epoll_.get(), wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, source.fd.get(), &event);
}

void Relay::on_source(uint32_t index) {
  Source& source = sources_[index];
  char chunk[64 << 10];
  while (source.fd && source.room > 0) {
    const ssize_t n = ::read(source.fd.get(), chunk, std::min(sizeof chunk, source.room));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // nothing now
    const std::string head = Packer().number(source.process).number(source.stream).bytes();
    link_.send(Word::output, head + std::string(chunk, static_cast<size_t>(n)));
    source.room -= static_cast<size_t>(n);
    if (n == 0) {
      if (source.watched) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, source.fd.get(), nullptr);
      source.fd.reset();
    }
  }
  watch_source(index);
}

bool Relay::drained() const {
  return std::none_of(sources_.begin(), sources_.end(),
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
