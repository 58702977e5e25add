// With `checks: full` every call leaves its arguments here first, so that whatever ends the job
// can say with what it was called. Without it a call tests one byte. Before gex_Client_Init() the
// byte is set too, and the call ends the job as one that came too early.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace causeway {

extern bool g_checks;  // base/context.h

struct CallArgument {
  uint64_t value;
  enum class Kind : uint8_t { number, negative, pointer } kind;
};

template <typename T>
CallArgument call_argument(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return {reinterpret_cast<uintptr_t>(value), CallArgument::Kind::pointer};
  } else {
    return {static_cast<uint64_t>(value),
            std::is_signed_v<T> ? CallArgument::Kind::negative : CallArgument::Kind::number};
  }
}

void record_call(const char* call, const char* names, std::initializer_list<CallArgument> arguments)
    __attribute__((cold, noinline));

// `call` as diagnoses name it, "gex_RMA_PutNB()"; `names` of the arguments in their order,
// "tm, rank, dest". Both are literals. Names that end in flags, mask, ops, opcode or dt are printed
// in hexadecimal.
template <typename... Arguments>
inline void note_call(const char* call, const char* names, Arguments... arguments) {
  if (__builtin_expect(g_checks, 0)) record_call(call, names, {call_argument(arguments)...});
}

// " (tm 0x55..., rank 2, ...)" of this thread's newest call of that name; "" if none is recent.
std::string noted_arguments(const char* call);

}  // namespace causeway
