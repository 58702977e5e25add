// Tells the memory that an instruction of x86-64 touches from its bytes and the registers before it
// runs.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace causeway::lines {

struct Operand {
  uintptr_t address = 0;
  uint32_t bytes = 0;
  bool written = false;
  bool locked = false;  // read and written in one step that no other processor may part
};

struct Operands {
  Operand of[2];
  unsigned count = 0;
};

// The operands in memory of the instruction at the registers' RIP. Left out: the stack as far as
// it is implied (push, call and their like), scattered vectors, and what the kernel touches.
Operands operands_of(const greg_t* registers);

}  // namespace causeway::lines
