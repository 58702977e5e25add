#include "base/call_arguments.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/handles.h"

namespace causeway {
namespace {

constexpr size_t kMostArguments = 12;

struct NotedCall {
  const char* call = nullptr;
  const char* names = nullptr;
  size_t count = 0;
  std::array<CallArgument, kMostArguments> arguments;
};

// The newest calls of this thread. A call is not taken out when it returns: a diagnosis looks for
// the newest one of its own name, which it is inside of. Handlers call while a call is under way,
// hence several.
constexpr size_t kKept = 8;
struct NotedCalls {
  std::array<NotedCall, kKept> calls;
  size_t next = 0;
};

// On the heap, and only in threads that note calls: a program that loads the library after its
// start finds little room for thread-locals, and all of the library's share one block.
thread_local constinit NotedCalls* t_noted = nullptr;

// Runs when a thread exits. A call that comes later still, from another such function, notes anew.
void forget_calls(void* noted) {
  t_noted = nullptr;
  delete static_cast<NotedCalls*>(noted);
}

NotedCalls& calls_of_this_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    ::pthread_key_create(&k, forget_calls);
    return k;
  }();
  if (t_noted == nullptr) {
    t_noted = new NotedCalls;
    ::pthread_setspecific(key, t_noted);
  }
  return *t_noted;
}

bool is_bits(std::string_view name) {
  for (const std::string_view end : {"flags", "mask", "ops", "opcode", "dt"})
    if (name.ends_with(end)) return true;
  return false;
}

std::string value_text(std::string_view name, const CallArgument& a) {
  if (a.kind == CallArgument::Kind::pointer)
    return a.value == 0 ? "NULL" : fmt::format("{:#x}", a.value);
  if (is_bits(name)) return fmt::format("{:#x}", a.value);
  if (a.kind == CallArgument::Kind::negative)
    return fmt::format("{}", static_cast<int64_t>(a.value));
  return fmt::format("{}", a.value);
}

// "gex_Event_*()" is what diagnoses say that do not know which of these calls they serve.
bool is_meant(const char* noted, const char* call) {
  constexpr std::string_view kAnyEvent = "gex_Event_*()";
  if (call == kAnyEvent) return std::strncmp(noted, call, kAnyEvent.find('*')) == 0;
  return std::strcmp(noted, call) == 0;
}

}  // namespace

void record_call(const char* call, const char* names,
                 std::initializer_list<CallArgument> arguments) {
  check_started(call);
  NotedCalls& noted = calls_of_this_thread();
  NotedCall& slot = noted.calls[noted.next++ % kKept];
  slot.call = call;
  slot.names = names;
  slot.count = std::min(arguments.size(), kMostArguments);
  std::copy_n(arguments.begin(), slot.count, slot.arguments.begin());
}

std::string noted_arguments(const char* call) {
  const NotedCalls* const noted = t_noted;
  if (noted == nullptr) return {};
  for (size_t back = 1; back <= kKept && back <= noted->next; ++back) {
    const NotedCall& slot = noted->calls[(noted->next - back) % kKept];
    if (!is_meant(slot.call, call)) continue;
    std::string text = std::strcmp(slot.call, call) != 0 ? fmt::format(", here {}", slot.call) : "";
    std::string_view names = slot.names;
    for (size_t i = 0; i < slot.count; ++i) {
      const std::string_view name = names.substr(0, names.find(','));
      names.remove_prefix(std::min(names.size(), name.size() + 2));
      text +=
          fmt::format("{}{} {}", i == 0 ? " (" : ", ", name, value_text(name, slot.arguments[i]));
    }
    return text.empty() ? text : text + ")";
  }
  return {};
}

}  // namespace causeway
