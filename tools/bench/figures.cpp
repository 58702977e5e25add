#include "figures.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cmath>

#include "command/json.h"

namespace causeway::bench {
namespace {

constexpr Target kNone{};
constexpr Target ratio(double max_ratio, double max_extra = 0) {
  return {max_ratio, max_extra, std::nullopt, std::nullopt};
}
constexpr Target at_least(double value) {
  return {std::nullopt, 0, value, std::nullopt};
}
constexpr Target at_most(double value) {
  return {std::nullopt, 0, std::nullopt, value};
}

constexpr Target kSmall = ratio(1.15, 0.5);
constexpr Target kBulk = ratio(1.02, 2);
constexpr Target kMode = ratio(1, 3);
constexpr Target kNetwork = ratio(1.08);
constexpr Target kNetworkBulk = ratio(1.031);  // 0.97 of the bandwidth

constexpr Target kBesideShort = ratio(1 / 1.5);
constexpr Target kBesideLong = ratio(1 / 1.3);
constexpr Target kAhead = ratio(1);
// Two ranks per core: a rank that waits for one that does not run has to wait for the scheduler,
// whose slices are of this length and less.
constexpr double kSliceMs = 4;
constexpr Target kSharedNs = ratio(3, kSliceMs * 1e6), kSharedUs = ratio(3, kSliceMs * 1e3);
constexpr Target kReductionBound = ratio(1 / 0.6);

constexpr Target kStagedPut = ratio(1 / 0.9);
constexpr Target kWithinDevice = ratio(1 / 0.95);

constexpr const char* kDevicePut =
    "blocking put from the host to the neighbor's device; raw: the driver copies page-locked "
    "memory "
    "(with --memkinds)";
constexpr const char* kDeviceGet =
    "blocking get from the neighbor's device to the host; raw: the driver copies to page-locked "
    "memory (with --memkinds)";
constexpr const char* kDeviceCopy =
    "blocking put from the device to the neighbor's memory of it; raw: the driver copies within it "
    "(with --memkinds)";

constexpr std::array kFigures{
    Figure{"put8.same", "ns", Launch::pair, kSmall, true, false,
           "blocking put of 8 bytes, always to one address; raw: a store"},
    Figure{"put8.array", "ns", Launch::pair, kSmall, true, false,
           "blocking put of 8 bytes from an array to the addresses of another; raw: load, store"},
    Figure{"put8.value", "ns", Launch::pair, kSmall, true, false,
           "put of a 64-bit value to the addresses of an array; raw: a store"},
    Figure{"put8.nb", "ns", Launch::pair, ratio(1, 1), true, false,
           "non-blocking put of 8 bytes and wait; raw: the blocking put"},
    Figure{"get8.same", "ns", Launch::pair, kSmall, true, false,
           "blocking get of 8 bytes, always from one address; raw: a load"},
    Figure{"get8.array", "ns", Launch::pair, kSmall, true, false,
           "blocking get of 8 bytes from the addresses of an array; raw: a load"},
    Figure{"get8.chain", "ns", Launch::pair, kSmall, true, false,
           "blocking gets of which each returns the next one's address; raw: loads"},
    Figure{"fadd8.same", "ns", Launch::pair, ratio(1.2), true, false,
           "fetch-add of 64 bits and wait, always on one address; raw: lock xadd"},
    Figure{"fadd8.array", "ns", Launch::pair, ratio(1.2), true, false,
           "fetch-add of 64 bits and wait, on the addresses of an array; raw: lock xadd"},
    Figure{"fadd8.unknown", "ns", Launch::pair, kNone, true, false,
           "the same on one address, with an opcode that the compiler does not know"},
    Figure{"put.4KiB", "ns", Launch::pair, kBulk, true, false, "blocking put; raw: memcpy"},
    Figure{"put.64KiB", "ns", Launch::pair, kBulk, true, false, "blocking put; raw: memcpy"},
    Figure{"put.1MiB", "ns", Launch::pair, kBulk, true, false, "blocking put; raw: memcpy"},
    Figure{"put.4MiB", "ns", Launch::pair, kBulk, true, false, "blocking put; raw: memcpy"},
    Figure{"get.4KiB", "ns", Launch::pair, kBulk, true, false, "blocking get; raw: memcpy"},
    Figure{"get.64KiB", "ns", Launch::pair, kBulk, true, false, "blocking get; raw: memcpy"},
    Figure{"get.1MiB", "ns", Launch::pair, kBulk, true, false, "blocking get; raw: memcpy"},
    Figure{"get.4MiB", "ns", Launch::pair, kBulk, true, false, "blocking get; raw: memcpy"},
    Figure{"strided.put.512x64", "ns", Launch::pair, ratio(1.3), true, false,
           "strided put of 512 elements of 64 bytes, gaps at both ends; raw: a copy loop"},
    Figure{"strided.get.512x64", "ns", Launch::pair, ratio(1.3), true, false,
           "strided get of 512 elements of 64 bytes, gaps at both ends; raw: a copy loop"},
    Figure{"strided.put.64x64x8", "ns", Launch::pair, kNone, true, false,
           "transposing put of 64 by 64 elements of 8 bytes; raw: two loops"},
    Figure{"indexed.put.512x8", "ns", Launch::pair, kNone, true, false,
           "indexed put of 512 elements of 8 bytes; raw: a loop over the addresses"},
    Figure{"am.short", "ns", Launch::pair, ratio(1.7), false, true,
           "short request and reply; raw: one cache line there and back"},
    Figure{"am.short.lines", "ns", Launch::pair, kNone, false, true,
           "the same; raw: a cache line each way, the least for messages in queues"},
    Figure{"am.medium.4KiB", "ns", Launch::pair, ratio(1.7), false, true,
           "medium request and reply of 4 KiB; raw: 4 KiB and a flag each way"},
    Figure{"am.negotiated.16KiB", "ns", Launch::pair, ratio(1), false, true,
           "medium of 16 KiB assembled in the library's buffer, one way; raw: assembled in one's "
           "own, then gex_AM_RequestMedium"},
    Figure{"am.flood", "M/s", Launch::pair, at_least(25), false, true,
           "short requests one way; raw: a ring of one-line messages"},
    Figure{"barrier", "ns", Launch::pair, kNone, false, true,
           "gex_Coll_BarrierNB over all ranks and wait; raw: a central counter"},
    Figure{"broadcast.8", "ns", Launch::pair, kNone, false, true,
           "gex_Coll_BroadcastNB of 8 bytes and wait, roots in turn; raw: a line per rank"},
    Figure{"allreduce.8", "ns", Launch::pair, kNone, false, true,
           "gex_Coll_ReduceToAllNB of one double and wait; raw: a line per rank"},
    Figure{"allreduce.64KiB", "us", Launch::pair, kNone, false, true,
           "sum of doubles in segments; raw: each rank adds up its part of mapped buffers"},
    Figure{"allreduce.1MiB", "us", Launch::pair, kNone, false, true,
           "sum of doubles in segments; raw: each rank adds up its part of mapped buffers"},
    Figure{"allreduce.8MiB", "us", Launch::pair, kNone, false, true,
           "sum of doubles in segments; raw: each rank adds up its part of mapped buffers"},
    Figure{"broadcast.8MiB", "us", Launch::pair, kNone, false, true,
           "gex_Coll_BroadcastNB in segments and wait; raw: a memcpy per receiver"},
    Figure{"par.put8", "ns", Launch::modes, kMode, false, false,
           "blocking put of 8 bytes in a GASNET_PAR program; raw: in a GASNET_SEQ one"},
    Figure{"par.put8.library", "ns", Launch::modes, kMode, false, false,
           "the same through a call that is not inlined; raw: GASNET_SEQ"},
    Figure{"par.am.self", "ns", Launch::modes, kMode, false, false,
           "short request of a rank to itself, handled at once; raw: GASNET_SEQ"},
    Figure{"par.poll", "ns", Launch::modes, kMode, false, false,
           "gasnet_AMPoll that finds nothing; raw: GASNET_SEQ"},
    Figure{"am.threads2", "x", Launch::threads, at_least(1.7), false, true,
           "short requests of two threads to two ranks, as a multiple of what one thread sends; "
           "raw: a ring each"},
    Figure{"am.threads2.one", "x", Launch::threads, kNone, false, true,
           "the same, both threads to one rank"},
    Figure{"gaspi.write_notify", "ns", Launch::gaspi, ratio(1.7), false, true,
           "gaspi_write_notify of 8 bytes there and back; raw: one cache line there and back"},
    Figure{"gaspi.write_notify.lines", "ns", Launch::gaspi, kNone, false, true,
           "the same; raw: a line of data and a line with the notification, taken by exchange"},
    Figure{"gaspi.write.1MiB", "ns", Launch::gaspi, ratio(1 / 0.97), false, true,
           "gaspi_write and gaspi_wait; raw: memcpy"},
    Figure{"gaspi.barrier", "ns", Launch::gaspi, kNone, false, true, "gaspi_barrier of two ranks"},
    Figure{"gaspi.allreduce.8", "ns", Launch::gaspi, kNone, false, true,
           "gaspi_allreduce of one double on two ranks"},
    Figure{"startup.4", "ms", Launch::startup, at_most(60), false, false,
           "gex_Client_Init and gex_Segment_Attach of 4 ranks, the slowest rank"},
    Figure{"memory.median", "MB", Launch::memory, at_most(24), false, false,
           "proportional set size of a rank beyond the segments, the median rank"},
    Figure{"memory.max", "MB", Launch::memory, at_most(24), false, false,
           "proportional set size of a rank beyond the segments, the largest rank"},
    Figure{"memory.uncontacted", "B", Launch::memory, at_most(2048), false, false,
           "what the core keeps for each rank that was never contacted"},
    Figure{"memory.connection", "B", Launch::memory, kNone, false, false,
           "a connection: the core's record and what the conduit took from the heap"},
    Figure{"instr.put8", "instr", Launch::instructions, kNone, true, false,
           "instructions of a blocking put of 8 bytes; raw: of a store (with --instructions)"},
    Figure{"instr.get8", "instr", Launch::instructions, kNone, true, false,
           "instructions of a blocking get of 8 bytes; raw: of a load (with --instructions)"},
    Figure{"instr.fadd8", "instr", Launch::instructions, kNone, true, false,
           "instructions of a fetch-add of 64 bits; raw: of a lock xadd (with --instructions)"},
    Figure{"instr.am.send", "instr", Launch::instructions, kNone, false, false,
           "instructions to send a short request (with --instructions)"},
    Figure{"instr.am.poll", "instr", Launch::instructions, kNone, false, false,
           "instructions of a gasnet_AMPoll that finds nothing (with --instructions)"},
    Figure{"instr.am.handle", "instr", Launch::instructions, kNone, false, false,
           "instructions to receive a short request and run its handler (with --instructions)"},
    Figure{"net.put8", "ns", Launch::network, kNetwork, false, true,
           "blocking put of 8 bytes; raw: the same until it is visible (with --network)"},
    Figure{"net.get8", "ns", Launch::network, kNetwork, false, true,
           "blocking get of 8 bytes (with --network)"},
    Figure{"net.am.short", "ns", Launch::network, kNetwork, false, true,
           "short request and reply; raw: two messages of its frame's size (with --network)"},
    Figure{"net.am.socket", "ns", Launch::network, ratio(1.35), false, true,
           "short request and reply; raw: two kernel sockets (with --network, over TCP)"},
    Figure{
        "net.am.socket.bare", "ns", Launch::network, kNone, false, true,
        "the raw loop of net.am.short; raw: two kernel sockets: what the network's library leaves "
        "(with --network, over TCP)"},
    Figure{"net.put.4KiB", "ns", Launch::network, kNetwork, false, true,
           "blocking put of 4 KiB (with --network)"},
    Figure{"net.get.4KiB", "ns", Launch::network, kNetwork, false, true,
           "blocking get of 4 KiB (with --network)"},
    Figure{"net.put.1MiB", "us", Launch::network, kNetworkBulk, false, true,
           "puts of 1 MiB, 8 at once (with --network)"},
    Figure{"net.get.1MiB", "us", Launch::network, kNetworkBulk, false, true,
           "gets of 1 MiB, 8 at once (with --network)"},
    Figure{"net.put.4MiB", "us", Launch::network, kNetworkBulk, false, true,
           "puts of 4 MiB, 4 at once (with --network)"},
    Figure{"net.get.4MiB", "us", Launch::network, kNetworkBulk, false, true,
           "gets of 4 MiB, 4 at once (with --network)"},
    Figure{"net.flood8", "ns", Launch::network, ratio(1.10), false, true,
           "puts of 8 bytes, 256 at once (with --network)"},
    Figure{"net.gaspi.write_notify", "ns", Launch::network, ratio(1.10), false, true,
           "gaspi_write_notify of 8 bytes there and back; raw: a message (with --network)"},
    Figure{"net.gaspi.write.1MiB", "us", Launch::network, ratio(1 / 0.97), false, true,
           "gaspi_write of 1 MiB, 8 at once; raw: puts (with --network)"},
    Figure{"openmpi.barrier", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.broadcast.8", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.allreduce.8", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.allreduce.64KiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.allreduce.1MiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.allreduce.8MiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"openmpi.broadcast.8MiB", "us", Launch::collectives, kNone, false, true,
           "raw: the same by Open MPI (with --collectives)"},
    Figure{"mpich.barrier", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.broadcast.8", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.allreduce.8", "ns", Launch::collectives, kBesideShort, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.allreduce.64KiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.allreduce.1MiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.allreduce.8MiB", "us", Launch::collectives, kBesideLong, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"mpich.broadcast.8MiB", "us", Launch::collectives, kNone, false, true,
           "raw: the same by MPICH (with --collectives)"},
    Figure{"openmpi.tcp.barrier", "ns", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.broadcast.8", "ns", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.allreduce.8", "ns", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.allreduce.64KiB", "us", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.allreduce.1MiB", "us", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.allreduce.8MiB", "us", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.tcp.broadcast.8MiB", "us", Launch::collectives, kAhead, false, true,
           "raw: the same by Open MPI, both over TCP (with --collectives tcp)"},
    Figure{"openmpi.put8", "ns", Launch::one_sided, kAhead, false, true,
           "put of 8 bytes until it is there; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.get8", "ns", Launch::one_sided, kAhead, false, true,
           "get of 8 bytes; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.fetch_add8", "ns", Launch::one_sided, kAhead, false, true,
           "fetch-add of 64 bits; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.put.4KiB", "ns", Launch::one_sided, kAhead, false, true,
           "put of 4 KiB until it is there; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.get.4KiB", "ns", Launch::one_sided, kAhead, false, true,
           "get of 4 KiB; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.put.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "put of 1 MiB, 8 at once; raw: the same by Open MPI (with --one-sided)"},
    Figure{"openmpi.get.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "get of 1 MiB, 8 at once; raw: the same by Open MPI (with --one-sided)"},
    Figure{"mpich.put8", "ns", Launch::one_sided, kAhead, false, true,
           "put of 8 bytes until it is there; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.get8", "ns", Launch::one_sided, kAhead, false, true,
           "get of 8 bytes; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.fetch_add8", "ns", Launch::one_sided, kAhead, false, true,
           "fetch-add of 64 bits; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.put.4KiB", "ns", Launch::one_sided, kAhead, false, true,
           "put of 4 KiB until it is there; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.get.4KiB", "ns", Launch::one_sided, kAhead, false, true,
           "get of 4 KiB; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.put.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "put of 1 MiB, 8 at once; raw: the same by MPICH (with --one-sided)"},
    Figure{"mpich.get.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "get of 1 MiB, 8 at once; raw: the same by MPICH (with --one-sided)"},
    Figure{"oshmem.put8", "ns", Launch::one_sided, kAhead, false, true,
           "put of 8 bytes until it is there; raw: the same by Open MPI's OpenSHMEM (with "
           "--one-sided)"},
    Figure{"oshmem.get8", "ns", Launch::one_sided, kAhead, false, true,
           "get of 8 bytes; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{"oshmem.fetch_add8", "ns", Launch::one_sided, kAhead, false, true,
           "fetch-add of 64 bits; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{
        "oshmem.put.4KiB", "ns", Launch::one_sided, kAhead, false, true,
        "put of 4 KiB until it is there; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{"oshmem.get.4KiB", "ns", Launch::one_sided, kAhead, false, true,
           "get of 4 KiB; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{"oshmem.put.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "put of 1 MiB, 8 at once; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{"oshmem.get.1MiB", "us", Launch::one_sided, kAhead, false, true,
           "get of 1 MiB, 8 at once; raw: the same by Open MPI's OpenSHMEM (with --one-sided)"},
    Figure{"bound.allreduce.64KiB", "us", Launch::collectives, kReductionBound, true, true,
           "raw: all ranks copy as many bytes at once, and a barrier (with --collectives)"},
    Figure{"bound.allreduce.1MiB", "us", Launch::collectives, kReductionBound, true, true,
           "raw: all ranks copy as many bytes at once, and a barrier (with --collectives)"},
    Figure{"bound.allreduce.8MiB", "us", Launch::collectives, kReductionBound, true, true,
           "raw: all ranks copy as many bytes at once, and a barrier (with --collectives)"},
    Figure{"bound.broadcast.8MiB", "us", Launch::collectives, ratio(1.2), true, true,
           "raw: all receivers copy the root's memory at once, and a barrier (with --collectives)"},
    Figure{"bound.heap.broadcast.8MiB", "us", Launch::collectives, ratio(1.2), true, true,
           "out of memory of the heap; raw: the kernel copies it for all receivers at once, and a "
           "barrier (with --collectives)"},
    Figure{"two_copies.heap.broadcast.8MiB", "us", Launch::collectives, kNone, false, true,
           "where the kernel must not copy between processes; raw: where it does (with "
           "--collectives)"},
    Figure{"shared_cores.barrier", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.broadcast.8", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.allreduce.8", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.allreduce.64KiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.allreduce.1MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.allreduce.8MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"shared_cores.broadcast.8MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: a core for each (with --collectives)"},
    Figure{"twice_the_ranks.barrier", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.broadcast.8", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.allreduce.8", "ns", Launch::collectives, kSharedNs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.allreduce.64KiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.allreduce.1MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.allreduce.8MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"twice_the_ranks.broadcast.8MiB", "us", Launch::collectives, kSharedUs, false, true,
           "two ranks per core; raw: half as many ranks, a core for each (with --collectives)"},
    Figure{"sockets.allreduce.64KiB", "us", Launch::collectives, kNone, false, true,
           "raw: a ring of bare sockets, combined as it comes (with --collectives tcp)"},
    Figure{"sockets.allreduce.1MiB", "us", Launch::collectives, kNone, false, true,
           "raw: a ring of bare sockets, combined as it comes (with --collectives tcp)"},
    Figure{"sockets.allreduce.8MiB", "us", Launch::collectives, kNone, false, true,
           "raw: a ring of bare sockets, combined as it comes (with --collectives tcp)"},
    Figure{"mk.put.8", "us", Launch::memkinds, kNone, false, false, kDevicePut},
    Figure{"mk.get.8", "us", Launch::memkinds, kNone, false, false, kDeviceGet},
    Figure{"mk.d2d.8", "us", Launch::memkinds, kNone, false, false, kDeviceCopy},
    Figure{"mk.put.4KiB", "us", Launch::memkinds, kNone, false, false, kDevicePut},
    Figure{"mk.get.4KiB", "us", Launch::memkinds, kNone, false, false, kDeviceGet},
    Figure{"mk.d2d.4KiB", "us", Launch::memkinds, kNone, false, false, kDeviceCopy},
    Figure{"mk.put.1MiB", "us", Launch::memkinds, kNone, false, false, kDevicePut},
    Figure{"mk.get.1MiB", "us", Launch::memkinds, kNone, false, false, kDeviceGet},
    Figure{"mk.d2d.1MiB", "us", Launch::memkinds, kNone, false, false, kDeviceCopy},
    Figure{"mk.put.64MiB", "us", Launch::memkinds, kNone, false, false, kDevicePut},
    Figure{"mk.get.64MiB", "us", Launch::memkinds, kNone, false, false, kDeviceGet},
    Figure{"mk.d2d.64MiB", "us", Launch::memkinds, kWithinDevice, false, false, kDeviceCopy},
    Figure{"mk.put.256MiB", "us", Launch::memkinds, kNone, false, false, kDevicePut},
    Figure{"mk.get.256MiB", "us", Launch::memkinds, kNone, false, false, kDeviceGet},
    Figure{"mk.d2d.256MiB", "us", Launch::memkinds, kWithinDevice, false, false, kDeviceCopy},
    Figure{"mk.staged.put.8", "us", Launch::staged, kNone, false, true, kDevicePut},
    Figure{"mk.staged.get.8", "us", Launch::staged, kNone, false, true, kDeviceGet},
    Figure{"mk.staged.d2d.8", "us", Launch::staged, kNone, false, true, kDeviceCopy},
    Figure{"mk.staged.put.4KiB", "us", Launch::staged, kNone, false, true, kDevicePut},
    Figure{"mk.staged.get.4KiB", "us", Launch::staged, kNone, false, true, kDeviceGet},
    Figure{"mk.staged.d2d.4KiB", "us", Launch::staged, kNone, false, true, kDeviceCopy},
    Figure{"mk.staged.put.1MiB", "us", Launch::staged, kNone, false, true, kDevicePut},
    Figure{"mk.staged.get.1MiB", "us", Launch::staged, kNone, false, true, kDeviceGet},
    Figure{"mk.staged.d2d.1MiB", "us", Launch::staged, kNone, false, true, kDeviceCopy},
    Figure{"mk.staged.put.64MiB", "us", Launch::staged, kStagedPut, false, true, kDevicePut},
    Figure{"mk.staged.get.64MiB", "us", Launch::staged, kNone, false, true, kDeviceGet},
    Figure{"mk.staged.d2d.64MiB", "us", Launch::staged, kNone, false, true, kDeviceCopy},
    Figure{"mk.staged.put.256MiB", "us", Launch::staged, kNone, false, true, kDevicePut},
    Figure{"mk.staged.get.256MiB", "us", Launch::staged, kNone, false, true, kDeviceGet},
    Figure{"mk.staged.d2d.256MiB", "us", Launch::staged, kNone, false, true, kDeviceCopy},
};

double raw_or_nan(const Measured& measured) {
  return measured.raw.value_or(std::nan(""));
}

}  // namespace

std::span<const Figure> catalogue() {
  return kFigures;
}

const Figure* find_figure(std::string_view name) {
  for (const Figure& figure : kFigures)
    if (name == figure.name) return &figure;
  return nullptr;
}

std::optional<bool> judge(const Figure& figure, const Measured& measured, bool oversubscribed) {
  const Target& target = figure.target;
  if (!target.max_ratio && !target.min_value && !target.max_value) return std::nullopt;
  if (figure.direct_only && measured.path != "direct") return std::nullopt;
  if (figure.needs_cores && oversubscribed) return std::nullopt;
  if (target.min_value) return measured.ours >= *target.min_value;
  if (target.max_value) return measured.ours <= *target.max_value;
  if (!measured.raw) return std::nullopt;
  const double raw = raw_or_nan(measured);
  return measured.ours <= *target.max_ratio * raw || measured.ours - raw <= target.max_extra;
}

std::string target_text(const Figure& figure) {
  const Target& target = figure.target;
  if (target.min_value) return fmt::format(">= {:g}", *target.min_value);
  if (target.max_value) return fmt::format("<= {:g}", *target.max_value);
  if (!target.max_ratio) return "-";
  if (target.max_extra == 0) return fmt::format("<= {:.3g}x", *target.max_ratio);
  return fmt::format("<= {:g}x or +{:g}", *target.max_ratio, target.max_extra);
}

std::string to_record(const Measured& measured) {
  return fmt::format(R"({{"figure": {}, "ours": {:.9g}, "raw": {}, "path": {}, "note": {}}})",
                     command::json_text(measured.name), measured.ours,
                     measured.raw ? fmt::format("{:.9g}", *measured.raw) : "null",
                     command::json_text(measured.path), command::json_text(measured.note));
}

std::optional<Measured> from_record(const std::string& line) {
  if (line.rfind(R"({"figure": )", 0) != 0) return std::nullopt;
  try {
    const YAML::Node node = YAML::Load(line);  // JSON is YAML
    Measured measured;
    measured.name = node["figure"].as<std::string>();
    measured.ours = node["ours"].as<double>();
    if (!node["raw"].IsNull()) measured.raw = node["raw"].as<double>();
    measured.path = node["path"].as<std::string>();
    measured.note = node["note"].as<std::string>();
    return measured;
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
}

}  // namespace causeway::bench
