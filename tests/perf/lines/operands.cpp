#include "operands.h"

#include <pthread.h>

#include <cstring>

namespace causeway::lines {
namespace {

enum Map : uint8_t { one_byte = 0, two_bytes = 1, map_38 = 2, map_3a = 3 };
enum class Encoding { legacy, vex, evex };

struct Instruction {
  const uint8_t* at = nullptr;  // behind what has been read
  bool wide_operand = false;    // prefix 66
  uint8_t repeat = 0;           // prefix F2 or F3
  bool lock = false;
  bool thread_local_segment = false;  // prefix 64: FS
  bool rex_w = false;
  unsigned rex_r = 0, rex_x = 0, rex_b = 0;  // 8 or 0
  uint8_t map = one_byte, opcode = 0;
  Encoding encoding = Encoding::legacy;
  uint32_t vector_bytes = 16;
  uint8_t modrm = 0;

  unsigned mod() const { return modrm >> 6; }
  unsigned reg() const { return (modrm >> 3) & 7; }
  unsigned rm() const { return modrm & 7; }
  // What the prefix 66, F3 or F2 makes of a vector instruction, as VEX numbers it.
  uint8_t variant() const { return repeat == 0xf3 ? 2 : repeat == 0xf2 ? 3 : wide_operand ? 1 : 0; }
  void set_variant(unsigned pp) {
    wide_operand = pp == 1;
    repeat = pp == 2 ? 0xf3 : pp == 3 ? 0xf2 : 0;
  }
};

void read_prefixes(Instruction& i) {
  for (;; ++i.at) {
    switch (*i.at) {
      case 0x66:
        i.wide_operand = true;
        continue;
      case 0xf2:
      case 0xf3:
        i.repeat = *i.at;
        continue;
      case 0xf0:
        i.lock = true;
        continue;
      case 0x64:
        i.thread_local_segment = true;
        continue;
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x26:
      case 0x65:
      case 0x67:
        continue;
      default:
        return;
    }
  }
}

void set_rex(Instruction& i, unsigned w, unsigned r, unsigned x, unsigned b) {
  i.rex_w = w != 0;
  i.rex_r = r != 0 ? 8 : 0;
  i.rex_x = x != 0 ? 8 : 0;
  i.rex_b = b != 0 ? 8 : 0;
}

void read_opcode(Instruction& i) {
  const uint8_t* p = i.at;
  if (*p == 0xc5) {
    i.encoding = Encoding::vex;
    set_rex(i, 0, !(p[1] & 0x80), 0, 0);
    i.map = two_bytes;
    i.vector_bytes = p[1] & 4 ? 32 : 16;
    i.set_variant(p[1] & 3);
    p += 2;
  } else if (*p == 0xc4) {
    i.encoding = Encoding::vex;
    set_rex(i, p[2] & 0x80, !(p[1] & 0x80), !(p[1] & 0x40), !(p[1] & 0x20));
    i.map = p[1] & 0x1f;
    i.vector_bytes = p[2] & 4 ? 32 : 16;
    i.set_variant(p[2] & 3);
    p += 3;
  } else if (*p == 0x62) {
    i.encoding = Encoding::evex;
    set_rex(i, p[2] & 0x80, !(p[1] & 0x80), !(p[1] & 0x40), !(p[1] & 0x20));
    i.map = p[1] & 7;
    i.vector_bytes = 16u << ((p[3] >> 5) & 3);
    i.set_variant(p[2] & 3);
    p += 4;
  } else {
    if ((*p & 0xf0) == 0x40) {
      set_rex(i, *p & 8, *p & 4, *p & 2, *p & 1);
      ++p;
    }
    if (*p == 0x0f) {
      ++p;
      i.map = *p == 0x38 ? map_38 : *p == 0x3a ? map_3a : two_bytes;
      if (i.map != two_bytes) ++p;
    }
  }
  i.opcode = *p++;
  i.at = p;
}

bool has_modrm(const Instruction& i) {
  const uint8_t op = i.opcode;
  if (i.encoding != Encoding::legacy) return !(i.map == two_bytes && op == 0x77);
  if (i.map == map_38 || i.map == map_3a) return true;
  if (i.map == two_bytes) {
    return !(op == 0x05 || op == 0x06 || op == 0x07 || op == 0x08 || op == 0x09 || op == 0x0b ||
             op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 || (op & 0xf0) == 0x80 ||
             (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
             (op >= 0xc8 && op <= 0xcf));
  }
  if (op < 0x40) return (op & 7) < 4;
  return op == 0x63 || op == 0x69 || op == 0x6b || (op & 0xf0) == 0x80 || op == 0xc0 ||
         op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
         (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

// Bytes of the immediate operand, which stands behind the address that RIP counts from.
unsigned immediate_bytes(const Instruction& i) {
  const uint8_t op = i.opcode;
  const unsigned full = i.wide_operand ? 2 : 4;
  if (i.map == map_3a) return 1;
  if (i.map == two_bytes) {
    const bool has = (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
                     op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
    return has ? 1 : 0;
  }
  if (i.map != one_byte) return 0;
  if (op == 0x69 || op == 0x81 || op == 0xc7 || (op == 0xf7 && i.reg() < 2)) return full;
  const bool has = op == 0x6b || op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 ||
                   op == 0xc6 || (op == 0xf6 && i.reg() < 2);
  return has ? 1 : 0;
}

constexpr int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

int64_t displacement(Instruction& i, bool four_bytes) {
  if (four_bytes) {
    int32_t value;
    std::memcpy(&value, i.at, sizeof value);
    i.at += sizeof value;
    return value;
  }
  const auto value = static_cast<int8_t>(*i.at++);
  return value * (i.encoding == Encoding::evex ? static_cast<int64_t>(i.vector_bytes) : 1);
}

// The address that ModRM and what follows it name. `i.at` stands behind ModRM.
uintptr_t effective_address(Instruction& i, const greg_t* registers) {
  const auto value = [&](unsigned n) { return static_cast<uintptr_t>(registers[kRegisters[n]]); };
  uintptr_t address = 0;
  bool based = true;
  if (i.rm() == 4) {
    const uint8_t sib = *i.at++;
    const unsigned index = ((sib >> 3) & 7) | i.rex_x;
    if (index != 4) address += value(index) << (sib >> 6);
    based = (sib & 7) != 5 || i.mod() != 0;
    if (based) address += value((sib & 7) | i.rex_b);
  } else if (i.rm() == 5 && i.mod() == 0) {
    address = static_cast<uintptr_t>(displacement(i, true));
    return address + reinterpret_cast<uintptr_t>(i.at) + immediate_bytes(i);
  } else {
    address = value(i.rm() | i.rex_b);
  }
  if (i.mod() == 1) address += static_cast<uintptr_t>(displacement(i, false));
  if (i.mod() == 2 || !based) address += static_cast<uintptr_t>(displacement(i, true));
  // The thread's pointer is where its segment begins.
  if (i.thread_local_segment) address += static_cast<uintptr_t>(::pthread_self());
  return address;
}

bool one_byte_writes(const Instruction& i) {
  const uint8_t op = i.opcode;
  if (op < 0x40) return (op & 7) < 2 && op < 0x38;
  if (op >= 0x80 && op <= 0x83) return i.reg() != 7;
  if (op == 0xf6 || op == 0xf7) return i.reg() == 2 || i.reg() == 3;
  if (op == 0xfe || op == 0xff) return i.reg() < 2;
  if (op >= 0xd8 && op <= 0xdf) return (op & 1) && (i.reg() == 2 || i.reg() == 3 || i.reg() == 7);
  return (op >= 0x86 && op <= 0x89) || op == 0x8c || op == 0x8f || op == 0xc0 || op == 0xc1 ||
         op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3);
}

bool writes(const Instruction& i) {
  const uint8_t op = i.opcode;
  switch (i.map) {
    case one_byte:
      return one_byte_writes(i);
    case two_bytes:
      if (op == 0x7e) return i.repeat != 0xf3;
      if (op == 0xba) return i.reg() >= 5;
      if (op == 0xae) return i.reg() == 0 || i.reg() == 3 || i.reg() == 4;
      return op == 0x11 || op == 0x13 || op == 0x17 || op == 0x29 || op == 0x2b || op == 0x7f ||
             op == 0xe7 || op == 0xd6 || op == 0xc3 || (op & 0xf0) == 0x90 || op == 0xb0 ||
             op == 0xb1 || op == 0xc0 || op == 0xc1 || op == 0xc7 || op == 0xab || op == 0xb3 ||
             op == 0xbb || op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad;
    case map_38:
      if (op == 0xf1) return i.repeat != 0xf2;
      return i.encoding == Encoding::vex && (op == 0x2e || op == 0x2f || op == 0x8e);
    default:
      return (op >= 0x14 && op <= 0x17) || op == 0x19 || op == 0x1b || op == 0x39 || op == 0x3b;
  }
}

// Near enough: what matters is which lines are touched.
uint32_t bytes_of(const Instruction& i) {
  const uint8_t op = i.opcode;
  const uint32_t plain = i.rex_w ? 8 : i.wide_operand ? 2 : 4;
  if (i.map == one_byte) {
    const bool byte = (op < 0x40 && !(op & 1)) || op == 0x80 || op == 0x84 || op == 0x86 ||
                      op == 0x88 || op == 0x8a || op == 0xc0 || op == 0xc6 || op == 0xf6 ||
                      op == 0xfe;
    return byte ? 1 : op == 0xff && i.reg() > 1 ? 8 : plain;
  }
  if (i.map != two_bytes) return i.encoding == Encoding::legacy ? 16 : i.vector_bytes;
  if ((op & 0xf0) == 0x90 || op == 0xb0 || op == 0xc0 || op == 0xb6 || op == 0xbe) return 1;
  const bool moves = (op & 0xf8) == 0x10 || op == 0x28 || op == 0x29 || op == 0x2b || op == 0x6f ||
                     op == 0x7f || op == 0xe7 || op == 0x74 || op == 0x75 || op == 0x76 ||
                     op == 0xd7 || op == 0xda || op == 0xef || op == 0xeb || op == 0xdb;
  if (!moves) return op == 0x7e || op == 0xd6 ? 8 : plain;
  const bool scalar = (op == 0x10 || op == 0x11) && i.variant() >= 2;
  if (scalar || op == 0x12 || op == 0x13 || op == 0x16 || op == 0x17) return 8;
  return i.vector_bytes;
}

bool touches_nothing(const Instruction& i) {
  if (i.mod() == 3) return true;
  if (i.map == one_byte) return i.opcode == 0x8d;
  return i.map == two_bytes && (i.opcode == 0x1f || i.opcode == 0x1e);
}

void add(Operands& out, uintptr_t address, uint32_t bytes, bool written, bool locked = false) {
  out.of[out.count++] = {address, bytes, written, locked};
}

void string_operands(const Instruction& i, const greg_t* registers, Operands& out) {
  if (i.map != one_byte || i.encoding != Encoding::legacy) return;
  if (i.repeat != 0 && registers[REG_RCX] == 0) return;
  const uint32_t bytes = !(i.opcode & 1) ? 1 : i.rex_w ? 8 : i.wide_operand ? 2 : 4;
  const unsigned kind = i.opcode & ~1u;
  const bool reads_source = kind == 0xa4 || kind == 0xa6 || kind == 0xac;
  const bool writes_target = kind == 0xa4 || kind == 0xaa;
  const bool reads_target = kind == 0xa6 || kind == 0xae;
  if (reads_source) add(out, static_cast<uintptr_t>(registers[REG_RSI]), bytes, false);
  if (writes_target || reads_target)
    add(out, static_cast<uintptr_t>(registers[REG_RDI]), bytes, writes_target);
}

}  // namespace

Operands operands_of(const greg_t* registers) {
  Operands out;
  Instruction i;
  i.at = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  read_prefixes(i);
  read_opcode(i);
  if (!has_modrm(i)) {
    string_operands(i, registers, out);
    return out;
  }
  i.modrm = *i.at++;
  if (touches_nothing(i)) return out;
  const uintptr_t address = effective_address(i, registers);
  const bool exchange = i.map == one_byte && (i.opcode == 0x86 || i.opcode == 0x87);
  add(out, address, bytes_of(i), writes(i), i.lock || exchange);
  return out;
}

}  // namespace causeway::lines
