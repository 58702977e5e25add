#include "loader/elf_section.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "loader/trust.h"

// The linker's: the header of the file that this code is in.
extern "C" __attribute__((visibility("hidden"))) const Elf64_Ehdr __ehdr_start;

namespace causeway {
namespace {

constexpr char kSectionName[] = "cwy_manifest";
constexpr uint64_t kLargestManifest = uint64_t{64} * 1024;
constexpr uint64_t kMostSections = 65536;

static_assert(sizeof(void*) == 8, "Causeway runs on 64-bit machines");

std::string machine_word(uint16_t machine) {
  constexpr std::pair<uint16_t, const char*> words[] = {
      {EM_386, "i386"},    {EM_X86_64, "x86_64"}, {EM_ARM, "arm"},    {EM_AARCH64, "aarch64"},
      {EM_PPC64, "ppc64"}, {EM_RISCV, "riscv"},   {EM_S390, "s390x"}, {258, "loongarch64"}};
  for (const auto& [number, word] : words)
    if (number == machine) return word;
  return fmt::format("ELF machine {}", machine);
}

// A file opened for bounded reads.
class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    // O_NONBLOCK: a FIFO put where a plugin should be must not stop the program.
    fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd_) fail("cannot be opened: {}", std::strerror(errno));
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) fail("cannot be examined: {}", std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail("is not a regular file");
    size_ = static_cast<uint64_t>(status.st_size);
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(CWY_ERR_INVALID, path_ + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= size_ && length <= size_ - offset;
  }

  void read(uint64_t offset, void* to, uint64_t length, const char* what) const {
    if (!holds(offset, length)) fail("is truncated or damaged: {} lies outside the file", what);
    auto* bytes = static_cast<char*>(to);
    while (length > 0) {
      const ssize_t got = ::pread(fd_.get(), bytes, length, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot be read: {}", std::strerror(errno));
      if (got == 0) fail("is truncated or damaged: {} lies outside the file", what);
      bytes += got;
      offset += static_cast<uint64_t>(got);
      length -= static_cast<uint64_t>(got);
    }
  }

 private:
  const std::string& path_;
  UniqueFd fd_;
  uint64_t size_ = 0;
};

Elf64_Ehdr read_header(const File& file) {
  Elf64_Ehdr header{};
  unsigned char ident[EI_NIDENT] = {};
  if (!file.holds(0, SELFMAG)) file.fail("is not an ELF file (it is shorter than its magic)");
  file.read(0, ident, SELFMAG, "the ELF magic");
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) file.fail("is not an ELF file");
  file.read(0, ident, sizeof ident, "the ELF identification");
  if (ident[EI_CLASS] != ELFCLASS64) file.fail("is not a 64-bit ELF file");
  if (ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA])
    file.fail("is built for machines of the other byte order");
  file.read(0, &header, sizeof header, "the ELF header");
  if (header.e_machine != __ehdr_start.e_machine) {
    file.fail("is built for {}, this program runs on {}", machine_word(header.e_machine),
              machine_word(__ehdr_start.e_machine));
  }
  if (header.e_type != ET_DYN) file.fail("is not a shared object (ELF type {})", header.e_type);
  return header;
}

std::vector<Elf64_Shdr> read_sections(const File& file, const Elf64_Ehdr& header,
                                      uint64_t* names_index) {
  if (header.e_shoff == 0) file.fail("has no section table, hence no manifest (was it stripped?)");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) file.fail("is damaged: bad section entry size");
  Elf64_Shdr first{};
  file.read(header.e_shoff, &first, sizeof first, "the section table");
  // Numbers too large for the header stand in section 0.
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  *names_index = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  if (count > kMostSections) file.fail("is damaged: {} sections", count);
  if (*names_index >= count) file.fail("is damaged: section names lie outside the table");
  std::vector<Elf64_Shdr> sections(count);
  file.read(header.e_shoff, sections.data(), count * sizeof(Elf64_Shdr), "the section table");
  return sections;
}

bool has_name(const File& file, const Elf64_Shdr& names, const Elf64_Shdr& section) {
  char name[sizeof kSectionName];
  if (section.sh_name >= names.sh_size || names.sh_size - section.sh_name < sizeof name)
    return false;
  // Both are at most 64 bits wide: refuse the sum where it would wrap.
  uint64_t offset = 0;
  if (__builtin_add_overflow(names.sh_offset, uint64_t{section.sh_name}, &offset)) return false;
  if (!file.holds(offset, sizeof name)) return false;
  file.read(offset, name, sizeof name, "a section name");
  return std::memcmp(name, kSectionName, sizeof name) == 0;
}

std::optional<Elf64_Shdr> find_section(const File& file, const Elf64_Ehdr& header) {
  uint64_t names_index = 0;
  const std::vector<Elf64_Shdr> sections = read_sections(file, header, &names_index);
  for (const Elf64_Shdr& section : sections)
    if (section.sh_type != SHT_NOBITS && has_name(file, sections[names_index], section))
      return section;
  return std::nullopt;
}

}  // namespace

std::string read_manifest_section(const std::string& path) {
  check_trust(path);
  const File file(path);
  const std::optional<Elf64_Shdr> section = find_section(file, read_header(file));
  if (!section) {
    file.fail("carries no plugin manifest (ELF section {}); is it a Causeway plugin?",
              kSectionName);
  }
  if (section->sh_size > kLargestManifest)
    file.fail("its manifest is larger than {} bytes", kLargestManifest);
  std::string text(section->sh_size, '\0');
  file.read(section->sh_offset, text.data(), text.size(), "the manifest");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (text.find('\0') != std::string::npos)
    file.fail("carries more than one manifest: CWY_MANIFEST must be used once");
  return text;
}

}  // namespace causeway
