// SendBuffer: memory of the library's for payloads that clients assemble in it, where the conduit
// offers none of its own. Given back when the conduit no longer reads it.
#pragma once

#include <causeway/conduit.h>

#include <cstddef>

namespace causeway {

struct alignas(64) SendBuffer {
  cwyc_op op;  // reports that the payload has been read, and gives the buffer back
  SendBuffer* next = nullptr;
  size_t room = 0;

  char* data() { return reinterpret_cast<char*>(this + 1); }
};

// Payloads of this size cost no allocation in the long run; the largest of a negotiated long.
inline constexpr size_t kSendBufferBytes = size_t{64} * 1024;

// The buffer that a thread gave back last: mostly the next one that the thread wants, and taken
// without a lock.
class SendBufferCache {
 public:
  SendBufferCache() = default;
  SendBufferCache(const SendBufferCache&) = delete;
  SendBufferCache& operator=(const SendBufferCache&) = delete;
  ~SendBufferCache();
  SendBuffer* spare = nullptr;
};

// A buffer with room for `size` bytes, its op ready to be posted with. A request gets nullptr while
// conduits read so many buffers that the caller has to make progress first. A reply always gets a
// buffer, because what holds up requests must not hold up replies.
SendBuffer* take_send_buffer(size_t size, bool reply);
void give_send_buffer(SendBuffer* buffer);

}  // namespace causeway
