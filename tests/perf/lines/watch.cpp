#include "watch.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "operands.h"

namespace causeway::lines {
namespace {

constexpr size_t kPlaces = size_t{1} << 16;

thread_local Watch* t_watch = nullptr;

void on_trap(int, siginfo_t*, void* context) {
  if (t_watch != nullptr) t_watch->note_next(context);
}

// Both leave the red zone alone. The trap comes behind the instruction that follows the setting.
[[gnu::noinline]] void set_trap_flag() {
  asm volatile("subq $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n addq $128, %%rsp" ::
                   : "memory", "cc");
}
[[gnu::noinline]] void clear_trap_flag() {
  asm volatile("subq $128, %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n addq $128, %%rsp" ::
                   : "memory", "cc");
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  ::pclose(pipe);
  return out;
}

std::string file_name(const char* path) {
  const std::string text = path != nullptr ? path : "";
  return text.substr(text.rfind('/') + 1);
}

std::string hex(const char* format, uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

struct Mapping {
  uintptr_t begin = 0, end = 0;
  std::string path;
};

Mapping mapping_of(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping out;
    if (std::sscanf(line.c_str(), "%lx-%lx", &out.begin, &out.end) != 2) continue;
    if (address < out.begin || address >= out.end) continue;
    std::istringstream words(line);
    std::string skipped;
    for (int i = 0; i < 5; ++i) words >> skipped;
    std::getline(words >> std::ws, out.path);
    return out;
  }
  return {};
}

// The last symbol of the file that does not stand behind `offset`.
std::string symbol_before(const std::string& file, uintptr_t offset) {
  std::istringstream lines(output_of("nm -Cn --defined-only '" + file + "' 2>/dev/null"));
  std::string best;
  for (std::string line; std::getline(lines, line);) {
    unsigned long value = 0;
    char type = 0;
    int at = 0;
    if (std::sscanf(line.c_str(), "%lx %c %n", &value, &type, &at) < 2 || value > offset) continue;
    best = line.substr(static_cast<size_t>(at)) + hex("+0x%lx", offset - value);
  }
  return best;
}

int find_libc(dl_phdr_info* info, size_t, void* range) {
  if (file_name(info->dlpi_name).rfind("libc.so", 0) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    auto* const out = static_cast<Mapping*>(range);
    out->begin = info->dlpi_addr + part.p_vaddr;
    out->end = out->begin + part.p_memsz;
  }
  return 1;
}

}  // namespace

Watch::Watch() : touches_(kPlaces) {
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  Mapping libc;
  ::dl_iterate_phdr(find_libc, &libc);
  libc_begin_ = libc.begin;
  libc_end_ = libc.end;
}

void Watch::clear() {
  std::fill(touches_.begin(), touches_.end(), Touch{});
  locked_ = instructions_ = 0;
  operation_ = 0;
}

void Watch::start() {
  t_watch = this;
  set_trap_flag();
}

void Watch::stop() {
  clear_trap_flag();
  t_watch = nullptr;
}

size_t Watch::place_of(uintptr_t line) const {
  size_t at = (line / kLine * 0x9e3779b97f4a7c15u) >> 48;
  while (touches_[at].line != line && touches_[at].line != 0) at = (at + 1) % kPlaces;
  return at;
}

const Touch* Watch::find(uintptr_t line) const {
  const Touch& touch = touches_[place_of(line)];
  return touch.line == 0 ? nullptr : &touch;
}

// Without allocation: the signal may come in the middle of one.
void Watch::note_next(const void* context) {
  const greg_t* const registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const Operands operands = operands_of(registers);
  const auto code = static_cast<uintptr_t>(registers[REG_RIP]);
  ++instructions_;
  if (code < libc_begin_ || code >= libc_end_) outside_ = code;
  for (unsigned i = 0; i < operands.count; ++i) {
    const Operand& operand = operands.of[i];
    const uintptr_t last = (operand.address + operand.bytes - 1) / kLine * kLine;
    for (uintptr_t line = operand.address / kLine * kLine; line <= last; line += kLine) {
      Touch& touch = touches_[place_of(line)];
      touch.line = line;
      if (std::exchange(touch.last, operation_) != operation_) ++touch.operations;
      ++(operand.written ? touch.writes : touch.reads);
      (operand.written ? touch.writer : touch.reader) = outside_;
      touch.locked += operand.locked;
    }
    locked_ += operand.locked;
  }
}

std::vector<Shared> shared_lines(const Watch& first, const Watch& second) {
  std::vector<Shared> out;
  for (const Touch& a : first.touches()) {
    if (a.line == 0) continue;
    const Touch* const b = second.find(a.line);
    if (b != nullptr && (a.writes != 0 || b->writes != 0)) out.push_back({a, *b});
  }
  return out;
}

std::string name_of_data(uintptr_t address) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_fname != nullptr) {
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(info.dli_fbase);
    return object_of(address) + ": " + symbol_before(info.dli_fname, offset);
  }
  const Mapping mapping = mapping_of(address);
  if (mapping.end == 0) return "memory that is unmapped now";
  return (mapping.path.empty() ? "memory of the process" : mapping.path) +
         hex(" + 0x%lx", address - mapping.begin);
}

std::string name_of_code(uintptr_t address) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(address), &info) == 0) return "unknown code";
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(info.dli_fbase);
  std::string text = output_of(std::string("addr2line -sCf -e '") + info.dli_fname + "' " +
                               hex("0x%lx", offset) + " 2>/dev/null");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return object_of(address) + ": " + text;
}

std::string object_of(uintptr_t address) {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<void*>(address), &info) != 0 ? file_name(info.dli_fname) : "";
}

}  // namespace causeway::lines
