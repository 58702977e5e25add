// Host files and placement, the handshake of relays, the readers of what other hosts send.
#include <fmt/core.h>
#include <gtest/gtest.h>
#ifdef CAUSEWAY_WITH_TLS
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "launch/agent.h"
#include "launch/cipher.h"
#include "launch/handshake.h"
#include "launch/host_file.h"
#include "launch/siphash.h"
#include "launch/start_order.h"
#include "launch/wire.h"

namespace causeway::launch {
namespace {

using Names = std::vector<std::string>;

std::string write_file(const std::string& text) {
  const std::string path = fmt::format("{}several_hosts_test.{}", ::testing::TempDir(), ::getpid());
  std::ofstream(path) << text;
  return path;
}

std::string refusal(const std::string& text) {
  try {
    read_host_file(write_file(text));
  } catch (const Error& e) {
    return e.text();
  }
  return "";
}

// Would catch: slots in another order than the lines', comments taken for hosts.
TEST(HostFile, SlotsAreInTheOrderOfLines) {
  EXPECT_EQ(read_host_file(write_file("# hosts\na slots=2 # two\n\n  b\na\nuser@c.d slots=0\n")),
            (Names{"a", "a", "b", "a"}));
}

// Would catch: nonsense that is skipped, and a name that the agent would take for an option.
TEST(HostFile, NonsenseIsRefusedWithItsLine) {
  EXPECT_NE(refusal("a\nb slots=x\n").find(":2: 'slots=x'"), std::string::npos);
  EXPECT_NE(refusal("a slots=2 slots=3\n").find(":1: 'slots=3' after slots=2"), std::string::npos);
  EXPECT_NE(refusal("a\nb cpus=2\n").find(":2: 'cpus=2'"), std::string::npos);
  EXPECT_NE(refusal("-oProxyCommand=x\n").find(":1: "), std::string::npos);
  EXPECT_NE(refusal("a;b\n").find(":1: "), std::string::npos);
  EXPECT_NE(refusal("a slots=99999\n").find(":1: more than"), std::string::npos);
  EXPECT_NE(refusal("# nobody\n").find("no host"), std::string::npos);
  EXPECT_THROW(read_host_file("/no/such/file"), Error);
}

// Would catch: a reader that waits for a pipe's writer, or that reads a device to the end of
// memory.
TEST(HostFile, OnlyRegularFilesOfBoundedSizeAreRead) {
  const auto why = [](const std::string& path) {
    try {
      read_host_file(path);
    } catch (const Error& e) {
      return e.text();
    }
    return std::string();
  };
  EXPECT_EQ(why("/dev/zero"), "cannot read the host file '/dev/zero': not a regular file");
  const std::string fifo = ::testing::TempDir() + "several_hosts_test.fifo";
  ::unlink(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(why(fifo).find("not a regular file"), std::string::npos);
  ::unlink(fifo.c_str());
  const std::string huge = write_file("a\n");
  ASSERT_EQ(::truncate(huge.c_str(), off_t{1} << 32), 0);
  EXPECT_NE(why(huge).find("larger than"), std::string::npos);
  ASSERT_EQ(::truncate(huge.c_str(), 4 << 20), 0);
  EXPECT_LT(why(huge).size(), 300u);
}

// Would catch: ranks beyond the slots, spares that all fall on one host.
TEST(HostFile, RanksFillSlotsAndSparesTheRest) {
  const Names slots{"a", "a", "b", "b"};
  EXPECT_EQ(place(slots, {}, "F"), slots);
  EXPECT_EQ(place(slots, {3, {}, 2}, "F"), (Names{"a", "a", "b", "b", "b"}));
  EXPECT_EQ(place(slots, {4, {}, 3}, "F"), (Names{"a", "a", "b", "b", "b", "a", "b"}));
  EXPECT_EQ(place(slots, {{}, 1, 0}, "F"), (Names{"a", "b"}));
  EXPECT_EQ(place(slots, {5, 3, 0}, "F"), (Names{"a", "a", "a", "b", "b"}));
  EXPECT_THROW(place(slots, {5, {}, 0}, "F"), Error);
  EXPECT_EQ(spread({"a", "b", "c"}, 7, 0), (Names{"a", "a", "a", "b", "b", "c", "c"}));
}

// Would catch: hosts in turn that get more ranks than slots, or other hosts than in blocks; spares
// that take part in the turns.
TEST(HostFile, HostsInTurn) {
  const Names slots{"a", "a", "a", "b", "c", "c"};
  EXPECT_EQ(place(slots, {{}, {}, 0, true}, "F"), (Names{"a", "b", "c", "a", "c", "a"}));
  EXPECT_EQ(place(slots, {4, {}, 2, true}, "F"), (Names{"a", "b", "c", "a", "c", "a"}));
  EXPECT_EQ(place(slots, {{}, 2, 0, true}, "F"), (Names{"a", "b", "c", "a", "b", "c"}));
  EXPECT_EQ(spread({"a", "b"}, 5, 1, true), (Names{"a", "b", "a", "b", "a", "b"}));
  EXPECT_EQ(parse_host_list("a b,c, a"), (Names{"a", "b", "c", "a"}));
  bool counted = false;
  EXPECT_EQ(parse_host_list("a,fe80::1", &counted), (Names{"a", "fe80::1"}));
  EXPECT_FALSE(counted);
  EXPECT_EQ(parse_host_list("a:2,fe80::1,b:0", &counted), (Names{"a", "a", "fe80::1"}));
  EXPECT_TRUE(counted);
  EXPECT_EQ(place(parse_host_list("a,b,a"), {{}, {}, 0}, "L"), (Names{"a", "b", "a"}));
  EXPECT_EQ(spread({"a", "b", "a"}, 4, 0), (Names{"a", "a", "b", "b"}));
}

TEST(Agent, NamesTheHostOnce) {
  const Names relay{"/x/causeway", "relay"};
  EXPECT_EQ(agent_words("rsh -l me", "h", relay),
            (Names{"rsh", "-l", "me", "h", "/x/causeway", "relay"}));
  EXPECT_EQ(agent_words("enter %h 100%%", "h", relay),
            (Names{"enter", "h", "100%", "/x/causeway", "relay"}));
  EXPECT_EQ(agent_words("", "localhost", relay), relay);
  // A shell is at the other end of ssh.
  EXPECT_EQ(agent_words("", "elsewhere", {"/a b/c", "relay"}).back(), "exec '/a b/c' 'relay'");
  EXPECT_THROW(agent_words("  ", "h", relay), Error);
}

// The first vectors of the reference's table for 128 bits: key 00..0f, messages "", 00, 00 01.
TEST(SipHash, AgreesWithTheReference) {
  Key key;
  for (uint8_t i = 0; i < 16; ++i) key[i] = i;
  const std::array<uint8_t, 16> empty{0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6,
                                      0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93};
  const std::array<uint8_t, 16> one{0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44,
                                    0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45};
  EXPECT_EQ(siphash(key, ""), empty);
  EXPECT_EQ(siphash(key, std::string(1, '\0')), one);
}

struct Meeting {
  bool relay_accepts = false;
  Guest::State launcher = Guest::State::waiting;
};

Meeting meet(const Key& of_relay, const std::vector<Key>& of_launcher, uint32_t host) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Meeting result;
  std::thread relay([&] {
    const UniqueFd socket(ends[0]);
    Invitation invitation;
    invitation.host = host;
    invitation.secret = of_relay;
    try {
      introduce(socket.get(), invitation, 20.0);
      result.relay_accepts = true;
    } catch (const Error&) {
    }
  });
  Guest guest{UniqueFd(ends[1]), 0.0};
  while (result.launcher == Guest::State::waiting) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    result.launcher = guest.pump(of_launcher);
  }
  if (result.launcher == Guest::State::refused) guest.take_socket();  // closes it
  relay.join();
  return result;
}

// Would catch: a relay that takes any listener for its launcher, a launcher that lets anybody in,
// or one host in another's place.
TEST(Handshake, LetsInOnlyWhoKnowsTheSecretOfTheHost) {
  const std::vector<Key> secrets{random_key(), random_key()};
  const Meeting good = meet(secrets[1], secrets, 1);
  EXPECT_TRUE(good.relay_accepts);
  EXPECT_EQ(good.launcher, Guest::State::accepted);
  for (const uint32_t host : {0u, 7u}) {
    const Meeting bad = meet(secrets[1], secrets, host);
    EXPECT_FALSE(bad.relay_accepts);
    EXPECT_EQ(bad.launcher, Guest::State::refused);
  }
}

TEST(Handshake, InvitationsSurviveTheirLine) {
  Invitation invitation;
  invitation.host = 3;
  invitation.secret = random_key();
  invitation.port = 4711;
  invitation.limit_s = 2.5;
  invitation.encrypted = true;
  invitation.addresses = {"10.0.0.1", "fd00::1"};
  const Invitation read = Invitation::unpack(invitation.pack());
  EXPECT_EQ(read.host, 3u);
  EXPECT_EQ(read.secret, invitation.secret);
  EXPECT_EQ(read.port, 4711);
  EXPECT_DOUBLE_EQ(read.limit_s, 2.5);
  EXPECT_TRUE(read.encrypted);
  EXPECT_EQ(read.addresses, invitation.addresses);
  EXPECT_THROW(Invitation::unpack("hello\n"), Error);
  std::string older = invitation.pack();
  older[older.find("-2 ") + 1] = '1';
  try {
    Invitation::unpack(older);
    ADD_FAILURE() << "an older launcher is believed";
  } catch (const Error& e) {
    EXPECT_NE(e.text().find("of another version"), std::string::npos) << e.text();
  }
}

// Bytes from one end to the other, until neither has any left.
void carry(Cipher& from, std::string& from_says, Cipher& to, std::string& to_says) {
  for (bool moved = true; moved;) {
    const std::string there = from.to_send();
    if (!there.empty()) to.take(there, to_says);
    const std::string back = to.to_send();
    if (!back.empty()) from.take(back, from_says);
    moved = !there.empty() || !back.empty();
  }
}

// Would catch: words lost or changed on the way, or that can be read there; another key that does
// as well; a change that nobody notices.
TEST(Encryption, KeepsWordsAndNoticesStrangers) {
  if (!Cipher::is_built_in()) GTEST_SKIP() << "built without OpenSSL";
  const Key secret = random_key();
  Cipher launcher(Cipher::Side::launcher, secret), relay(Cipher::Side::relay, secret);
  std::string to_launcher, to_relay, large(3 << 20, 'x');
  launcher.put("before the sides have agreed");
  carry(relay, to_relay, launcher, to_launcher);
  EXPECT_EQ(to_relay, "before the sides have agreed");
  relay.put(large);
  const std::string on_the_way = relay.to_send();
  EXPECT_EQ(on_the_way.find("xxxxxxxx"), std::string::npos);
  EXPECT_GT(on_the_way.size(), large.size());
  for (size_t at = 0; at < on_the_way.size(); at += 100'000)
    launcher.take(std::string_view(on_the_way).substr(at, 100'000), to_launcher);
  EXPECT_EQ(to_launcher, large);

  relay.put("the next word");
  std::string changed = relay.to_send();
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_THROW(launcher.take(changed, to_launcher), Error);

  Cipher knows(Cipher::Side::launcher, secret), guesses(Cipher::Side::relay, random_key());
  to_launcher.clear();
  knows.put("the order");
  guesses.put("a lie");
  EXPECT_THROW(carry(guesses, to_relay, knows, to_launcher), Error);
  EXPECT_EQ(to_launcher, "");
  Cipher other(Cipher::Side::launcher, secret);
  EXPECT_THROW(other.take("GET / HTTP/1.1\r\n\r\n", to_launcher), Error);
}

#ifdef CAUSEWAY_WITH_TLS
// Would catch: a relay that believes whoever has a certificate.
TEST(Encryption, NoCertificateStandsForTheSecret) {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const paper = X509_new();
  X509_set_version(paper, 2);
  X509_gmtime_adj(X509_getm_notBefore(paper), -60);
  X509_gmtime_adj(X509_getm_notAfter(paper), 3600);
  X509_set_pubkey(paper, key);
  ASSERT_GT(X509_sign(paper, key, EVP_sha256()), 0);
  ASSERT_EQ(SSL_CTX_use_certificate(context, paper), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context, key), 1);
  SSL* const impostor = SSL_new(context);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  SSL_set_bio(impostor, in, out);
  SSL_set_accept_state(impostor);
  Cipher relay(Cipher::Side::relay, random_key());
  std::string to_relay;
  const auto meet = [&] {
    for (int turn = 0; turn < 4; ++turn) {
      const std::string hello = relay.to_send();
      if (!hello.empty()) BIO_write(in, hello.data(), static_cast<int>(hello.size()));
      SSL_do_handshake(impostor);
      std::string answer(BIO_ctrl_pending(out), '\0');
      if (!answer.empty()) BIO_read(out, answer.data(), static_cast<int>(answer.size()));
      relay.take(answer, to_relay);
    }
  };
  EXPECT_THROW(meet(), Error);
  EXPECT_EQ(to_relay, "");
  SSL_free(impostor);
  X509_free(paper);
  EVP_PKEY_free(key);
  SSL_CTX_free(context);
}
#endif

// Would catch: a reader that trusts lengths from the network.
TEST(Wire, EveryCutOrderIsRefused) {
  StartOrder order;
  order.layout.job_id = "job";
  order.layout.ranks = 2;
  order.layout.hosts = {"a", "b"};
  order.layout.host_of = {0, 1};
  order.programs = {{1, {"prog", "x"}, "", {}}, {2, {"other"}, "/there", {"A=b", "C="}}};
  order.environment = {"A=1"};
  order.stdin_process = 1;
  const std::string bytes = order.pack();
  const std::vector<Program> programs = StartOrder::unpack(bytes).programs;
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].command, order.programs[0].command);
  EXPECT_EQ(programs[1].ranks, 2u);
  EXPECT_EQ(programs[1].directory, "/there");
  EXPECT_EQ(programs[1].environment, order.programs[1].environment);
  EXPECT_EQ(StartOrder::unpack(bytes).stdin_process, order.stdin_process);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(StartOrder::unpack(std::string_view(bytes).substr(0, size)), Error) << size;
  order.layout.host_of = {0, 2};
  EXPECT_THROW(StartOrder::unpack(order.pack()), Error);
  order.layout.host_of = {0, 1};
  order.layout.job_id = "../elsewhere";
  EXPECT_THROW(StartOrder::unpack(order.pack()), Error);
  order.layout.job_id = "job";
  order.programs[1].command.clear();
  EXPECT_THROW(StartOrder::unpack(order.pack()), Error);
}

}  // namespace
}  // namespace causeway::launch
