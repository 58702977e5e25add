// How the launcher and its relays talk: frames over one TCP connection each.
//
// A frame is a length and a type, 32 bits each, and that many bytes. Numbers are in the order of
// the hosts, which is the same on all: the ranks of one job need that anyway. Foreign bytes never
// crash the reader: a frame that is too long or ends within a field is an Error.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "launch/cipher.h"
#include "spawn/rank_process.h"

namespace causeway::launch {

enum class Word : uint32_t {
  // to the relay
  start = 1,  // everything about the job
  signal,     // process, signal
  fence_done,
  announce,
  stdin_data,    // bytes; none: end of file
  output_taken,  // process, stream, count
  dismiss,       // the job is over: end
  // from the relay
  started,  // process, pid
  exec_failed,
  ended,
  report,
  fence,
  output,  // process, stream, bytes; none: end of file
  stdin_taken,
  stdin_closed,
  remark,
  done,     // no process is left here, and nothing is left to be read
  stopped,  // process, 1; or 0: it goes on
  // both ways
  modex_ask,  // question, process, limit
  modex_data,
  beat,  // nothing but a sign of life
};

inline constexpr uint32_t kLongestFrame = 1u << 30;

// The content of a frame: numbers as they lie in memory, texts and lists behind their length.
class Packer {
 public:
  template <typename T>
  void put(T value) requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
      put(static_cast<uint32_t>(value));
    else
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string_view value) {
    put(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  void put(const std::optional<uint32_t>& value) { put(value ? int64_t{*value} : int64_t{-1}); }
  void put(const Program& value) {
    put(value.ranks);
    put(value.command);
    put(value.directory);
    put(value.environment);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

template <typename... Fields>
std::string pack(const Fields&... fields) {
  Packer out;
  (out.put(fields), ...);
  return out.take();
}

// The fields of a frame in their order. Every call throws Error(CWY_ERR_INVALID) beyond the end.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void take(T& value) requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
      value = static_cast<T>(take<uint32_t>());
    else
      std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
  }
  void take(std::string& value) { value = bytes(take<uint32_t>()); }
  template <typename T>
  void take(std::vector<T>& values) {
    values.clear();
    for (auto left = take<uint32_t>(); left > 0; --left) values.push_back(take<T>());
  }
  void take(std::optional<uint32_t>& value) {
    const auto number = take<int64_t>();
    value = number < 0 ? std::nullopt : std::optional(static_cast<uint32_t>(number));
  }
  void take(Program& value) {
    take(value.ranks);
    take(value.command);
    take(value.directory);
    take(value.environment);
  }
  template <typename T>
  T take() {
    T value{};
    take(value);
    return value;
  }
  std::string_view rest() { return bytes(bytes_.size()); }

 private:
  std::string_view bytes(size_t size);

  std::string_view bytes_;
};

struct Frame {
  Word word;
  std::string body;
};

// An end of a connection, non-blocking. Bytes that cannot be sent at once are kept: what is large
// is limited by those who send it (windows of output and input).
class Channel {
 public:
  Channel() = default;
  // `secret`: all is encrypted with it.
  explicit Channel(UniqueFd socket, Cipher::Side side = Cipher::Side::relay,
                   const Key* secret = nullptr);

  // Events of `epoll` that carry `tag` ask for pump().
  void attend(int epoll, uint64_t tag);
  explicit operator bool() const { return static_cast<bool>(socket_); }
  void send(Word word, std::string_view body = {});
  // The socket can be read or written, or frames were left: the first `most` that have come. Closes
  // itself at the end of the connection or when it fails; why() says so. Throws Error when the peer
  // sends nonsense.
  std::vector<Frame> pump(size_t most = SIZE_MAX);
  // Blocks until there is something to read; false where `until` has come before.
  bool wait(double until) const;
  // Sends what is left, until then at most.
  void drain(double until);
  void close();
  const std::string& why() const { return why_; }

  // Silence counts from now on.
  void expect_news(double now) { heard_at_ = now; }
  double heard_at() const { return heard_at_; }
  double sent_at() const { return sent_at_; }

 private:
  void write_out();
  void read_in();
  void fail(const std::string& why);
  void watch();

  UniqueFd socket_;
  std::unique_ptr<Cipher> cipher_;
  int epoll_ = -1;
  uint64_t tag_ = 0;
  bool wants_out_ = false;
  std::string incoming_, outgoing_;
  size_t out_at_ = 0;
  double heard_at_ = 0.0, sent_at_ = 0.0;
  std::string why_;
};

}  // namespace causeway::launch
