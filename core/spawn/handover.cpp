#include "spawn/handover.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "spawn/job_words.h"
#include "spawn/pipes.h"

namespace causeway {
namespace {

// It comes first. The number behind it counts changes of the two structures below.
constexpr char kVersion[32] = CAUSEWAY_VERSION "+1";

struct Header {
  char job_id[64];
  double exit_grace_s, kill_grace_s;
  int32_t partner, keeper;
  uint32_t ranks;
};

struct Entry {
  uint32_t process;
  int32_t pid, control, out, err, in;
};

// In the process that executes, and back in the one that was executed.
void let_inherit(const UniqueFd& fd, bool inherited) {
  if (fd) ::fcntl(fd.get(), F_SETFD, inherited ? 0 : FD_CLOEXEC);
}

void let_inherit(const Handover& handover, bool inherited) {
  let_inherit(handover.partner, inherited);
  for (const RankProcess& rank : handover.ranks)
    for (const UniqueFd* fd : {&rank.control, &rank.out, &rank.err, &rank.in})
      let_inherit(*fd, inherited);
}

std::string packed(const Handover& handover) {
  Header header{};
  std::strncpy(header.job_id, handover.job_id.c_str(), sizeof header.job_id - 1);
  header.exit_grace_s = handover.exit_grace_s;
  header.kill_grace_s = handover.kill_grace_s;
  header.partner = handover.partner.get();
  header.keeper = handover.keeper;
  header.ranks = static_cast<uint32_t>(handover.ranks.size());
  std::string bytes(kVersion, sizeof kVersion);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  for (const RankProcess& rank : handover.ranks) {
    const Entry entry{rank.process,   rank.pid,       rank.control.get(),
                      rank.out.get(), rank.err.get(), rank.in.get()};
    bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  return bytes;
}

// The whole handover was written before this program was executed.
template <typename T>
void receive(int from, T& value) {
  const ssize_t n = ::recv(from, &value, sizeof value, MSG_WAITALL | MSG_DONTWAIT);
  if (n != static_cast<ssize_t>(sizeof value))
    throw Error(CWY_ERR_INVALID,
                "only a program that starts its own ranks (CAUSEWAY_RANKS=N) uses this; to start "
                "one, use `causeway run`");
}

void check_version(int from) {
  char theirs[sizeof kVersion];
  receive(from, theirs);
  if (std::memcmp(theirs, kVersion, sizeof theirs) == 0) return;
  throw Error(CWY_ERR_INVALID,
              "the program's library is of version {}, and the command `causeway` beside it of {}: "
              "install both from one build",
              std::string(theirs, ::strnlen(theirs, sizeof theirs)), kVersion);
}

}  // namespace

// A socket holds what 4096 ranks need; a pipe may not, and a file might not be allowed to (ulimit
// -f).
UniqueFd hand_over(const Handover& handover) {
  SocketPair ends = make_sockets();
  const std::string bytes = packed(handover);
  const ssize_t sent = ::send(ends.mine.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (sent != static_cast<ssize_t>(bytes.size()))
    throw Error(CWY_ERR_NOMEM,
                "{} ranks are more than a socket's buffer can name (net.core.wmem_default); use "
                "`causeway run`",
                handover.ranks.size());
  let_inherit(ends.theirs, true);
  let_inherit(handover, true);
  return std::move(ends.theirs);
}

Handover take_over(int from) {
  const UniqueFd reader(from);
  check_version(from);
  Header header{};
  receive(from, header);
  if (header.ranks > kMostProcesses)
    throw Error(CWY_ERR_INVALID, "{} ranks were handed over: at most {}", header.ranks,
                kMostProcesses);
  Handover handover;
  handover.job_id = header.job_id;
  handover.exit_grace_s = header.exit_grace_s;
  handover.kill_grace_s = header.kill_grace_s;
  handover.partner = UniqueFd(header.partner);
  handover.keeper = header.keeper;
  handover.ranks.resize(header.ranks);
  for (RankProcess& rank : handover.ranks) {
    Entry entry{};
    receive(from, entry);
    rank.process = entry.process;
    rank.pid = entry.pid;
    rank.control = UniqueFd(entry.control);
    rank.out = UniqueFd(entry.out);
    rank.err = UniqueFd(entry.err);
    rank.in = UniqueFd(entry.in);
    rank.running = true;
  }
  let_inherit(handover, false);
  return handover;
}

}  // namespace causeway
