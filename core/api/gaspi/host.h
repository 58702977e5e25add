// The calling thread and the sockets of its host.
#pragma once

#include <GASPI.h>

#include <cstdint>

namespace causeway::gaspi {

// GASPI_SUCCESS where GASPI_BIND in the environment is empty, "none" or "socket"; else
// GASPI_ERR_ENV, with one line.
gaspi_return_t check_binding();

// With GASPI_BIND=socket: binds the calling thread, and with it those that it makes from now on, to
// the processors of one socket, of those that it may use. The ranks of a host sit on its sockets in
// blocks.
void bind_as_asked(uint32_t local_rank, uint32_t local_num);

// The block that rank `rank` of `ranks` is in, of `blocks`.
uint32_t block_of(uint32_t rank, uint32_t ranks, uint32_t blocks);

}  // namespace causeway::gaspi
