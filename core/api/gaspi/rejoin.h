// A spare that takes the place of a lost rank (GASPI 17.1, 5.3.1 and 6.1).
//
// The launcher tells everybody. A process that was there before fetches the new card, and in a poll
// takes the new process in: the peer is renewed, the state vector says healthy, and a *welcome*
// goes to it. The new process has every card from its start, but messages to a process that does
// not know it yet are dropped there; so its control messages wait for that process's welcome, and
// gaspi_proc_init() for all of them. Welcomes also carry the mechanism of atomics, which was agreed
// on before. Two replacements that start together learn of each other in any order: whoever gets a
// welcome that wants an answer welcomes back.
#pragma once

#include <cstdint>
#include <string>

#include "api/gaspi/control.h"
#include "connection/job.h"

namespace causeway::gaspi {

struct World;

// From any context, by Runtime::attend: the rank has a new process, whose card is to be fetched.
void replace_rank(uint32_t rank, uint32_t epoch);
// From client context, under changes_mutex, after the old process has been forgotten.
void take_in(World& world, uint32_t rank, Card card);

// In a replacement, before its atomics are known: makes nobody reached but itself.
void begin_as_replacement(World& world);
// Then: waits until every other rank has welcomed this process or is lost, and settles the
// mechanism of atomics. Throws Error.
void join_running_job(World& world);

void on_welcome(World& world, uint32_t from, const Header& header, const std::string& text);

}  // namespace causeway::gaspi
