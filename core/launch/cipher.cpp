#include "launch/cipher.h"

#include "base/error.h"

#ifdef CAUSEWAY_WITH_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <new>
#endif

namespace causeway::launch {

#ifdef CAUSEWAY_WITH_TLS

namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
};

unsigned give_key(SSL* connection, unsigned char* out, unsigned room) {
  const Key& key = *static_cast<const Key*>(SSL_get_app_data(connection));
  if (room < key.size()) return 0;
  std::ranges::copy(key, out);
  return static_cast<unsigned>(key.size());
}

// The key has no other name: a connection belongs to one host, and so to one secret.
unsigned relays_key(SSL* connection, const char*, char* name, unsigned name_room,
                    unsigned char* out, unsigned room) {
  if (name_room < 2) return 0;
  name[0] = 'h', name[1] = '\0';
  return give_key(connection, out, room);
}

unsigned launchers_key(SSL* connection, const char*, unsigned char* out, unsigned room) {
  return give_key(connection, out, room);
}

}  // namespace

struct Cipher::Tls {
  Key secret;
  std::unique_ptr<SSL_CTX, Free> context;
  std::unique_ptr<SSL, Free> connection;
  BIO* from_network = nullptr;  // both belong to the connection
  BIO* to_network = nullptr;
  std::string waiting;

  SSL* get() const { return connection.get(); }

  // Nothing but a want of bytes is in order.
  void check(int result) const {
    const int why = SSL_get_error(get(), result);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return;
    const char* const reason = ERR_reason_error_string(ERR_get_error());
    throw Error(CWY_ERR_INVALID, "the encrypted connection failed: {}",
                reason != nullptr ? reason : "it was ended");
  }

  bool agreed() const {
    if (SSL_is_init_finished(get()) != 0) return true;
    const int result = SSL_do_handshake(get());
    if (result != 1) return check(result), false;
    // OpenSSL calls it a reused session where both had the key beforehand.
    if (SSL_session_reused(get()) == 1) return true;
    throw Error(CWY_ERR_INVALID, "the other side does not know the job's secret");
  }

  void encrypt() {
    for (size_t written = 0; !waiting.empty() && agreed(); waiting.erase(0, written)) {
      const int result = SSL_write_ex(get(), waiting.data(), waiting.size(), &written);
      if (result != 1) return check(result);
    }
  }
};

bool Cipher::is_built_in() {
  return true;
}

Cipher::Cipher(Side side, const Key& secret) : tls_(std::make_unique<Tls>()) {
  tls_->secret = secret;
  tls_->context.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = tls_->context.get();
  if (context == nullptr) throw std::bad_alloc();
  const bool ready = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                     SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
                     SSL_CTX_set_num_tickets(context, 0) == 1;
  // A server may answer with a certificate instead of the key. None is trusted, so none will do.
  if (side == Side::relay) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_client_callback(context, relays_key);
  SSL_CTX_set_psk_server_callback(context, launchers_key);
  if (ready) tls_->connection.reset(SSL_new(context));
  tls_->from_network = BIO_new(BIO_s_mem());
  tls_->to_network = BIO_new(BIO_s_mem());
  if (!tls_->connection || tls_->from_network == nullptr || tls_->to_network == nullptr)
    throw Error(CWY_ERR_UNSUPPORTED, "OpenSSL gives no TLS 1.3 here");
  SSL_set_bio(tls_->get(), tls_->from_network, tls_->to_network);
  SSL_set_app_data(tls_->get(), &tls_->secret);
  side == Side::launcher ? SSL_set_accept_state(tls_->get()) : SSL_set_connect_state(tls_->get());
  tls_->agreed();  // the relay speaks first
}

void Cipher::put(std::string_view plain) {
  ERR_clear_error();  // of others of this thread
  tls_->waiting.append(plain);
  tls_->encrypt();
}

void Cipher::take(std::string_view encrypted, std::string& plain) {
  ERR_clear_error();
  size_t taken = 0;
  if (BIO_write_ex(tls_->from_network, encrypted.data(), encrypted.size(), &taken) != 1)
    throw std::bad_alloc();
  tls_->encrypt();
  if (!tls_->agreed()) return;
  char chunk[16 << 10];
  size_t count = 0;
  int result = 0;
  while ((result = SSL_read_ex(tls_->get(), chunk, sizeof chunk, &count)) == 1)
    plain.append(chunk, count);
  tls_->check(result);
}

std::string Cipher::to_send() {
  std::string bytes(BIO_ctrl_pending(tls_->to_network), '\0');
  size_t count = 0;
  if (!bytes.empty()) BIO_read_ex(tls_->to_network, bytes.data(), bytes.size(), &count);
  bytes.resize(count);
  return bytes;
}

#else

struct Cipher::Tls {};

bool Cipher::is_built_in() {
  return false;
}

Cipher::Cipher(Side, const Key&) {
  throw Error(CWY_ERR_UNSUPPORTED,
              "the launcher asks for encryption, and this `causeway` was built without OpenSSL");
}

void Cipher::put(std::string_view) {}
void Cipher::take(std::string_view, std::string&) {}
std::string Cipher::to_send() {
  return {};
}

#endif

Cipher::~Cipher() = default;

}  // namespace causeway::launch
