// HandlerTable: the active-message handlers of one endpoint. An unregistered slot has no flags, so
// the one test that delivery makes (is this category and direction allowed?) catches it too.
//
// Invariant: a slot is written once, under the mutex, its flags last with release. A polling thread
// reads the flags with acquire, and the rest only when the flags are not 0.
#pragma once

#include <gasnetex.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace causeway {

class HandlerTable {
 public:
  HandlerTable();

  // gex_EP_RegisterHandlers: fixed indices first, then don't-care entries in table order from
  // 255 down. GASNET_OK, or GASNET_ERR_BAD_ARG with one line printed and nothing registered.
  int register_handlers(gex_AM_Entry_t* table, size_t count);

  // The same for handlers that take what comes, as those of GASNet-1 do, in entries made by
  // untyped_entry(). Returns what is wrong with the table, or nothing.
  std::string register_untyped(gex_AM_Entry_t* table, size_t count);

  // Registration of an index happens before any message that names it, by the client's own
  // synchronisation (specification of gex_EP_RegisterHandlers); but that goes through other ranks,
  // and the message may come to another thread.
  const gex_AM_Entry_t& entry(uint8_t index) const { return entries_[index]; }
  gex_Flags_t flags(uint8_t index) {
    return flags_of(entries_[index]).load(std::memory_order_acquire);
  }

 private:
  static std::atomic_ref<gex_Flags_t> flags_of(gex_AM_Entry_t& entry) {
    return std::atomic_ref(entry.gex_flags);
  }
  std::string enter(gex_AM_Entry_t* table, size_t count,
                    const char* (*defect)(const gex_AM_Entry_t&));

  std::mutex mutex_;
  std::array<gex_AM_Entry_t, 256> entries_;
};

// A handler of which only index and function are known: any category, any number of arguments.
inline constexpr unsigned kAnyArgs = ~0u;
gex_AM_Entry_t untyped_entry(gex_AM_Index_t index, gex_AM_Fn_t fn);

// There is a function for each number of arguments, which ends in a jump to the handler.
inline constexpr size_t kMaxHandlerArgs = 16;
using ShortCaller = void (*)(gex_AM_Fn_t fn, gex_Token_t token, const int32_t* args);
using PayloadCaller = void (*)(gex_AM_Fn_t fn, gex_Token_t token, void* payload, size_t length,
                               const int32_t* args);
struct HandlerCallers {
  ShortCaller with_no_payload[kMaxHandlerArgs + 1];
  PayloadCaller with_payload[kMaxHandlerArgs + 1];
};
extern const HandlerCallers handler_callers;

// Calls a handler with `nargs` arguments, at most kMaxHandlerArgs: registration refuses handlers
// that take more. `payload`/`length` are passed to mediums and longs.
inline void call_short(gex_AM_Fn_t fn, gex_Token_t token, const int32_t* args, unsigned nargs) {
  handler_callers.with_no_payload[nargs](fn, token, args);
}
inline void call_payload(gex_AM_Fn_t fn, gex_Token_t token, void* payload, size_t length,
                         const int32_t* args, unsigned nargs) {
  handler_callers.with_payload[nargs](fn, token, payload, length, args);
}

}  // namespace causeway
