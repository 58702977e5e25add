// What the host has: sockets, which the calling thread is bound to, and handlers of signals.
#pragma once

#include <cstdint>

namespace causeway::gaspi {

// Refuses a GASPI_BIND in the environment that is not empty, "none" or "socket".
void check_binding();

// With GASPI_BIND=socket: binds the calling thread, and with it those that it makes from now on, to
// the processors of one socket, of those that it may use. The ranks of a host sit on its sockets in
// blocks.
void bind_as_asked(uint32_t local_rank, uint32_t local_num);

// The block that rank `rank` of `ranks` is in, of `blocks`.
uint32_t block_of(uint32_t rank, uint32_t ranks, uint32_t blocks);

// The launcher ends ranks with SIGQUIT, of which the runtimes of Fortran compilers write a
// backtrace, each rank its own: nothing is wrong there. A handler of the program's stays.
void end_without_backtrace();

}  // namespace causeway::gaspi
