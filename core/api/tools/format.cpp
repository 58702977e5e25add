// Names of constants, for messages.
#include <gasnet_tools.h>
#include <gasnetex.h>

#include <fmt/core.h>

#include <cstring>
#include <string>

#include "api/export.h"

namespace {

struct Name {
  uint32_t value;
  const char* text;
};

// The names of the bits set, joined; what has no name in hexadecimal; "0" for none.
template <size_t N>
std::string joined(const Name (&names)[N], uint32_t value) {
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : "|") + word; };
  for (const Name& name : names) {
    if ((value & name.value) != name.value) continue;
    add(name.text);
    value &= ~name.value;
  }
  if (value != 0) add(fmt::format("{:#x}", value));
  return out.empty() ? "0" : out;
}

size_t write(char* buf, const std::string& text) {
  if (buf != nullptr) std::memcpy(buf, text.c_str(), text.size() + 1);
  return text.size() + 1;
}

#define CWY_NAME(constant) \
  { constant, #constant }
constexpr Name kTypes[] = {CWY_NAME(GEX_DT_I32), CWY_NAME(GEX_DT_U32), CWY_NAME(GEX_DT_I64),
                           CWY_NAME(GEX_DT_U64), CWY_NAME(GEX_DT_FLT), CWY_NAME(GEX_DT_DBL),
                           CWY_NAME(GEX_DT_USER)};
constexpr Name kOperations[] = {
    CWY_NAME(GEX_OP_ADD),   CWY_NAME(GEX_OP_SUB),  CWY_NAME(GEX_OP_MULT),   CWY_NAME(GEX_OP_MIN),
    CWY_NAME(GEX_OP_MAX),   CWY_NAME(GEX_OP_INC),  CWY_NAME(GEX_OP_DEC),    CWY_NAME(GEX_OP_AND),
    CWY_NAME(GEX_OP_OR),    CWY_NAME(GEX_OP_XOR),  CWY_NAME(GEX_OP_FADD),   CWY_NAME(GEX_OP_FSUB),
    CWY_NAME(GEX_OP_FMULT), CWY_NAME(GEX_OP_FMIN), CWY_NAME(GEX_OP_FMAX),   CWY_NAME(GEX_OP_FINC),
    CWY_NAME(GEX_OP_FDEC),  CWY_NAME(GEX_OP_FAND), CWY_NAME(GEX_OP_FOR),    CWY_NAME(GEX_OP_FXOR),
    CWY_NAME(GEX_OP_SET),   CWY_NAME(GEX_OP_CAS),  CWY_NAME(GEX_OP_SWAP),   CWY_NAME(GEX_OP_GET),
    CWY_NAME(GEX_OP_FCAS),  CWY_NAME(GEX_OP_USER), CWY_NAME(GEX_OP_USER_NC)};
constexpr Name kTokenFacts[] = {CWY_NAME(GEX_TI_SRCRANK), CWY_NAME(GEX_TI_EP),
                                CWY_NAME(GEX_TI_ENTRY), CWY_NAME(GEX_TI_IS_REQ),
                                CWY_NAME(GEX_TI_IS_LONG)};
#undef CWY_NAME

}  // namespace

CAUSEWAY_API size_t gasnett_format_dt(char* buf, gex_DT_t dt) {
  return write(buf, joined(kTypes, dt));
}
CAUSEWAY_API size_t gasnett_format_op(char* buf, gex_OP_t op) {
  return write(buf, joined(kOperations, op));
}
CAUSEWAY_API size_t gasnett_format_ti(char* buf, gex_TI_t ti) {
  return write(buf, joined(kTokenFacts, ti));
}

// ---- lists of pieces ----

namespace {

// No piece of text below is longer.
constexpr size_t kPerEntry = 64, kPerText = 256;

// "3 pieces, 24 bytes: [0x10,8] [0x40,8] [0x80,8]"
std::string vector_text(size_t count, const gex_Memvec_t* list) {
  size_t bytes = 0;
  std::string pieces;
  for (size_t i = 0; i < count; ++i) {
    bytes += list[i].gex_len;
    pieces += fmt::format(" [{},{}]", list[i].gex_addr, list[i].gex_len);
  }
  return fmt::format("{} pieces, {} bytes:{}", count, bytes, pieces);
}

std::string address_text(size_t count, void* const* list, size_t len) {
  std::string pieces;
  for (size_t i = 0; i < count; ++i) pieces += fmt::format(" {}", list[i]);
  return fmt::format("{} pieces of {} bytes:{}", count, len, pieces);
}

template <typename Number>
std::string number_text(size_t count, const Number* list) {
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) out += fmt::format("{}{}", i == 0 ? "" : ",", list[i]);
  return out + "]";
}

}  // namespace

CAUSEWAY_API size_t gasnett_format_memveclist_bufsz(size_t count) {
  return kPerText + count * kPerEntry;
}
CAUSEWAY_API size_t gasnett_format_memveclist(char* buf, size_t count, const gex_Memvec_t* list) {
  return write(buf, vector_text(count, list));
}

CAUSEWAY_API size_t gasnett_format_addrlist_bufsz(size_t count) {
  return kPerText + count * kPerEntry;
}
CAUSEWAY_API size_t gasnett_format_addrlist(char* buf, size_t count, void* const* list,
                                            size_t len) {
  return write(buf, address_text(count, list, len));
}

CAUSEWAY_API size_t gasnett_format_strides_bufsz(size_t count) {
  return kPerText + count * kPerEntry;
}
CAUSEWAY_API size_t gasnett_format_strides(char* buf, size_t count, const ptrdiff_t* list) {
  return write(buf, number_text(count, list));
}

CAUSEWAY_API size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount) {
  return 2 * kPerText + (dstcount + srccount) * kPerEntry;
}
CAUSEWAY_API size_t gasnett_format_putvgetv(char* buf, size_t dstcount, const gex_Memvec_t* dstlist,
                                            size_t srccount, const gex_Memvec_t* srclist) {
  return write(buf, fmt::format("to {}; from {}", vector_text(dstcount, dstlist),
                                vector_text(srccount, srclist)));
}

CAUSEWAY_API size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount) {
  return 2 * kPerText + (dstcount + srccount) * kPerEntry;
}
CAUSEWAY_API size_t gasnett_format_putigeti(char* buf, size_t dstcount, void* const* dstlist,
                                            size_t dstlen, size_t srccount, void* const* srclist,
                                            size_t srclen) {
  return write(buf, fmt::format("to {}; from {}", address_text(dstcount, dstlist, dstlen),
                                address_text(srccount, srclist, srclen)));
}

CAUSEWAY_API size_t gasnett_format_putsgets_bufsz(size_t stridelevels) {
  return 2 * kPerText + 3 * stridelevels * kPerEntry;
}
CAUSEWAY_API size_t(gasnett_format_putsgets)(char* buf, void* dstaddr, const ptrdiff_t* dststrides,
                                             void* srcaddr, const ptrdiff_t* srcstrides,
                                             size_t elemsz, const size_t* count,
                                             size_t stridelevels) {
  size_t bytes = elemsz;
  for (size_t i = 0; i < stridelevels; ++i) bytes *= count[i];
  return write(buf,
               fmt::format("to {} strides {}; from {} strides {}; elements of {} bytes, counts {}, "
                           "{} bytes",
                           dstaddr, number_text(stridelevels, dststrides), srcaddr,
                           number_text(stridelevels, srcstrides), elemsz,
                           number_text(stridelevels, count), bytes));
}
