// Names of constants, for messages.
#include <gasnet_tools.h>
#include <gasnetex.h>

#include <fmt/core.h>

#include <cstring>
#include <string>

#include "api/gex/export.h"

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
