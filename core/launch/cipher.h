// Cipher: what the launcher and a relay say, encrypted by TLS 1.3 of OpenSSL.
//
// The host's secret (handshake.h) is the key that both sides have beforehand, and stands for
// certificates; each connection has a key of its own from an exchange besides (psk_dhe_ke, RFC
// 8446, 4.2.9), so that a secret that leaks later opens nothing that was recorded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launch/siphash.h"

namespace causeway::launch {

class Cipher {
 public:
  enum class Side { launcher, relay };
  // Throws Error(CWY_ERR_UNSUPPORTED) in a build without OpenSSL.
  Cipher(Side side, const Key& secret);
  ~Cipher();

  static bool is_built_in();

  // Encrypts what is to be sent; keeps it until the sides have agreed on keys.
  void put(std::string_view plain);
  // Decrypts what has come over the network, and appends it to `plain`. Throws Error where it is
  // not what the other side has sent; after that nothing but to_send() may be called.
  void take(std::string_view encrypted, std::string& plain);
  // Bytes for the network that put(), take() and the constructor have left.
  std::string to_send();

 private:
  struct Tls;
  std::unique_ptr<Tls> tls_;
};

}  // namespace causeway::launch
