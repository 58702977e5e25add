// What the conduit ucx works around, of UCX alone: whose fault something is.
//
//   ucx_faults close|arm|introduce TRANSPORTS [known]
//
// Two processes with a worker each, whose addresses they exchange over a socket.
//   close: one closes its endpoint by force with a message under way to the other one, which does
//          nothing.
//   arm:   one sends a message; when it has come, the other one arms its worker unread, and waits
//          for its descriptor.
//   introduce: one has messages for the other one, which ends before this one's next progress: its
//          TCP refuses what UCX sends of its own then.
// Status: 0 all is well, 1 the fault is there, 2 UCX cannot be used, 77 TRANSPORTS are not here.
// With `known` the fault is expected, and its absence is status 1.
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <ucp/api/ucp.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "answer.h"
#include "two_processes.h"

namespace {
bool g_peer_has_ended = false;
// UCX's answers to the peer's own introduction; they are taken even when nobody reads them.
constexpr size_t kAnswer = 9;
}  // namespace

// In front of the C library's, which UCX's TCP calls.
extern "C" [[gnu::visibility("default")]] ssize_t send(int fd, const void* data, size_t length,
                                                       int flags) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t, int)>(dlsym(RTLD_NEXT, "send"));
  if (!g_peer_has_ended || length <= kAnswer) return real(fd, data, length, flags);
  errno = EPIPE;
  return -1;
}

namespace {

using libraries::give_up;

constexpr auto kPatience = std::chrono::seconds(60);
// The fault does not show in every round: what else comes may make the descriptor readable.
constexpr int kRounds = 20;
constexpr unsigned kId = 1;

void require(ucs_status_t status, const char* call) {
  if (status != UCS_OK) give_up(2, std::string(call) + ": " + ucs_status_string(status));
}

struct Side {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_ep_h peer = nullptr;
  int socket = -1;
  unsigned arrived = 0;
};

ucs_status_t message_arrived(void* side, const void*, size_t, void*, size_t,
                             const ucp_am_recv_param_t*) {
  ++static_cast<Side*>(side)->arrived;
  return UCS_OK;
}

void say(Side& s) {
  if (write(s.socket, "s", 1) != 1) give_up(2, "the other process has ended");
}
void listen(Side& s) {
  char word = 0;
  if (recv(s.socket, &word, 1, MSG_WAITALL) != 1) give_up(2, "the other process has ended");
}

// As the conduit opens it. Then makes an endpoint to the other side's worker; until both have one,
// neither may be gone.
void open(Side& s, const std::string& transports) {
  ucp_config_t* config = nullptr;
  require(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  require(ucp_config_modify(config, "TLS", transports.c_str()), "ucp_config_modify");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  const ucs_status_t made = ucp_init(&params, config, &s.context);
  ucp_config_release(config);
  if (made == UCS_ERR_NO_DEVICE) give_up(77, "SKIPPED: UCX finds no " + transports + " here");
  require(made, "ucp_init");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  require(ucp_worker_create(s.context, &worker, &s.worker), "ucp_worker_create");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kId;
  handler.cb = message_arrived;
  handler.arg = &s;
  require(ucp_worker_set_am_recv_handler(s.worker, &handler), "ucp_worker_set_am_recv_handler");

  ucp_address_t* own = nullptr;
  size_t length = 0;
  require(ucp_worker_get_address(s.worker, &own, &length), "ucp_worker_get_address");
  size_t theirs = 0;
  if (write(s.socket, &length, sizeof length) != sizeof length ||
      write(s.socket, own, length) != static_cast<ssize_t>(length) ||
      recv(s.socket, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
    give_up(2, "the other process has ended");
  ucp_worker_release_address(s.worker, own);
  std::vector<char> address(theirs);
  if (recv(s.socket, address.data(), theirs, MSG_WAITALL) != static_cast<ssize_t>(theirs))
    give_up(2, "the other process has ended");
  ucp_ep_params_t ep{};
  ep.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                  UCP_EP_PARAM_FIELD_ERR_HANDLER;
  ep.err_handler.cb = [](void*, ucp_ep_h, ucs_status_t) {};
  ep.address = reinterpret_cast<const ucp_address_t*>(address.data());
  ep.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  require(ucp_ep_create(s.worker, &ep, &s.peer), "ucp_ep_create");
  say(s);
  listen(s);
}

template <class Done>
void progress_until(Side& s, const char* what, Done&& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (ucp_worker_progress(s.worker) != 0) continue;
    if (std::chrono::steady_clock::now() > end) give_up(2, std::string("no end of ") + what);
    sched_yield();
  }
}

// NULL: it has left.
ucs_status_ptr_t send(Side& s) {
  static const uint64_t word = 0;
  const ucp_request_param_t none{};
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(s.peer, kId, &word, sizeof word, nullptr, 0, &none);
  if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
  return request;
}

// ---- close --------------------------------------------------------------------------------------

void close_at_once(Side& s) {
  send(s);
  ucp_request_param_t force{};
  force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  force.flags = UCP_EP_CLOSE_FLAG_FORCE;
  ucp_ep_close_nbx(s.peer, &force);
  _exit(0);
}

void do_nothing(Side& s) {
  char word = 0;
  recv(s.socket, &word, 1, MSG_WAITALL);  // the other one has ended
  _exit(0);
}

// ---- arm ----------------------------------------------------------------------------------------

// The first message makes the connection.
void send_messages(Side& s) {
  for (int i = 0; i <= kRounds; ++i) {
    const ucs_status_ptr_t request = send(s);
    if (request != nullptr) {
      progress_until(s, "a message's way out",
                     [&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
      ucp_request_free(request);
    }
    say(s);
    progress_until(s, "the other side's answer", [&] {
      char word = 0;
      const ssize_t got = recv(s.socket, &word, 1, MSG_DONTWAIT);
      if (got == 0) _exit(0);
      return got == 1;
    });
  }
  _exit(0);
}

void arm_unread(Side& s) {
  int fd = -1;
  require(ucp_worker_get_efd(s.worker, &fd), "ucp_worker_get_efd");
  progress_until(s, "the first message", [&] { return s.arrived == 1; });
  listen(s);
  for (int i = 1; i <= kRounds; ++i) {
    while (ucp_worker_progress(s.worker) != 0) {
    }
    say(s);
    listen(s);
    usleep(500'000);  // the message comes, and nobody looks
    const ucs_status_t armed = ucp_worker_arm(s.worker);
    pollfd p{fd, POLLIN, 0};
    if (armed == UCS_OK && poll(&p, 1, 2000) == 0)
      give_up(1, "armed with a message unread, and never readable, in round " + std::to_string(i));
    progress_until(s, "a message", [&] { return s.arrived > static_cast<unsigned>(i); });
  }
  say(s);
  _exit(0);
}

// ---- introduce ----------------------------------------------------------------------------------

void send_to_the_lost(Side& s) {
  for (int i = 0; i < 10; ++i) send(s);
  usleep(20'000);  // the other one answers, and this one does not look
  g_peer_has_ended = true;
  for (int i = 0; i < 10'000; ++i) ucp_worker_progress(s.worker);
  _exit(0);
}

void progress_only(Side& s) {
  char word = 0;
  while (recv(s.socket, &word, 1, MSG_DONTWAIT) != 0) {
    ucp_worker_progress(s.worker);
    sched_yield();
  }
  _exit(0);
}

// ---------------------------------------------------------------------------------------------------

using Role = void (*)(Side&);

// Status as of the program.
int run(const std::string& transports, Role first, Role second) {
  const auto both = libraries::in_two_processes([&](size_t i, int socket) {
    static Side side;
    side.socket = socket;
    open(side, transports);
    (i == 0 ? first : second)(side);
  });
  int worst = 0;
  for (const int ended : both) {
    if (WIFSIGNALED(ended)) {
      std::printf("%s: killed by signal %d\n", transports.c_str(), WTERMSIG(ended));
      return 1;
    }
    if (WEXITSTATUS(ended) != 0 && worst != 1) worst = WEXITSTATUS(ended);
  }
  return worst;
}

// Which of two crossing connections stays is up to the port numbers; the fault needs one of the
// two.
int run_introductions(const std::string& transports) {
  int status = 0;
  for (int round = 0; round < kRounds && status == 0; ++round)
    status = run(transports, send_to_the_lost, progress_only);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "", transports = argc > 2 ? argv[2] : "";
  const bool known = argc > 3 && std::strcmp(argv[3], "known") == 0;
  int status = 0;
  const char* therefore = "";
  if (what == "close") {
    status = run(transports, close_at_once, do_nothing);
    therefore = "waits for the introductions before it closes by force";
  } else if (what == "arm") {
    status = run(transports, send_messages, arm_unread);
    therefore = "looks once more after arming";
  } else if (what == "introduce") {
    status = run_introductions(transports);
    therefore = "looks whether the peer still lives before UCX may introduce itself";
  } else {
    give_up(2, "usage: ucx_faults close|arm|introduce TRANSPORTS [known]");
  }
  if (status == 0) std::printf("%s: %s is well\n", argv[2], argv[1]);
  return libraries::judge(transports, status, known, therefore);
}
