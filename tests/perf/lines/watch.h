// Which cache lines a thread touches between two marks: the processor stops after each instruction
// (the trap flag), and the handler of that signal notes what the next one is going to touch. So
// every byte of the library, of network libraries and of libc counts, as it was compiled. What
// the kernel touches in system calls does not, nor what the processor guesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::lines {

inline constexpr uintptr_t kLine = 64;

struct Touch {
  uintptr_t line = 0;  // 0: a free place
  uint32_t reads = 0, writes = 0, locked = 0;
  uint32_t operations = 0, last = 0;  // how many of them did so, and the last one
  uintptr_t reader = 0, writer = 0;   // an instruction that did so; for libc's, its caller's
};

class Watch {
 public:
  Watch();
  // From here on the calling thread's accesses count, up to stop(). Not nested.
  void start();
  void stop();
  // Another operation begins.
  void next() { ++operation_; }
  // Locked instructions and all instructions, between the marks.
  uint64_t locked() const { return locked_; }
  uint64_t instructions() const { return instructions_; }
  const std::vector<Touch>& touches() const { return touches_; }
  // NULL: not touched.
  const Touch* find(uintptr_t line) const;
  // Forgets everything.
  void clear();

  void note_next(const void* context);

 private:
  size_t place_of(uintptr_t line) const;
  std::vector<Touch> touches_;  // by the line's hash
  uint64_t locked_ = 0, instructions_ = 0;
  uint32_t operation_ = 0;
  uintptr_t libc_begin_ = 0, libc_end_ = 0;
  uintptr_t outside_ = 0;  // the last instruction outside of libc
};

// A line that one of two threads wrote and the other one touched.
struct Shared {
  Touch first, second;
  bool both_lock() const { return first.locked != 0 && second.locked != 0; }
};
std::vector<Shared> shared_lines(const Watch& first, const Watch& second);

// The name of the data at an address: a symbol of a library or program, or the mapping that it lies
// in.
std::string name_of_data(uintptr_t address);
// The function and the line of source, as far as the debugging information tells.
std::string name_of_code(uintptr_t address);
// File name of the object that holds the instruction.
std::string object_of(uintptr_t address);

}  // namespace causeway::lines
