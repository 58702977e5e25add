// Questions that this process has asked other ranks by messages of the core's own and that have no
// answer yet, by rank of the job: emulated puts, gets and atomics, memset, packed VIS transfers,
// staged transfers of device memory. A rank that has left answers none, and no operation that waits
// for it fails.
#pragma once

#include <cstdint>
#include <optional>

namespace causeway {

// A piece of an operation has been sent, and has been answered. Any thread. Two relaxed additions
// beside the two messages that each piece costs.
void note_question(uint32_t rank);
void note_answer(uint32_t rank);

// Where that rank owes answers: how many it has given.
std::optional<uint32_t> answers_while_owing(uint32_t rank);

// Writes a line of the log that names the first of those that owe answers, if any does. May be
// called in a handler of a signal.
void tell_unanswered();

}  // namespace causeway
