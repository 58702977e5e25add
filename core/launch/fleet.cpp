#include "launch/fleet.h"

#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "launch/crew.h"
#include "launch/output.h"
#include "launch/verdict.h"
#include "spawn/limits.h"
#include "spawn/pipes.h"

namespace causeway::launch {
namespace {

// Connections that have not said who they are: they are let go after this long, and beyond so many
// the oldest makes room.
constexpr double kGuestPatience = 10.0;
constexpr size_t kMostGuests = 256;
constexpr size_t kOwnDescriptors = 32;
constexpr size_t kHostDescriptors = 4;  // an agent's three pipes and the connection
constexpr uint32_t kMostRemarks = 100;

std::string with_article(const std::vector<std::string>& names) {
  return fmt::format("{} {}", names.size() == 1 ? "host" : "hosts", fmt::join(names, ", "));
}

}  // namespace

Fleet::Fleet(const LaunchOptions& options, const JobLayout& layout, const sigset_t& caller_mask,
             WorkforceEvents& events, int epoll)
    : options_(options),
      layout_(layout),
      caller_mask_(caller_mask),
      events_(events),
      epoll_(epoll),
      environment_(portable_environment()),
      hosts_(layout.hosts.size()),
      start_until_(now_s() + options.start_s),
      ended_(layout.processes(), false) {
  for (const auto& [name, value] : options.environment) environment_.push_back(name + "=" + value);
  for (size_t i = 0; i < hosts_.size(); ++i) secrets_.push_back(random_key());
  for (const uint32_t host : layout_.host_of) ++hosts_[host].running;
}

void Fleet::spawn() {
  std::tie(listener_, port_) = open_listener(options_.hosts.address);
  const std::vector<std::string> addresses = own_addresses(options_.hosts.address);
  const std::vector<std::string> relay = {options_.hosts.program, "relay"};
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i].agent =
        spawn_agent(agent_words(options_.hosts.agent, layout_.hosts[i], relay), caller_mask_);
    hosts_[i].agent_runs = true;
  }
  // After the agents, which keep what the caller had. An agent that has ended is noticed as such.
  ::signal(SIGPIPE, SIG_IGN);
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    Invitation invitation{i,        secrets_[i], port_, options_.start_s, options_.hosts.encrypt,
                          addresses};
    const std::string line = invitation.pack();  // less than a pipe holds
    [[maybe_unused]] const ssize_t n = ::write(hosts_[i].agent.in.get(), line.data(), line.size());
  }
  raise_descriptor_limit();
  demand_descriptors(layout_.processes(), kOwnDescriptors + kHostDescriptors * hosts_.size());
}

void Fleet::start(Output& output) {
  output_ = &output;
  watch_readable(epoll_, listener_.get(), kListener);
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    const std::string tag = "host " + layout_.hosts[i];
    // The output of agents is about the start, and never the program's.
    output.add(tag, STDERR_FILENO, std::move(hosts_[i].agent.out));
    output.add(tag, STDERR_FILENO, std::move(hosts_[i].agent.err));
  }
  make_outputs(output);
  start_stdin();
}

void Fleet::make_outputs(Output& output) {
  for (uint32_t process = 0; process < layout_.processes(); ++process) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      Pipe pipe = make_pipe();
      output.add(tag_of(layout_, process), stream, std::move(pipe.read_end));
      feeds_.emplace_back(std::move(pipe.write_end), epoll_, kFeed | feeds_.size());
    }
  }
}

void Fleet::start_stdin() {
  if (!options_.stdin_rank) return;
  Pipe pipe = make_pipe();
  stdin_ = std::move(pipe.read_end);
  stdin_watch_ = Watch(epoll_, kStdin, EPOLLIN);
  feed_stdin(std::move(pipe.write_end));
}

void Fleet::end_stdin() {
  stdin_watch_.set(stdin_.get(), false);
  stdin_.reset();
}

void Fleet::read_stdin() {
  char chunk[64 << 10];
  const ssize_t n = ::read(stdin_.get(), chunk, std::min(sizeof chunk, stdin_room_));
  if (n < 0) return;
  Host& host = hosts_[layout_.host_of[*options_.stdin_rank]];
  host.channel.send(Word::stdin_data, std::string_view(chunk, static_cast<size_t>(n)));
  stdin_room_ -= static_cast<size_t>(n);
  if (n == 0) return end_stdin();
  stdin_watch_.set(stdin_.get(), stdin_room_ > 0);
}

void Fleet::dispatch(uint64_t tag) {
  const uint32_t index = static_cast<uint32_t>(tag);
  switch (tag & kTagMask) {
    case kListener:
      return on_listener();
    case kGuest:
      return on_guest(index);
    case kLink:
      return on_link(index);
    case kFeed:
      return pump_feed(index);
    case kStdin:
      if (stdin_) read_stdin();
      return;
    default:
      return;
  }
}

void Fleet::on_listener() {
  UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  if (guests_.size() >= kMostGuests) guests_.erase(guests_.begin());
  watch_readable(epoll_, socket.get(), kGuest | next_guest_);
  guests_.emplace(next_guest_++, Guest(std::move(socket), now_s()));
}

void Fleet::on_guest(uint32_t index) {
  const auto found = guests_.find(index);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  const Guest::State state = guest.pump(secrets_);
  if (state == Guest::State::waiting) return;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, guest.fd(), nullptr);
  const uint32_t host = guest.host();
  UniqueFd socket = guest.take_socket();
  guests_.erase(found);
  if (state == Guest::State::accepted && hosts_[host].state == State::invited)
    join(host, std::move(socket));
}

// Nothing is started before every host is there: a host that cannot be reached is a mistake to be
// told at once.
void Fleet::join(uint32_t host, UniqueFd socket) {
  hosts_[host].state = State::joined;
  hosts_[host].channel = Channel(std::move(socket), Cipher::Side::launcher,
                                 options_.hosts.encrypt ? &secrets_[host] : nullptr);
  hosts_[host].channel.attend(epoll_, kLink | host);
  const bool complete =
      std::ranges::all_of(hosts_, [](const Host& each) { return each.state == State::joined; });
  if (!complete || start_failed_) return;
  started_ = true;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_.get(), nullptr);
  listener_.reset();
  guests_.clear();
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i].channel.send(Word::start, order_for(i).pack());
    // A relay says nothing before it has the order, and the last host may have taken its time.
    hosts_[i].channel.expect_news(now_s());
  }
  stdin_watch_.set(stdin_.get(), true);
}

StartOrder Fleet::order_for(uint32_t host) const {
  StartOrder order;
  order.layout = layout_;
  order.host = host;
  order.programs = options_.programs_on(host);
  order.directory = options_.hosts.directory;
  order.environment = environment_;
  order.binding = options_.binding;
  order.stdin_process = options_.stdin_rank;
  order.kill_grace_s = options_.kill_grace_s;
  order.peer_s = options_.peer_s;
  return order;
}

void Fleet::on_link(uint32_t host) {
  Host& from = hosts_[host];
  if (!from.channel) return;
  try {
    for (const Frame& frame : from.channel.pump()) take(host, frame);
  } catch (const Error& e) {
    return lose(host, "its relay sent what cannot be understood: " + e.text());
  }
  if (!from.channel && from.state == State::joined)
    lose(host, "the connection to its relay ended (" + from.channel.why() + ")");
}

// A relay speaks of its own processes only, also where it knows the secret and is not what it
// should be.
uint32_t Fleet::checked_process(uint32_t host, uint32_t process) const {
  if (process >= layout_.processes() || layout_.host_of[process] != host)
    throw Error(CWY_ERR_INVALID, "it speaks of process {}, which is not its own", process);
  return process;
}

void Fleet::take(uint32_t host, const Frame& frame) {
  if (hosts_[host].state != State::joined) return;  // it has taken its leave, or is lost
  Unpacker in(frame.body);
  switch (frame.word) {
    case Word::started:
    case Word::exec_failed:
    case Word::ended:
    case Word::stopped:
      return take_state(host, frame.word, in);
    case Word::report:
      return take_report(host, in);
    case Word::fence:
      return take_fence(host, in);
    case Word::modex_ask:
      return take_question(host, in);
    case Word::modex_data:
      return take_answer(host, in);
    case Word::output:
      return take_output(host, in);
    case Word::stdin_taken:
      if (!reads_stdin(host)) return;
      stdin_room_ = std::min<size_t>(stdin_room_ + in.take<uint32_t>(), kWindow);
      return stdin_watch_.set(stdin_.get(), stdin_room_ > 0);
    case Word::stdin_closed:
      return reads_stdin(host) ? end_stdin() : void();
    case Word::remark: {
      if (++hosts_[host].remarks > kMostRemarks) return;
      const auto line = in.take<std::string>();
      return events_.on_remark(
          fmt::format("host {}: {}", layout_.hosts[host], line.substr(0, line.find('\n'))));
    }
    case Word::done:
      return take_done(host);
    default:
      return;  // beat, and what a later version may say
  }
}

// The end or life of a process, as its status tells.
void Fleet::take_state(uint32_t host, Word word, Unpacker& in) {
  const uint32_t process = checked_process(host, in.take<uint32_t>());
  const auto value = in.take<int32_t>();
  if (word == Word::started) {
    hosts_[host].began = true;
    return events_.on_started(process, value);
  }
  if (word == Word::exec_failed) return events_.on_exec_failure(process, value);
  if (word == Word::stopped) return events_.on_stopped(process, value != 0);
  if (!ended_[process]) hosts_[host].told_at = now_s();
  forget(process);
  events_.on_ended(process, value);
}

void Fleet::take_report(uint32_t host, Unpacker& in) {
  PmixReport report(in.take<PmixReport::Kind>());
  report.process = checked_process(host, in.take<uint32_t>());
  in.take(report.status);
  in.take(report.line);
  if (report.kind > PmixReport::Kind::aborted) throw Error(CWY_ERR_INVALID, "an unknown report");
  events_.on_report(report);
}

void Fleet::take_output(uint32_t host, Unpacker& in) {
  const uint32_t process = checked_process(host, in.take<uint32_t>());
  const auto stream = in.take<uint32_t>();
  if (stream != STDOUT_FILENO && stream != STDERR_FILENO)
    throw Error(CWY_ERR_INVALID, "output of stream {}", stream);
  const std::string_view bytes = in.rest();
  const uint32_t index = 2 * process + stream - 1;
  if (feeds_[index].size() + bytes.size() > kWindow || sends_too_late(host, bytes.size()))
    throw Error(CWY_ERR_INVALID, "it sends more output than it may");
  if (bytes.empty())
    feeds_[index].end();
  else
    feeds_[index].push(bytes);
  pump_feed(index);
}

void Fleet::pump_feed(uint32_t index) {
  const size_t gone = feeds_[index].pump();
  if (gone == 0) return;
  const uint32_t process = index / 2;
  Host& host = hosts_[layout_.host_of[process]];
  host.told_at = now_s();
  host.channel.send(Word::output_taken, pack(process, index % 2 + 1, static_cast<uint32_t>(gone)));
}

void Fleet::on_children() {
  int wait_status = 0;
  pid_t pid;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0) {
    for (uint32_t i = 0; i < hosts_.size(); ++i) {
      Host& host = hosts_[i];
      if (host.agent.pid != pid) continue;
      host.agent_runs = false;
      if (host.state != State::invited || start_failed_) continue;
      events_.on_start_failure(fmt::format(
          "no relay on host {}: the command that was to start it ({}) {}", layout_.hosts[i],
          agent_words(options_.hosts.agent, layout_.hosts[i], {options_.hosts.program, "relay"})[0],
          describe_end(wait_status)));
      abandon_start();
    }
  }
}

double Fleet::deadline() const {
  double first = kNever;
  if (!started_ && !start_failed_) first = start_until_;
  for (const auto& [index, guest] : guests_)
    first = std::min(first, guest.came_at() + kGuestPatience);
  for (const auto& [number, question] : questions_) first = std::min(first, question.until);
  for (const Host& host : hosts_) {
    if (!host.channel) continue;
    first = std::min(first, host.channel.sent_at() + beat_interval(options_.peer_s));
    if (started_ && host.state == State::joined)
      first = std::min(first, host.channel.heard_at() + options_.peer_s);
    first = std::min(first, leaves_until(static_cast<uint32_t>(&host - hosts_.data())));
  }
  return first;
}

std::string Fleet::names_of(State state) const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < hosts_.size(); ++i)
    if (hosts_[i].state == state) names.push_back(layout_.hosts[i]);
  return with_article(names);
}

void Fleet::on_timers(double now) {
  if (!started_ && !start_failed_ && start_until_ <= now) {
    const std::string line = fmt::format(
        "no relay on {} within {:g} s: the relay must reach port {} of this machine at {}",
        names_of(State::invited), options_.start_s, port_,
        fmt::join(own_addresses(options_.hosts.address), ", "));
    events_.on_start_failure(line);
    return abandon_start();
  }
  for (auto it = guests_.begin(); it != guests_.end();)
    it = it->second.came_at() + kGuestPatience <= now ? guests_.erase(it) : std::next(it);
  std::vector<uint64_t> late;
  for (const auto& [number, question] : questions_)
    if (question.until <= now) late.push_back(number);
  for (const uint64_t number : late) answer_question(number, false, "");
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    Host& host = hosts_[i];
    if (!host.channel) {
      // A send has found the connection broken.
      if (host.state == State::joined)
        lose(i, "the connection to its relay failed (" + host.channel.why() + ")");
      continue;
    }
    if (host.channel.sent_at() + beat_interval(options_.peer_s) <= now)
      host.channel.send(Word::beat);
    if (started_ && host.state == State::joined && host.channel.heard_at() + options_.peer_s <= now)
      lose(i, fmt::format("no sign of life from its relay for {:g} s (timeouts.peer)",
                          options_.peer_s));
    if (leaves_until(i) <= now) lose(i, "it does not take its leave");
  }
}

// Before all hosts are there: no host is waited for.
void Fleet::abandon_start() {
  start_failed_ = true;
  for (uint32_t host = 0; host < hosts_.size(); ++host) lose(host, "the job does not start");
}

void Fleet::signal(uint32_t process, int signal) {
  if (!started_) {
    if (signal == SIGQUIT || signal == SIGKILL) abandon_start();
    return;
  }
  hosts_[layout_.host_of[process]].channel.send(Word::signal, pack(process, signal));
}

void Fleet::announce(const Announcement& what) {
  const std::string body = pack(what.kind, what.rank, what.process, what.epoch, what.how);
  for (Host& host : hosts_)
    if (host.state == State::joined) host.channel.send(Word::announce, body);
}

void Fleet::retag(uint32_t process, const std::string& tag) {
  if (output_ != nullptr) output_->retag(tag_of(layout_, process), tag);
}

}  // namespace causeway::launch
