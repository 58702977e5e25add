// What a program that speaks UCX itself does for a put, a get, a message and its answer: one
// worker, one endpoint to the other rank, requests waited for by making progress.
//
// Completion is the library's: a put has ended when it is visible, which takes a flush.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway::bench::raw {

class UcxLoop {
 public:
  // `tls` as UCX_TLS. Throws std::runtime_error with UCX's words.
  UcxLoop(const std::string& tls, size_t memory_bytes);
  ~UcxLoop();
  UcxLoop(const UcxLoop&) = delete;
  UcxLoop& operator=(const UcxLoop&) = delete;

  // What the other rank needs; and taking the other rank's.
  std::vector<unsigned char> card() const;
  void connect(const unsigned char* card, size_t length);

  void progress() { ucp_worker_progress(worker_); }
  void put(const void* source, size_t bytes);
  void get(void* target, size_t bytes);
  // `count` puts of 8 bytes with at most `window` under way.
  void flood(const void* source, uint64_t count, unsigned window);
  // One message there and one back. The other rank makes progress.
  void round_trip();

 private:
  static ucs_status_t on_ping(void* self, const void* header, size_t header_length, void* data,
                              size_t length, const ucp_am_recv_param_t* param);
  static ucs_status_t on_pong(void* self, const void* header, size_t header_length, void* data,
                              size_t length, const ucp_am_recv_param_t* param);
  void handle(unsigned id, ucp_am_recv_callback_t callback);
  void send(unsigned id);
  void wait(ucs_status_ptr_t request);

  bool failure_mode_;  // as the conduit chooses it: not over shared memory
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_mem_h memory_ = nullptr;
  uint64_t base_ = 0;
  ucp_ep_h ep_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  uint64_t remote_ = 0;
  uint64_t pongs_ = 0;
  uint64_t message_[2] = {1, 2};
};

}  // namespace causeway::bench::raw
