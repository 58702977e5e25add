#include "guide.h"

#include <fmt/format.h>
#include <fnmatch.h>

namespace causeway::conformance {
namespace {

// Texts are named as they are installed, in share/doc/causeway.
struct Paragraph {
  const char* cases;  // glob; the first that matches holds
  const char* text;
  const char* look_at;
};
#define CONDUIT "conduit-api.md, section "  // so that texts are constants
constexpr const char* ops_and_life = CONDUIT "5 (objects and their life)";
constexpr const char* cold = CONDUIT "6 (cold calls)";
constexpr const char* memory = CONDUIT "7 (memory and rkeys)";
constexpr const char* hot = CONDUIT "8 (hot operations)";
constexpr const char* messages = CONDUIT "9 (active messages and lanes)";
constexpr const char* progress = CONDUIT "10 (progress and sleeping)";
constexpr const char* peers = CONDUIT "11 (peers, epochs, failure)";
constexpr Paragraph paragraphs[] = {
    {"Module.tables", CONDUIT "3 (versions)", "the tables that init points to, CWY_HEAD"},
    {"Module.*_own_size", CONDUIT "3 (versions)", "struct_size of what the core hands over"},
    {"Module.errors_*", CONDUIT "4 (rules for every call, Text)", "every write to a cwy_err"},
    {"Module.*device*", cold, "list_devices and domain_open"},
    {"Module.reaches_somebody", cold, "domain_open, ep_open and reach"},
    {"Module.unreachable*", cold, "reach"},
    {"Module.addresses_fit", cold, "ep_address, wiring, and *len of both"},
    {"Module.keys_fit", memory, "rkey_pack and its *len"},
    {"Module.foreign_rkey_refused", memory, "rkey_open"},
    {"Module.too_*", messages, "the checks at the head of am_short and am_medium"},
    {"Module.statistics", cold, "ep_stats and ep_traffic"},
    {"Module.class*", cold, "class_query, class_of, and table that connect sets"},
    {"Module.*", cold, "ep_query"},
    {"Address.wiring*", CONDUIT "6.3 (an address for each peer)", "wiring, and connect"},
    {"Address.*", memory, "key_wish of mem_reg, rkey_pack and rkey_open"},
    {"Cycles.cancels*", messages, "what am_prepare takes and am_cancel gives back"},
    {"Cycles.rkey*", memory, "rkey_open and rkey_close"},
    {"Cycles.peers", peers, "records of peers that are disconnected, purged or replaced"},
    {"Cycles.connections*", ops_and_life, "what disconnect frees"},
    {"Cycles.mem*", memory, "mem_alloc, mem_reg and mem_release"},
    {"Cycles.*", ops_and_life, "what ep_close and domain_close free"},
    {"Am.*_copied_*", CONDUIT "8 (hot operations, Flags, SRC_VOLATILE)",
     "uses of an op that may be NULL, and answers other than OK and RETRY"},
    {"Am.*sender*", messages, "from, the second argument of deliver"},
    {"Am.nested*", messages, "buffers of messages that progress reuses inside deliver"},
    {"Am.long*", messages, "am_long"},
    {"Am.prepare*", messages, "am_prepare, am_commit and am_cancel"},
    {"Am.medium_kept*", messages, "am_retain, am_release, and when a receive buffer is used again"},
    {"Am.medium_placed*", messages, "place, and what is done with the address that it answers"},
    {"Am.medium*", messages, "am_medium, and the payload that deliver gets"},
    {"Am.*", messages, "am_short"},
    {"Atomic.*", hot, "atomic, and atomic_ops of ep_query"},
    {"Endpoint.*", ops_and_life, "state that belongs to an endpoint, connect and disconnect"},
    {"Threads.*", CONDUIT "8 (hot operations, Concurrency)",
     "concurrency of the tables, ep_threads"},
    {"Flow.lost_*", CONDUIT "2 (the manifest, inject_loss)", "the timer of retransmissions"},
    {"Flow.hints*", CONDUIT "8 (hot operations, Flags)", "uses of the upper 16 bits of flags"},
    {"Flow.*reply*", CONDUIT "9 (active messages and lanes, Two lanes)",
     "queues and credits of the two lanes"},
    {"Flow.*progress*", progress, "progress"},
    {"Flow.*", CONDUIT "8 (hot operations, Back-pressure)", "queues that fill and wrap, RETRY"},
    {"Failure.*device*", CONDUIT "6.2 (devices and credentials)", "services->device_state"},
    {"Failure.*epoch*", peers, "what is done with the epoch of who sends"},
    {"Failure.*report*", peers, "services->peer_state"},
    {"Failure.*", peers, "purge, and what a dead peer leaves pending"},
    {"Stage.*disconnect*", peers, "disconnect, and messages that are not acknowledged"},
    {"Stage.leaves*", peers, "ep_close, and messages that are not acknowledged"},
    {"Stage.memory*", ops_and_life, "registrations of a domain with several endpoints"},
    {"Stage.*", peers, "connect, purge and disconnect"},
    {"Rma.released*", memory, "mem_release"},
    {"Rma.*key*", memory, "rkey_open, and what the owner's side asks of a key"},
    {"Rma.*vector", hot, "putv and getv"},
    {"Rma.op_*", CONDUIT "8 (hot operations, Completion)", "writes to a cwyc_op behind op->fn"},
    {"Rma.direct*", memory, "rkey_direct"},
    {"Rma.*register*", memory, "mem_reg, and lmem of put and get"},
    {"Rma.*", hot, "put, get and their completions"},
    {"Switch.*", hot, "lengths at which one way of sending gives way to another"},
    {"Wait.*nap*", progress, "nap"},
    {"Wait.*", progress, "wait_fd and arm"},
    {"Counter.*", CONDUIT "15 (outside of the freeze)",
     "the table that cwyx_conduit_lookup answers"},
    {"Immediate.*", CONDUIT "15 (outside of the freeze)",
     "the table that cwyx_conduit_lookup answers"},
    {"Memkind.*_own_size", "memkind-api.md, Structures", "query and export_mem"},
    {"Memkind.facts", "memkind-api.md, Devices", "query"},
    {"Memkind.*device*", "memkind-api.md, Devices", "list_devices and create"},
    {"Memkind.copies", "memkind-api.md, Copies", "copy and progress"},
    {"Memkind.*import*", "memkind-api.md, Memory", "what import_mem asks of a handle"},
    {"Memkind.*", "memkind-api.md, Memory", "alloc, release, who_owns, export_mem, push and pop"},
    {"Collective.facts", "collective-api.md, Choosing", "the members of each candidate"},
    {"Collective.scores*", "collective-api.md, Choosing", "score"},
    {"Collective.*", "collective-api.md, Running", "start and step"},
};
#undef CONDUIT

}  // namespace

std::string guide(const std::string& case_name) {
  for (const Paragraph& p : paragraphs) {
    if (fnmatch(p.cases, case_name.c_str(), 0) != 0) continue;
    return fmt::format("    read:    {}\n    look at: {}\n", p.text, p.look_at);
  }
  return "";
}

}  // namespace causeway::conformance
