// A library of futures keeps handles as void* and casts, as handles of several runtimes go through
// its public interface. Compiled in every mode and C++ standard, with all warnings as errors.
// Would catch: a handle that is a pointer to const (reinterpret_cast takes no const away), one that
// is not the size of a pointer, one that two interfaces do not share.
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>

#include <cstdint>
#include <type_traits>

namespace {

template <class Handle>
struct Stored {
  static_assert(std::is_pointer<Handle>::value, "a handle is a pointer");
  static_assert(sizeof(Handle) == sizeof(void*), "of the usual size");
  static_assert(!std::is_const<typename std::remove_pointer<Handle>::type>::value, "not to const");

  void* slot;
  Handle get() const { return reinterpret_cast<Handle>(slot); }
  Handle again() const { return static_cast<Handle>(slot); }
  Handle* place() { return reinterpret_cast<Handle*>(&slot); }
  void set(Handle h) { slot = h; }
  std::uintptr_t number() const { return reinterpret_cast<std::uintptr_t>(get()); }
};

template <class Handle>
std::uintptr_t use(Stored<Handle>& stored, Handle* given, void** slots) {
  Handle* const table = reinterpret_cast<Handle*>(slots);
  stored.set(table[0]);
  *stored.place() = *given;
  void* const opaque = stored.again();
  slots[1] = *given;
  return stored.number() + reinterpret_cast<std::uintptr_t>(opaque);
}

}  // namespace

std::uintptr_t all(void** slots);
std::uintptr_t all(void** slots) {
  Stored<gex_Client_t> client{GEX_CLIENT_INVALID};
  Stored<gex_EP_t> ep{GEX_EP_INVALID};
  Stored<gex_TM_t> tm{GEX_TM_INVALID};
  Stored<gex_Segment_t> segment{GEX_SEGMENT_INVALID};
  Stored<gex_AD_t> ad{GEX_AD_INVALID};
  Stored<gex_MK_t> kind{GEX_MK_INVALID};
  Stored<gex_Event_t> event{GEX_EVENT_INVALID};
  Stored<gex_AM_SrcDesc_t> desc{GEX_AM_SRCDESC_NO_OP};
  Stored<gex_Token_t> token{nullptr};
  Stored<gasnet_handle_t> handle{GASNET_INVALID_HANDLE};
  Stored<gasnet_team_handle_t> team{GEX_TM_INVALID};
  gex_Client_Init(client.place(), ep.place(), tm.place(), "futures", nullptr, nullptr, 0);
  gex_Segment_Attach(segment.place(), tm.get(), 1 << 20);
  gex_TM_Split(reinterpret_cast<gex_TM_t*>(&slots[0]), tm.get(), 0, 0, nullptr, 0, 0);
  gex_AD_Create(ad.place(), tm.get(), GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
  event.set(gex_AD_OpNB_U64(ad.get(), nullptr, 0, slots, GEX_OP_SET, 1, 0, 0));
  gex_Event_Wait(event.get());
  gex_MK_Create_args_t args = {};
  gex_MK_Create(kind.place(), client.get(), &args, 0);
  return use(client, client.place(), slots) + use(ep, ep.place(), slots) +
         use(tm, tm.place(), slots) + use(segment, segment.place(), slots) +
         use(ad, ad.place(), slots) + use(kind, kind.place(), slots) +
         use(event, event.place(), slots) + use(desc, desc.place(), slots) +
         use(token, token.place(), slots) + use(handle, handle.place(), slots) +
         use(team, team.place(), slots);
}
