// read_manifest on damaged files: it may refuse or accept, and nothing else. The seed is fixed, so
// a failure repeats; run under the asan preset it also catches reads past the bounds.
#include <fcntl.h>
#include <unistd.h>

#include <elf.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

class Mutation : public testing::Test {
 protected:
  // In memory: thousands of files on a busy disk would take a minute.
  Mutation() : directory_("/dev/shm/causeway-mutation-XXXXXX") {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr) << std::strerror(errno);
    path_ = directory_ + "/conduit_good.so";
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_GE(fd_, 0) << std::strerror(errno);
  }
  ~Mutation() override {
    close(fd_);
    fs::remove_all(directory_);
  }

  // Would catch: any escape other than Error (std::bad_alloc from a hostile size, yaml-cpp's own,
  // a crash), and messages that are not one line about this file.
  void read(const std::string& bytes) {
    ASSERT_EQ(ftruncate(fd_, 0), 0);
    ASSERT_EQ(pwrite(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    try {
      const Manifest manifest = read_manifest(path_);
      EXPECT_FALSE(manifest.name.empty());
      ++accepted_;
    } catch (const Error& error) {
      ++refused_;
      ASSERT_EQ(error.text().rfind(path_ + ": ", 0), 0u) << error.text();
      ASSERT_EQ(error.text().find('\n'), std::string::npos) << error.text();
      ASSERT_LT(error.text().size(), path_.size() + 1500);
    }
  }

  std::string directory_, path_;
  int fd_ = -1;
  std::string good_ = read_bytes(plugin_file("good"));
  std::mt19937 random_{20240607};
  size_t accepted_ = 0, refused_ = 0;

  size_t below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }
  char byte() { return static_cast<char>(below(256)); }
};

TEST_F(Mutation, BytesAnywhere) {
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = good_;
    for (size_t n = 1 + below(64); n > 0; --n) bytes[below(bytes.size())] = byte();
    read(bytes);
  }
  EXPECT_GT(accepted_, 0u);
}

TEST_F(Mutation, BytesOfTheHeader) {
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good_;
    for (size_t n = 1 + below(3); n > 0; --n) bytes[below(sizeof(Elf64_Ehdr))] = byte();
    read(bytes);
  }
  EXPECT_GT(refused_, 0u);
}

TEST_F(Mutation, BytesOfTheSectionTable) {
  Elf64_Ehdr header;
  std::memcpy(&header, good_.data(), sizeof header);
  const size_t length = size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  ASSERT_LE(header.e_shoff + length, good_.size());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good_;
    for (size_t n = 1 + below(32); n > 0; --n) bytes[header.e_shoff + below(length)] = byte();
    read(bytes);
  }
  EXPECT_GT(refused_, 0u);
}

TEST_F(Mutation, ExtremeSectionNumbers) {
  Elf64_Ehdr header;
  std::memcpy(&header, good_.data(), sizeof header);
  const uint64_t extremes[] = {0,     1,         0x7fffffff,   0xffffffff,      1ull << 62,
                               ~0ull, ~0ull - 7, good_.size(), good_.size() - 1};
  // Every 8-byte field of every section header, and of the ELF header's offsets.
  for (size_t at = 0; at + 8 <= size_t{header.e_shnum} * sizeof(Elf64_Shdr); at += 8) {
    for (const uint64_t extreme : extremes) {
      std::string bytes = good_;
      std::memcpy(bytes.data() + header.e_shoff + at, &extreme, sizeof extreme);
      read(bytes);
    }
  }
  for (const uint64_t extreme : extremes) {
    std::string bytes = good_;
    std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &extreme, sizeof extreme);
    read(bytes);
    // No count in the header: the count comes from section 0.
    bytes = good_;
    const Elf64_Half none = 0;
    std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shnum), &none, sizeof none);
    std::memcpy(bytes.data() + header.e_shoff + offsetof(Elf64_Shdr, sh_size), &extreme,
                sizeof extreme);
    read(bytes);
  }
  EXPECT_GT(refused_, 0u);
}

TEST_F(Mutation, TruncationAtEveryScale) {
  for (size_t length = 0; length < 256; ++length) read(good_.substr(0, length));
  for (int round = 0; round < 300; ++round) read(good_.substr(0, below(good_.size())));
  EXPECT_GT(refused_, 256u);
}

TEST_F(Mutation, BytesOfTheManifestText) {
  const size_t start = good_.find("causeway_manifest:");
  ASSERT_NE(start, std::string::npos);
  const size_t end = good_.find('\0', start);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good_;
    for (size_t n = 1 + below(8); n > 0; --n) bytes[start + below(end - start)] = byte();
    read(bytes);
  }
  EXPECT_GT(refused_, 0u);
}

TEST_F(Mutation, HostileYaml) {
  const size_t start = good_.find("causeway_manifest:");
  const size_t length = good_.find('\0', start) - start;
  // Structure characters at random; deep nesting; anchors that refer to themselves.
  const std::string alphabet = "[]{}:,-&*!|>'\"#%@`?\n \tax1";
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good_;
    for (size_t i = 0; i < length; ++i) bytes[start + i] = alphabet[below(alphabet.size())];
    read(bytes);
  }
  for (const char* piece : {"[", "{", "- ", "? ", "&a [*a, ", "!!x ", "{a: "}) {
    std::string text;
    while (text.size() + std::strlen(piece) <= length) text += piece;
    text.resize(length, ' ');
    std::string bytes = good_;
    bytes.replace(start, length, text);
    read(bytes);
  }
  EXPECT_GT(refused_, 0u);
}

}  // namespace
}  // namespace causeway::loader_test
