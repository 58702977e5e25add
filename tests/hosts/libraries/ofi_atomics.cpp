// Atomics of a libfabric provider, without the library: which of them a provider has, whether they
// end, and whether they compute what they should. For deciding whose fault it is.
//
//   ofi_atomics PROVIDER [known]
//
// Two processes with an endpoint each; the first posts one operation at a time on words of the
// second, of every type, operation and form that the provider declares valid, as the conduit ofi
// does: through the msg calls, plain ones with FI_DELIVERY_COMPLETE, moved on by its own polls
// only. Prints a line per fault. Status: 0 no fault, 1 faults, 2 the provider has crashed or cannot
// be used, 77 it is not here. With `known` faults are expected, since the conduit refuses the
// provider for them: status 0, and 1 when there are none any more.
#include <rdma/fi_atomic.h>
#include <sched.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "ofi_side.h"

namespace {

using libraries::give_up, libraries::require;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr size_t kWords = 512;
constexpr unsigned kRepetitions = 20;

struct Side : libraries::Side {
  fid_mr *mr = nullptr, *local_mr = nullptr;
  alignas(64) uint64_t words[kWords] = {};
  alignas(64) uint64_t local[4] = {};  // operand, comparand, result
  uint64_t remote = 0, key = 0;
};

struct Card {
  uint64_t base, key;
};

void open_side(Side& s, const std::string& provider) {
  libraries::open_side(s, provider, FI_MSG | FI_RMA | FI_ATOMIC);
  require(fi_mr_reg(s.domain, s.words, sizeof s.words, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0,
                    &s.mr, nullptr),
          "fi_mr_reg");
  require(fi_mr_reg(s.domain, s.local, sizeof s.local, FI_READ | FI_WRITE, 0, 8, 0, &s.local_mr,
                    nullptr),
          "fi_mr_reg");
}

void exchange(Side& s, int socket) {
  const bool virtual_address = (s.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const Card own{virtual_address ? reinterpret_cast<uint64_t>(s.words) : 0, fi_mr_key(s.mr)};
  const Card theirs = libraries::exchange(s, socket, own);
  s.remote = theirs.base;
  s.key = theirs.key;
}

// Moves things on until the socket has a word, respectively has ended.
char serve(Side& s, int socket) {
  for (char word = 0;;) {
    fi_cq_data_entry entry;
    fi_cq_read(s.cq, &entry, 1);
    const ssize_t got = recv(socket, &word, 1, MSG_DONTWAIT);
    if (got == 1) return word;
    if (got == 0) _exit(0);
    sched_yield();
  }
}

enum Form { plain, fetch, compare };
constexpr const char* form_names[] = {"fi_atomicmsg", "fi_fetch_atomicmsg", "fi_compare_atomicmsg"};

struct Kind {
  Form form;
  fi_op op;
  fi_datatype type;
  size_t width;
};

bool is_valid(fid_ep* ep, const Kind& k) {
  size_t count = 0;
  int error = -1;
  if (k.form == plain) error = fi_atomicvalid(ep, k.type, k.op, &count);
  if (k.form == fetch) error = fi_fetch_atomicvalid(ep, k.type, k.op, &count);
  if (k.form == compare) error = fi_compare_atomicvalid(ep, k.type, k.op, &count);
  return error == 0 && count >= 1;
}

long post(Side& s, const Kind& k, uint64_t at, void* context) {
  void* desc = fi_mr_desc(s.local_mr);
  fi_ioc operand{&s.local[0], 1}, comparand{&s.local[1], 1}, result{&s.local[2], 1};
  fi_rma_ioc target{s.remote + at, 1, s.key};
  fi_msg_atomic m{};
  m.msg_iov = &operand;
  m.desc = &desc;
  m.iov_count = 1;
  m.addr = s.peer;
  m.rma_iov = &target;
  m.rma_iov_count = 1;
  m.datatype = k.type;
  m.op = k.op;
  m.context = context;
  if (k.form == plain) return fi_atomicmsg(s.ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  if (k.form == fetch) return fi_fetch_atomicmsg(s.ep, &m, &result, &desc, 1, FI_COMPLETION);
  return fi_compare_atomicmsg(s.ep, &m, &comparand, &desc, 1, &result, &desc, 1, FI_COMPLETION);
}

// "" when the operation has ended well.
std::string run_one(Side& s, const Kind& k, uint64_t at) {
  static fi_context2 context;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  long answer = 0;
  fi_cq_data_entry entry{};
  while ((answer = post(s, k, at, &context)) == -FI_EAGAIN) {
    if (std::chrono::steady_clock::now() > end) return "is never taken";
    fi_cq_read(s.cq, &entry, 1);
  }
  if (answer != 0) return std::string("is refused: ") + fi_strerror(static_cast<int>(-answer));
  for (;;) {
    const ssize_t got = fi_cq_read(s.cq, &entry, 1);
    if (got == 1) return {};
    if (got != -FI_EAGAIN) {
      fi_cq_err_entry error{};
      fi_cq_readerr(s.cq, &error, 0);
      return std::string("fails: ") + fi_strerror(error.err);
    }
    if (std::chrono::steady_clock::now() > end) return "does not end";
    sched_yield();
  }
}

// What the word holds afterwards, for the operations whose result is the same for all integers.
bool expected(const Kind& k, uint64_t old, uint64_t a, uint64_t& out) {
  const uint64_t mask = k.width == 4 ? 0xffffffffu : ~0ull;
  switch (k.op) {
    case FI_SUM:
      out = (old + a) & mask;
      return true;
    case FI_BAND:
      out = old & a;
      return true;
    case FI_BOR:
      out = old | a;
      return true;
    case FI_BXOR:
      out = old ^ a;
      return true;
    case FI_ATOMIC_READ:
      out = old;
      return true;
    case FI_ATOMIC_WRITE:
    case FI_CSWAP:  // the comparand is the old value here
      out = a & mask;
      return true;
    default:
      return false;
  }
}

// Old values alternate, so that the words need not be set from the other side: each word is written
// by the operation before.
std::string try_kind(Side& s, const Kind& k) {
  for (unsigned i = 0; i < kRepetitions; ++i) {
    const uint64_t at = 8 * (i % kWords);
    const uint64_t old = (0x0123456789abcdefull * (i + 1)) & (k.width == 4 ? 0xffffffffu : ~0ull);
    const uint64_t a = (0xfedcba9876543210ull * (i + 3)) & (k.width == 4 ? 0xffffffffu : ~0ull);
    const Kind set{fetch, FI_ATOMIC_WRITE, FI_UINT64, 8}, look{fetch, FI_ATOMIC_READ, FI_UINT64, 8};
    s.local[0] = old;
    if (std::string fault = run_one(s, set, at); !fault.empty())
      return "the write before it " + fault;
    s.local[0] = a;
    s.local[1] = old;
    s.local[2] = 0;
    if (std::string fault = run_one(s, k, at); !fault.empty())
      return fault + " (repetition " + std::to_string(i) + ")";
    if (k.form != plain && std::memcmp(&s.local[2], &old, k.width) != 0)
      return "fetches another value than the old one";
    if (std::string fault = run_one(s, look, at); !fault.empty())
      return "the read behind it " + fault;
    uint64_t wanted = 0;
    if (expected(k, old, a, wanted) && std::memcmp(&s.local[2], &wanted, k.width) != 0)
      return "leaves a wrong value";
  }
  return {};
}

int try_all(Side& s, const std::string& provider) {
  struct Type {
    fi_datatype type;
    size_t width;
    const char* name;
  };
  constexpr Type types[] = {{FI_INT32, 4, "int32"},
                            {FI_UINT32, 4, "uint32"},
                            {FI_INT64, 8, "int64"},
                            {FI_UINT64, 8, "uint64"}};
  constexpr fi_op operations[] = {FI_MIN,  FI_MAX,  FI_SUM,         FI_PROD,         FI_BOR,
                                  FI_BAND, FI_BXOR, FI_ATOMIC_READ, FI_ATOMIC_WRITE, FI_CSWAP};
  unsigned tried = 0, faults = 0;
  for (const Type& type : types)
    for (const fi_op op : operations)
      for (const Form form : {plain, fetch, compare}) {
        const Kind k{form, op, type.type, type.width};
        if ((op == FI_CSWAP) != (form == compare) || (op == FI_ATOMIC_READ && form == plain) ||
            !is_valid(s.ep, k))
          continue;
        ++tried;
        const std::string fault = try_kind(s, k);
        if (fault.empty()) continue;
        ++faults;
        std::printf("%s: %s(%s, %s) %s\n", provider.c_str(), form_names[form],
                    fi_tostr(&op, FI_TYPE_ATOMIC_OP), type.name, fault.c_str());
        std::fflush(stdout);
        if (fault.find("end") != std::string::npos)
          return 1;  // nothing behind it can be told apart
      }
  std::printf("%s: %u kinds of atomics, %u with a fault\n", provider.c_str(), tried, faults);
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up(2, "usage: ofi_atomics PROVIDER [known]");
  const std::string provider = argv[1];
  const bool known = argc > 2 && std::strcmp(argv[2], "known") == 0;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) give_up(2, "socketpair");
  std::fflush(stdout);
  const pid_t child = fork();
  static Side side;
  if (child == 0) {
    close(sockets[0]);
    open_side(side, provider);
    exchange(side, sockets[1]);
    serve(side, sockets[1]);
    _exit(0);
  }
  close(sockets[1]);
  signal(SIGPIPE, SIG_IGN);
  open_side(side, provider);
  exchange(side, sockets[0]);
  int status = try_all(side, provider);
  if (write(sockets[0], "e", 1) != 1) status = 2;
  int ended = 0;
  waitpid(child, &ended, 0);
  if (WIFSIGNALED(ended)) {
    std::printf("%s: the target's process was killed by signal %d inside libfabric\n",
                provider.c_str(), WTERMSIG(ended));
    status = 2;
  }
  status = libraries::judge(provider, status, known, "refuses it");
  std::fflush(stdout);
  _exit(status);  // providers with threads of their own do not always close
}
