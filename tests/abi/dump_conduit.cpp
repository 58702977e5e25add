// Layout of causeway/conduit.h. A structure, member or constant added there is added here.
#include <causeway/conduit.h>

#include "dump.h"

namespace causeway::abi {
namespace {

void dump_cwyc_op() {
  ABI_STRUCT(cwyc_op);
  ABI_MEMBER(fn);
  ABI_MEMBER(state);
  ABI_MEMBER(scratch);
}

void dump_cwyc_conn() {
  ABI_STRUCT(cwyc_conn);
  ABI_MEMBER(ops);
  ABI_MEMBER(core);
  ABI_MEMBER(ep);
  ABI_MEMBER(peer);
  ABI_MEMBER(priv);
  ABI_MEMBER(table);
  ABI_MEMBER(reserved);
  ABI_MEMBER(reserved2);
}

void dump_cwyc_atomic() {
  ABI_STRUCT(cwyc_atomic);
  ABI_MEMBER(head);
  ABI_MEMBER(raddr);
  ABI_MEMBER(operand1);
  ABI_MEMBER(operand2);
  ABI_MEMBER(result);
  ABI_MEMBER(dt);
  ABI_MEMBER(opcode);
}

void dump_cwyc_iov() {
  ABI_STRUCT(cwyc_iov);
  ABI_MEMBER(addr);
  ABI_MEMBER(length);
}

void dump_cwyc_riov() {
  ABI_STRUCT(cwyc_riov);
  ABI_MEMBER(addr);
  ABI_MEMBER(length);
}

void dump_cwyc_vector() {
  ABI_STRUCT(cwyc_vector);
  ABI_MEMBER(head);
  ABI_MEMBER(local);
  ABI_MEMBER(local_count);
  ABI_MEMBER(lmem);
  ABI_MEMBER(remote);
  ABI_MEMBER(remote_count);
  ABI_MEMBER(rkey);
}

void dump_cwyc_am_slot() {
  ABI_STRUCT(cwyc_am_slot);
  ABI_MEMBER(head);
  ABI_MEMBER(buffer);
  ABI_MEMBER(length);
  ABI_MEMBER(priv);
}

void dump_cwyc_ops() {
  ABI_STRUCT(cwyc_ops);
  ABI_MEMBER(head);
  ABI_MEMBER(concurrency);
  ABI_MEMBER(reserved);
  ABI_MEMBER(put);
  ABI_MEMBER(get);
  ABI_MEMBER(putv);
  ABI_MEMBER(getv);
  ABI_MEMBER(atomic);
  ABI_MEMBER(am_short);
  ABI_MEMBER(am_medium);
  ABI_MEMBER(am_long);
  ABI_MEMBER(am_prepare);
  ABI_MEMBER(am_commit);
  ABI_MEMBER(am_cancel);
}

void dump_cwyc_ep_attr() {
  ABI_STRUCT(cwyc_ep_attr);
  ABI_MEMBER(head);
  ABI_MEMBER(caps);
  ABI_MEMBER(conn_size);
  ABI_MEMBER(ep_address_max);
  ABI_MEMBER(rkey_max);
  ABI_MEMBER(rma_max);
  ABI_MEMBER(am_medium_max);
  ABI_MEMBER(am_long_max);
  ABI_MEMBER(iov_max);
  ABI_MEMBER(mem_forms);
  ABI_MEMBER(atomic_ops);
  ABI_MEMBER(speed);
  ABI_MEMBER(ops_tables);
  ABI_MEMBER(reserved);
  ABI_MEMBER(mem_room);
}

void dump_cwyc_class_attr() {
  ABI_STRUCT(cwyc_class_attr);
  ABI_MEMBER(head);
  ABI_MEMBER(caps);
  ABI_MEMBER(rma_max);
  ABI_MEMBER(am_medium_max);
  ABI_MEMBER(am_long_max);
  ABI_MEMBER(iov_max);
  ABI_MEMBER(atomic_ops);
  ABI_MEMBER(speed);
}

void dump_cwyc_ep_params() {
  ABI_STRUCT(cwyc_ep_params);
  ABI_MEMBER(head);
  ABI_MEMBER(core_ep);
  ABI_MEMBER(deliver);
  ABI_MEMBER(index);
  ABI_MEMBER(multithreaded);
  ABI_MEMBER(max_peers);
  ABI_MEMBER(reserved);
  ABI_MEMBER(place);
  ABI_MEMBER(peer_state);
}

void dump_cwyc_arrival() {
  ABI_STRUCT(cwyc_arrival);
  ABI_MEMBER(head);
  ABI_MEMBER(from);
  ABI_MEMBER(word);
  ABI_MEMBER(args);
  ABI_MEMBER(nargs);
  ABI_MEMBER(reserved);
  ABI_MEMBER(length);
}

void dump_cwyc_peer_desc() {
  ABI_STRUCT(cwyc_peer_desc);
  ABI_MEMBER(head);
  ABI_MEMBER(peer);
  ABI_MEMBER(same_process);
  ABI_MEMBER(same_host);
  ABI_MEMBER(local_index);
  ABI_MEMBER(pid);
  ABI_MEMBER(hostname);
  ABI_MEMBER(address);
  ABI_MEMBER(address_len);
  ABI_MEMBER(wiring);
  ABI_MEMBER(wiring_len);
}

void dump_cwyc_device() {
  ABI_STRUCT(cwyc_device);
  ABI_MEMBER(head);
  ABI_MEMBER(name);
  ABI_MEMBER(description);
  ABI_MEMBER(path);
  ABI_MEMBER(speed);
  ABI_MEMBER(network);
  ABI_MEMBER(numa_node);
  ABI_MEMBER(state);
  ABI_MEMBER(ports);
  ABI_MEMBER(port);
}

void dump_cwyc_domain_params() {
  ABI_STRUCT(cwyc_domain_params);
  ABI_MEMBER(head);
  ABI_MEMBER(device);
  ABI_MEMBER(job_key);
  ABI_MEMBER(vnis);
  ABI_MEMBER(service_ids);
  ABI_MEMBER(service_devices);
}

void dump_cwyc_module() {
  ABI_STRUCT(cwyc_module);
  ABI_MEMBER(head);
  ABI_MEMBER(min_core_minor);
  ABI_MEMBER(ops_count);
  ABI_MEMBER(ops);
  ABI_MEMBER(flags);
  ABI_MEMBER(configure);
  ABI_MEMBER(list_devices);
  ABI_MEMBER(domain_open);
  ABI_MEMBER(domain_close);
  ABI_MEMBER(ep_open);
  ABI_MEMBER(ep_close);
  ABI_MEMBER(ep_query);
  ABI_MEMBER(class_query);
  ABI_MEMBER(class_of);
  ABI_MEMBER(ep_address);
  ABI_MEMBER(wiring);
  ABI_MEMBER(ep_threads);
  ABI_MEMBER(reach);
  ABI_MEMBER(connect);
  ABI_MEMBER(disconnect);
  ABI_MEMBER(purge);
  ABI_MEMBER(mem_alloc);
  ABI_MEMBER(mem_reg);
  ABI_MEMBER(mem_release);
  ABI_MEMBER(rkey_pack);
  ABI_MEMBER(rkey_open);
  ABI_MEMBER(rkey_close);
  ABI_MEMBER(rkey_direct);
  ABI_MEMBER(progress);
  ABI_MEMBER(am_retain);
  ABI_MEMBER(am_release);
  ABI_MEMBER(wait_fd);
  ABI_MEMBER(arm);
  ABI_MEMBER(nap);
  ABI_MEMBER(ep_stats);
  ABI_MEMBER(ep_traffic);
  ABI_MEMBER(fini);
}

void dump_constants() {
  ABI_CONSTANT(CWYC_AM_MAX_ARGS);
  ABI_TYPE(cwyc_deliver_fn);
  ABI_TYPE(cwyc_place_fn);
  ABI_TYPE(cwyc_stat_fn);
  ABI_TYPE(cwyc_traffic_fn);
  ABI_TYPE(cwyc_device_fn);
  ABI_TYPE(cwy_conduit_init_fn);
  ABI_CONSTANT(CWYC_DONE_LOCAL);
  ABI_CONSTANT(CWYC_DONE_REMOTE);
  ABI_CONSTANT(CWYC_LANE_REPLY);
  ABI_CONSTANT(CWYC_SRC_VOLATILE);
  ABI_CONSTANT(CWYC_SERIAL);
  ABI_CONSTANT(CWYC_MULTI);
  ABI_CONSTANT(CWYC_LOCKED);
  ABI_CONSTANT(CWY_DT_I32);
  ABI_CONSTANT(CWY_DT_U32);
  ABI_CONSTANT(CWY_DT_I64);
  ABI_CONSTANT(CWY_DT_U64);
  ABI_CONSTANT(CWY_DT_FLT);
  ABI_CONSTANT(CWY_DT_DBL);
  ABI_CONSTANT(CWY_DT_USER);
  ABI_CONSTANT(CWY_OP_MIN);
  ABI_CONSTANT(CWY_OP_SUB);
  ABI_CONSTANT(CWY_OP_MULT);
  ABI_CONSTANT(CWY_OP_ADD);
  ABI_CONSTANT(CWY_OP_MAX);
  ABI_CONSTANT(CWY_OP_INC);
  ABI_CONSTANT(CWY_OP_DEC);
  ABI_CONSTANT(CWY_OP_AND);
  ABI_CONSTANT(CWY_OP_OR);
  ABI_CONSTANT(CWY_OP_XOR);
  ABI_CONSTANT(CWY_OP_FMIN);
  ABI_CONSTANT(CWY_OP_FSUB);
  ABI_CONSTANT(CWY_OP_FMULT);
  ABI_CONSTANT(CWY_OP_FADD);
  ABI_CONSTANT(CWY_OP_FMAX);
  ABI_CONSTANT(CWY_OP_FINC);
  ABI_CONSTANT(CWY_OP_FDEC);
  ABI_CONSTANT(CWY_OP_FAND);
  ABI_CONSTANT(CWY_OP_FOR);
  ABI_CONSTANT(CWY_OP_FXOR);
  ABI_CONSTANT(CWY_OP_SET);
  ABI_CONSTANT(CWY_OP_CAS);
  ABI_CONSTANT(CWY_OP_SWAP);
  ABI_CONSTANT(CWY_OP_GET);
  ABI_CONSTANT(CWY_OP_FCAS);
  ABI_CONSTANT(CWY_OP_USER);
  ABI_CONSTANT(CWY_OP_USER_NC);
  ABI_CONSTANT(CWYC_CAP_PUT);
  ABI_CONSTANT(CWYC_CAP_GET);
  ABI_CONSTANT(CWYC_CAP_ATOMIC);
  ABI_CONSTANT(CWYC_CAP_VECTOR);
  ABI_CONSTANT(CWYC_CAP_AM_LONG);
  ABI_CONSTANT(CWYC_CAP_AM_PREPARE);
  ABI_CONSTANT(CWYC_CAP_DIRECT);
  ABI_CONSTANT(CWYC_CAP_MEM_ALLOC);
  ABI_CONSTANT(CWYC_CAP_MEM_REG);
  ABI_CONSTANT(CWYC_CAP_ORDER_PUT_AM);
  ABI_CONSTANT(CWYC_CAP_WAIT_FD);
  ABI_CONSTANT(CWYC_CAP_NAP);
  ABI_CONSTANT(CWYC_CAP_PEER_FAILURE);
  ABI_CONSTANT(CWYC_CAP_ATOMIC_CPU);
  ABI_CONSTANT(CWYC_CAP_NO_PROGRESS);
  ABI_CONSTANT(CWYC_CAP_WIRING);
  ABI_CONSTANT(CWYC_CAP_SHARED_KEYS);
  ABI_CONSTANT(CWYC_CAP_REACHES_RELEASED);
  ABI_CONSTANT(CWYC_CAPS_OF_EP);
  ABI_CONSTANT(CWYC_AM_SHORT);
  ABI_CONSTANT(CWYC_AM_MEDIUM);
  ABI_CONSTANT(CWYC_AM_LONG);
  ABI_CONSTANT(CWYC_DEVICE_UNKNOWN);
  ABI_CONSTANT(CWYC_DEVICE_UP);
  ABI_CONSTANT(CWYC_DEVICE_DOWN);
  ABI_CONSTANT(CWYC_PROGRESS_ALL);
  ABI_CONSTANT(CWYC_PROGRESS_REPLIES);
  ABI_CONSTANT(CWYC_SENT);
  ABI_CONSTANT(CWYC_SENT_BYTES);
  ABI_CONSTANT(CWYC_RECEIVED);
  ABI_CONSTANT(CWYC_RECEIVED_BYTES);
  ABI_CONSTANT(CWYC_RETRIES);
  ABI_NAME(CWY_CONDUIT_INIT_NAME);
}

}  // namespace

void dump_conduit() {
  dump_constants();
  dump_cwyc_op();
  dump_cwyc_conn();
  dump_cwyc_atomic();
  dump_cwyc_iov();
  dump_cwyc_riov();
  dump_cwyc_vector();
  dump_cwyc_am_slot();
  dump_cwyc_ops();
  dump_cwyc_ep_attr();
  dump_cwyc_class_attr();
  dump_cwyc_arrival();
  dump_cwyc_ep_params();
  dump_cwyc_peer_desc();
  dump_cwyc_device();
  dump_cwyc_domain_params();
  dump_cwyc_module();
}

}  // namespace causeway::abi
