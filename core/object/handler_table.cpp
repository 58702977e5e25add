#include "object/handler_table.h"

#include <utility>

#include "base/log.h"
#include "base/refusal.h"

namespace causeway {
namespace {

template <size_t>
using Argument = gex_AM_Arg_t;

template <size_t... I>
constexpr ShortCaller short_caller(std::index_sequence<I...>) {
  return [](gex_AM_Fn_t fn, gex_Token_t token, const int32_t* args) {
    reinterpret_cast<void (*)(gex_Token_t, Argument<I>...)>(fn)(token, args[I]...);
  };
}

template <size_t... I>
constexpr PayloadCaller payload_caller(std::index_sequence<I...>) {
  return [](gex_AM_Fn_t fn, gex_Token_t token, void* payload, size_t length, const int32_t* args) {
    reinterpret_cast<void (*)(gex_Token_t, void*, size_t, Argument<I>...)>(fn)(token, payload,
                                                                               length, args[I]...);
  };
}

template <size_t... N>
constexpr HandlerCallers make_callers(std::index_sequence<N...>) {
  return {{short_caller(std::make_index_sequence<N>{})...},
          {payload_caller(std::make_index_sequence<N>{})...}};
}

std::string about(const gex_AM_Entry_t& e, const char* why) {
  return fmt::format("entry '{}' (index {}): {}", e.gex_name != nullptr ? e.gex_name : "unnamed",
                     e.gex_index, why);
}

const char* untyped_defect(const gex_AM_Entry_t& e) {
  if (e.gex_fnptr == nullptr) return "the function is NULL";
  if (e.gex_index != 0 && e.gex_index < GEX_AM_INDEX_BASE)
    return "index is neither 0 nor in [128, 255]";
  return nullptr;
}

const char* typed_defect(const gex_AM_Entry_t& e) {
  const gex_Flags_t category = e.gex_flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
  if (e.gex_fnptr == nullptr) return "gex_fnptr is NULL";
  if (e.gex_index != 0 && e.gex_index < GEX_AM_INDEX_BASE)
    return "index is neither 0 nor in [128, 255]";
  if (e.gex_nargs > gex_AM_MaxArgs()) return "gex_nargs is over 16";
  if (category == 0 || (category & GEX_FLAG_AM_SHORT && category != GEX_FLAG_AM_SHORT))
    return "gex_flags need exactly one of GEX_FLAG_AM_SHORT, _MEDIUM, _LONG, _MEDLONG";
  if ((e.gex_flags & GEX_FLAG_AM_REQREP) == 0)
    return "gex_flags need one of GEX_FLAG_AM_REQUEST, _REPLY, _REQREP";
  return nullptr;
}

}  // namespace

HandlerTable::HandlerTable() {
  for (size_t i = 0; i < entries_.size(); ++i)
    entries_[i] = gex_AM_Entry_t{static_cast<gex_AM_Index_t>(i), nullptr, 0, 0, nullptr, nullptr};
}

gex_AM_Entry_t untyped_entry(gex_AM_Index_t index, gex_AM_Fn_t fn) {
  return {index,    fn,      GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP,
          kAnyArgs, nullptr, nullptr};
}

int HandlerTable::register_handlers(gex_AM_Entry_t* table, size_t count) {
  if (table == nullptr && count != 0) {
    log_refusal("gex_EP_RegisterHandlers()",
                fmt::format("the table is NULL, but numentries is {}", count));
    return GASNET_ERR_BAD_ARG;
  }
  const std::string wrong = enter(table, count, typed_defect);
  if (wrong.empty()) return GASNET_OK;
  log_refusal("gex_EP_RegisterHandlers()", wrong);
  return GASNET_ERR_BAD_ARG;
}

std::string HandlerTable::register_untyped(gex_AM_Entry_t* table, size_t count) {
  return enter(table, count, untyped_defect);
}

std::string HandlerTable::enter(gex_AM_Entry_t* table, size_t count,
                                const char* (*defect)(const gex_AM_Entry_t&)) {
  const std::lock_guard lock(mutex_);
  auto draft = entries_;
  for (size_t i = 0; i < count; ++i) {
    if (const char* why = defect(table[i])) return about(table[i], why);
    if (table[i].gex_index == 0) continue;
    if (draft[table[i].gex_index].gex_fnptr != nullptr)
      return about(table[i], "a handler is already registered at this index");
    draft[table[i].gex_index] = table[i];
  }
  int next = 255;
  std::array<gex_AM_Index_t, 256> assigned{};
  for (size_t i = 0; i < count; ++i) {
    if (table[i].gex_index != 0) continue;
    while (next >= GEX_AM_INDEX_BASE && draft[static_cast<size_t>(next)].gex_fnptr != nullptr)
      --next;
    if (next < GEX_AM_INDEX_BASE) return about(table[i], "all 128 handler indices are taken");
    const auto index = static_cast<gex_AM_Index_t>(next);
    draft[index] = table[i];
    draft[index].gex_index = index;
    assigned[i] = index;
  }
  for (size_t i = 0; i < count; ++i) {
    if (table[i].gex_index == 0) table[i].gex_index = assigned[i];
    // Only slots that were empty are written: handlers in use may be running meanwhile.
    gex_AM_Entry_t& slot = entries_[table[i].gex_index];
    const gex_AM_Entry_t& entry = draft[table[i].gex_index];
    slot.gex_fnptr = entry.gex_fnptr;
    slot.gex_nargs = entry.gex_nargs;
    slot.gex_cdata = entry.gex_cdata;
    slot.gex_name = entry.gex_name;
    flags_of(slot).store(entry.gex_flags, std::memory_order_release);
  }
  return {};
}

constinit const HandlerCallers handler_callers =
    make_callers(std::make_index_sequence<kMaxHandlerArgs + 1>{});

}  // namespace causeway
