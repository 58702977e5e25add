// A link of `eth` that is busy leaves epoll's set, and comes back where its socket is full: a read
// would not find room.
#include <poll.h>

#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Catches a full socket that is not watched for room: the peer has read all, waits for the rest of
// the payload, and says nothing until it is there.
void a_long_put_goes_on_while_asleep() {
  constexpr size_t kBytes = 16 << 20;
  Session s({.memory = kBytes});
  std::vector<uint8_t> source(kBytes, 7);
  for (int i = 0; i < 1000; ++i) s.conn().put(source.data(), s.remote().base(), s.remote(), 64);
  int fd = -1;
  require_ok(s.ep().module().wait_fd(s.ep().get(), &fd), "wait_fd");
  Op& op = s.pool().fetch();
  const cwy_status status = s.ep().retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return s.ops().put(s.raw(), source.data(), nullptr, s.remote().base(), s.remote().get(),
                             kBytes, 0, raw);
        });
      },
      "put");
  ASSERT_GE(status, 0) << status_name(status);
  const Deadline deadline("completion of a put that is slept for");
  uint32_t overslept = 0;
  while (!op.done()) {
    if (s.ep().module().arm(s.ep().get()) == CWY_OK) {
      pollfd p{fd, POLLIN, 0};
      overslept += poll(&p, 1, 1000) == 0 ? 1 : 0;
    }
    s.ep().progress();
    deadline.check();
  }
  EXPECT_EQ(overslept, 0u) << "sleeps that room in the socket did not end";
}

const Cases cases{
    {"Busy", "a_long_put_goes_on_while_asleep", kPut | kMemory, a_long_put_goes_on_while_asleep},
};

}  // namespace
}  // namespace causeway::conformance
