#include "loader/stubs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "loader/one_line.h"

namespace causeway {
namespace {

// A C function pointer has no room for a name, so each plugin gets a set of stubs of its own.
// Plugins beyond the last set share it, and are not named.
constexpr size_t kSlots = 32;
constexpr size_t kSharedSlot = kSlots - 1;
std::array<std::string, kSlots> g_who;
size_t g_used = 0;
std::mutex g_stubs_lock;

size_t slot_of(const std::string& who) {
  const std::lock_guard<std::mutex> guard(g_stubs_lock);
  const auto end = g_who.begin() + static_cast<std::ptrdiff_t>(g_used);
  const auto found = std::find(g_who.begin(), end, who);
  if (found != end) return static_cast<size_t>(found - g_who.begin());
  if (g_used == kSharedSlot) {
    g_who[kSharedSlot] = "this plugin";
    return kSharedSlot;
  }
  // A slot is written once, before any stub that reads it exists.
  g_who[g_used] = who;
  return g_used++;
}

// A member's name as a template argument.
template <size_t N>
struct Word {
  char text[N]{};
  constexpr Word(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT: literal
};

template <typename T>
cwy_err* as_err(T) {
  return nullptr;
}
cwy_err* as_err(cwy_err* err) {
  return err;
}

// Not within the stubs, which are hundreds. Some have no cwy_err and are called before each sleep.
void write_lack(cwy_err* err, const std::string& who, const char* member) {
  if (err != nullptr)
    write_error(err, CWY_ERR_UNSUPPORTED, fmt::format("{} has no {}", who, member));
}

// A stub that answers CWY_ERR_UNSUPPORTED, with text if the call has a cwy_err.
template <size_t Slot, Word Member, typename... Args>
cwy_status refuse(Args... args) {
  cwy_err* err = nullptr;
  ((err = as_err(args) != nullptr ? as_err(args) : err), ...);
  write_lack(err, g_who[Slot], Member.text);
  return CWY_ERR_UNSUPPORTED;
}

template <size_t Slot, Word Member, typename... Args>
void refuse_if_missing(cwy_status (*&entry)(Args...)) {
  if (entry == nullptr) entry = &refuse<Slot, Member, Args...>;
}

// A stub for what may be left out because there is nothing to do.
template <typename Result, typename... Args>
void succeed_if_missing(Result (*&entry)(Args...)) {
  if (entry == nullptr) entry = [](Args...) -> Result { return Result(); };
}

template <size_t Slot>
struct Stubs {
  static void fill(cwyc_module& module) {
    refuse_if_missing<Slot, "list_devices">(module.list_devices);
    refuse_if_missing<Slot, "mem_alloc">(module.mem_alloc);
    refuse_if_missing<Slot, "mem_reg">(module.mem_reg);
    refuse_if_missing<Slot, "rkey_pack">(module.rkey_pack);
    refuse_if_missing<Slot, "rkey_open">(module.rkey_open);
    refuse_if_missing<Slot, "rkey_direct">(module.rkey_direct);
    refuse_if_missing<Slot, "wait_fd">(module.wait_fd);
    refuse_if_missing<Slot, "arm">(module.arm);
    refuse_if_missing<Slot, "wiring">(module.wiring);
    refuse_if_missing<Slot, "am_retain">(module.am_retain);
  }
  static void fill(cwym_module& module) {
    refuse_if_missing<Slot, "alloc">(module.alloc);
    refuse_if_missing<Slot, "release">(module.release);
    refuse_if_missing<Slot, "export_mem">(module.export_mem);
    refuse_if_missing<Slot, "import_mem">(module.import_mem);
    refuse_if_missing<Slot, "pin_host">(module.pin_host);
    refuse_if_missing<Slot, "unpin_host">(module.unpin_host);
  }
};

template <typename Module, size_t... Slots>
void fill_by_slot(Module& module, size_t slot, std::index_sequence<Slots...>) {
  using Filler = void (*)(Module&);
  static constexpr Filler fillers[] = {&Stubs<Slots>::fill...};
  fillers[slot](module);
}

}  // namespace

void fill_missing(cwyc_module& module, const std::string& who) {
  fill_by_slot(module, slot_of(who), std::make_index_sequence<kSlots>());
  succeed_if_missing(module.ep_threads);  // an endpoint that does not care who enters
  succeed_if_missing(module.mem_release);
  succeed_if_missing(module.rkey_close);
  succeed_if_missing(module.am_release);
  succeed_if_missing(module.ep_stats);
  succeed_if_missing(module.ep_traffic);
  succeed_if_missing(module.fini);
  const auto sleep = [](cwyc_ep*, uint64_t max_ns) {  // the whole time: nobody can end it early
    std::this_thread::sleep_for(std::chrono::nanoseconds(max_ns));
  };
  if (module.nap == nullptr) module.nap = sleep;
}

void fill_missing(cwym_module& module, const std::string& who) {
  fill_by_slot(module, slot_of(who), std::make_index_sequence<kSlots>());
  succeed_if_missing(module.import_close);
  succeed_if_missing(module.progress);  // nothing is ever pending
  succeed_if_missing(module.push);      // no notion of a current device
  succeed_if_missing(module.pop);
  succeed_if_missing(module.flush);  // coherent with the network
  succeed_if_missing(module.fini);
}

void fill_missing(cwyl_module& module, const std::string&) {
  succeed_if_missing(module.fini);
}

void fill_missing(cwyl_candidate& candidate) {
  succeed_if_missing(candidate.score);
}

}  // namespace causeway
