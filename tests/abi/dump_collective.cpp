// Layout of causeway/collective.h. A structure, member or constant added there is added here.
#include <causeway/collective.h>

#include "dump.h"

namespace causeway::abi {
namespace {

void dump_cwyl_team_info() {
  ABI_STRUCT(cwyl_team_info);
  ABI_MEMBER(head);
  ABI_MEMBER(size);
  ABI_MEMBER(rank);
  ABI_MEMBER(nbrhd_count);
  ABI_MEMBER(nbrhd_index);
  ABI_MEMBER(nbrhd_of);
  ABI_MEMBER(nbrhd_size);
  ABI_MEMBER(nbrhd_rank);
  ABI_MEMBER(nbrhd_ranks);
  ABI_MEMBER(host_count);
  ABI_MEMBER(reserved);
  ABI_MEMBER(scratch_bytes);
  ABI_MEMBER(signals);
  ABI_MEMBER(put_max);
  ABI_MEMBER(host_of);
  ABI_MEMBER(posts);
  ABI_MEMBER(post_max);
  ABI_MEMBER(domain_of);
  ABI_MEMBER(domain_count);
  ABI_MEMBER(domain_most);
  ABI_MEMBER(region_put_max);
}

void dump_cwyl_region() {
  ABI_STRUCT(cwyl_region);
  ABI_MEMBER(token);
}

void dump_cwyl_team_services() {
  ABI_STRUCT(cwyl_team_services);
  ABI_MEMBER(head);
  ABI_MEMBER(info);
  ABI_MEMBER(put_signal);
  ABI_MEMBER(signal);
  ABI_MEMBER(scratch);
  ABI_MEMBER(expose);
  ABI_MEMBER(direct);
  ABI_MEMBER(put_region);
  ABI_MEMBER(get_region);
  ABI_MEMBER(reduce);
  ABI_MEMBER(copy);
  ABI_MEMBER(reduce_into);
  ABI_MEMBER(memory);
  ABI_MEMBER(post);
  ABI_MEMBER(posted);
  ABI_MEMBER(put_region_signal);
}

void dump_cwyl_args() {
  ABI_STRUCT(cwyl_args);
  ABI_MEMBER(head);
  ABI_MEMBER(operation);
  ABI_MEMBER(flags);
  ABI_MEMBER(root);
  ABI_MEMBER(dt);
  ABI_MEMBER(opcode);
  ABI_MEMBER(reserved);
  ABI_MEMBER(element_bytes);
  ABI_MEMBER(count);
  ABI_MEMBER(dst);
  ABI_MEMBER(src);
}

void dump_cwyl_shape() {
  ABI_STRUCT(cwyl_shape);
  ABI_MEMBER(head);
  ABI_MEMBER(operation);
  ABI_MEMBER(flags);
  ABI_MEMBER(team_size);
  ABI_MEMBER(nbrhd_count);
  ABI_MEMBER(dt);
  ABI_MEMBER(opcode);
  ABI_MEMBER(bytes);
  ABI_MEMBER(scratch_bytes);
  ABI_MEMBER(element_bytes);
  ABI_MEMBER(host_count);
  ABI_MEMBER(nbrhd_most);
  ABI_MEMBER(domain_count);
  ABI_MEMBER(domain_most);
}

void dump_cwyl_candidate() {
  ABI_STRUCT(cwyl_candidate);
  ABI_MEMBER(head);
  ABI_MEMBER(name);
  ABI_MEMBER(operation);
  ABI_MEMBER(keeps_order);
  ABI_MEMBER(min_bytes);
  ABI_MEMBER(max_bytes);
  ABI_MEMBER(min_team);
  ABI_MEMBER(max_team);
  ABI_MEMBER(state_bytes);
  ABI_MEMBER(reserved);
  ABI_MEMBER(score);
  ABI_MEMBER(start);
  ABI_MEMBER(step);
}

void dump_cwyl_module() {
  ABI_STRUCT(cwyl_module);
  ABI_MEMBER(head);
  ABI_MEMBER(min_core_minor);
  ABI_MEMBER(candidate_count);
  ABI_MEMBER(candidates);
  ABI_MEMBER(flags);
  ABI_MEMBER(fini);
}

void dump_constants() {
  ABI_TYPE(cwy_collective_init_fn);
  ABI_TYPE(cwyl_seq);
  ABI_CONSTANT(CWYL_BARRIER);
  ABI_CONSTANT(CWYL_BROADCAST);
  ABI_CONSTANT(CWYL_REDUCE_ONE);
  ABI_CONSTANT(CWYL_REDUCE_ALL);
  ABI_CONSTANT(CWYL_NEED_ORDER);
  ABI_NAME(CWY_COLLECTIVE_INIT_NAME);
}

}  // namespace

void dump_collective() {
  dump_constants();
  dump_cwyl_team_info();
  dump_cwyl_region();
  dump_cwyl_team_services();
  dump_cwyl_args();
  dump_cwyl_shape();
  dump_cwyl_candidate();
  dump_cwyl_module();
}

}  // namespace causeway::abi
