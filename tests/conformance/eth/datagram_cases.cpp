// Datagrams beside the streams of `eth`, where a process that sent one is gone before it is read.
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Tells once its memory begins with `first`, and that has been acknowledged.
Nothing answer_a_put(Side& side, const uint8_t& first) {
  const Deadline deadline("a put");
  while (static_cast<const volatile uint8_t*>(side.memory->data())[0] != first) {
    side.ep->progress();
    deadline.check();
  }
  blackboard().slot[0].store(1);
  return {};
}

// The last that was heard came over the stream, so the stream is looked at first; its end has come
// behind the acknowledgement, which is a datagram. Catches an end that hides what came before.
void last_words_count() {
  constexpr size_t kBytes = 256 << 10;
  Session s({.memory = kBytes});
  std::vector<uint8_t> bytes(kBytes, 7);
  // Enough for datagrams to be proven, but on a machine so busy that none is answered in time.
  for (int i = 0; i < 1000; ++i) s.conn().put(bytes.data(), s.remote().base(), s.remote(), 64);
  s.conn().get_data(bytes.data(), s.remote().base(), s.remote(), kBytes);
  s.start(answer_a_put, uint8_t{8});
  bytes[0] = 8;
  Op& op = s.pool().put();
  const cwy_status status = op.post([&](cwyc_op* raw) {
    return s.ops().put(s.raw(), bytes.data(), nullptr, s.remote().base(), s.remote().get(), 64, 0,
                       raw);
  });
  ASSERT_GE(status, 0) << status_name(status);
  const Deadline deadline("a put that the partner answers");
  while (blackboard().slot[0].load() == 0) deadline.check();
  s.partner().kill();
  s.ep().until([&] { return op.done(); }, "the end of a put");
  EXPECT_EQ(op.status(), CWY_OK) << status_name(op.status());
}

const Cases cases{
    {"Datagrams", "last_words_count", kPut | kGet | kMemory, last_words_count},
};

}  // namespace
}  // namespace causeway::conformance
