#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <new>
#include <set>

#include "base/error.h"
#include "leftovers.h"
#include "partner.h"
#include "wire.h"

namespace causeway::conformance {
namespace {

struct Request {
  enum Kind : uint32_t { spawn, reap } kind;
  uint32_t epoch;
  pid_t pid;
};
struct Answer {
  int status;
  pid_t pid;
};

int g_control = -1;
pid_t g_zygote = -1;
Blackboard* g_board = nullptr;

void send_with_fd(int socket, const Answer& answer, int fd) {
  iovec iov{const_cast<Answer*>(&answer), sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) _exit(1);
}

int receive_with_fd(int socket, Answer& answer) {
  iovec iov{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof answer)) {
    throw Error(CWY_ERR_PEER_FAILED, "the suite's own zygote process is gone");
  }
  int fd = -1;
  if (cmsghdr* header = CMSG_FIRSTHDR(&message)) std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

pid_t spawn_partner(const Settings& settings, uint32_t epoch, int zygote_socket, int& control) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(pair[0]);
    close(zygote_socket);
    partner_main(settings, epoch, pair[1]);
  }
  close(pair[1]);
  control = pair[0];
  return pid;
}

// Outlives the harness by a moment: it ends the partners and sweeps the session directory, so
// that nothing stays after any end of the harness.
[[noreturn]] void zygote_main(const Settings& settings, int socket) {
  std::set<pid_t> partners;
  Request request{};
  for (;;) {
    const ssize_t got = recv(socket, &request, sizeof request, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof request)) break;
    if (request.kind == Request::spawn) {
      int control = -1;
      const pid_t pid = spawn_partner(settings, request.epoch, socket, control);
      if (pid > 0) partners.insert(pid);
      send_with_fd(socket, {0, pid}, control);
      if (control >= 0) close(control);
    } else {
      int status = 0;
      if (partners.erase(request.pid) != 0) {
        ::kill(request.pid, SIGKILL);
        while (waitpid(request.pid, &status, 0) < 0 && errno == EINTR) {
        }
      }
      send_with_fd(socket, {status, request.pid}, -1);
    }
  }
  for (const pid_t pid : partners) ::kill(pid, SIGKILL);
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(settings.session_dir, ignored);
  sweep_shm(settings.job_id);
  sweep_shm(std::filesystem::path(settings.session_dir).filename());
  _exit(0);
}

}  // namespace

Blackboard& blackboard() {
  return *g_board;
}

void Zygote::start(const Settings& settings) {
  void* page =
      mmap(nullptr, sizeof(Blackboard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Error(CWY_ERR_NOMEM, "no shared memory for the suite itself");
  g_board = new (page) Blackboard{};
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    throw Error(CWY_ERR_NOMEM, "no socket pair for the suite itself");
  }
  g_zygote = fork();
  if (g_zygote < 0) throw Error(CWY_ERR_NOMEM, "cannot fork");
  if (g_zygote == 0) {
    close(pair[0]);
    // A signal to the whole group is the harness's to handle; its end ends the zygote.
    for (const int what : {SIGINT, SIGTERM, SIGHUP}) signal(what, SIG_IGN);
    zygote_main(settings, pair[1]);
  }
  close(pair[1]);
  g_control = pair[0];
}

int Zygote::spawn(uint32_t epoch, pid_t& pid) {
  const Request request{Request::spawn, epoch, 0};
  if (send(g_control, &request, sizeof request, MSG_NOSIGNAL) < 0) {
    throw Error(CWY_ERR_PEER_FAILED, "the suite's own zygote process is gone");
  }
  Answer answer{};
  const int fd = receive_with_fd(g_control, answer);
  if (answer.pid <= 0 || fd < 0) throw Error(CWY_ERR_NOMEM, "cannot fork a partner process");
  pid = answer.pid;
  return fd;
}

int Zygote::kill_and_reap(pid_t pid) {
  const Request request{Request::reap, 0, pid};
  if (send(g_control, &request, sizeof request, MSG_NOSIGNAL) < 0) return 0;
  Answer answer{};
  receive_with_fd(g_control, answer);
  return answer.status;
}

void Zygote::stop() {
  if (g_zygote < 0) return;
  close(g_control);
  while (waitpid(g_zygote, nullptr, 0) < 0 && errno == EINTR) {
  }
  g_zygote = -1;
}

}  // namespace causeway::conformance
