// Layout of causeway/plugin.h. A structure, member or constant added there is added here.
#include <causeway/plugin.h>

#include "dump.h"

namespace causeway::abi {
namespace {

void dump_cwy_head() {
  ABI_STRUCT(cwy_head);
  ABI_MEMBER(struct_size);
  ABI_MEMBER(major);
  ABI_MEMBER(minor);
}

void dump_cwy_err() {
  ABI_STRUCT(cwy_err);
  ABI_MEMBER(head);
  ABI_MEMBER(status);
  ABI_MEMBER(reserved);
  ABI_MEMBER(text);
}

void dump_cwy_detail() {
  ABI_STRUCT(cwy_detail);
  ABI_MEMBER(head);
  ABI_MEMBER(code);
  ABI_MEMBER(reserved);
  ABI_MEMBER(text);
}

void dump_cwy_peer() {
  ABI_STRUCT(cwy_peer);
  ABI_MEMBER(rank);
  ABI_MEMBER(epoch);
}

void dump_cwy_memref() {
  ABI_STRUCT(cwy_memref);
  ABI_MEMBER(head);
  ABI_MEMBER(form);
  ABI_MEMBER(kind_class);
  ABI_MEMBER(addr);
  ABI_MEMBER(length);
  ABI_MEMBER(device);
  ABI_MEMBER(fd);
  ABI_MEMBER(offset);
  ABI_MEMBER(ipc);
  ABI_MEMBER(ipc_len);
  ABI_MEMBER(pid);
  ABI_MEMBER(key_wish);
}

void dump_cwy_job() {
  ABI_STRUCT(cwy_job);
  ABI_MEMBER(head);
  ABI_MEMBER(rank);
  ABI_MEMBER(size);
  ABI_MEMBER(epoch);
  ABI_MEMBER(local_count);
  ABI_MEMBER(local_index);
  ABI_MEMBER(cpu_count);
  ABI_MEMBER(host_id);
  ABI_MEMBER(job_id);
  ABI_MEMBER(session_dir);
}

void dump_cwy_services() {
  ABI_STRUCT(cwy_services);
  ABI_MEMBER(head);
  ABI_MEMBER(job);
  ABI_MEMBER(log);
  ABI_MEMBER(opt_string);
  ABI_MEMBER(opt_int);
  ABI_MEMBER(opt_bool);
  ABI_MEMBER(opt_size);
  ABI_MEMBER(opt_time);
  ABI_MEMBER(peer_state);
  ABI_MEMBER(wake);
  ABI_MEMBER(now);
  ABI_MEMBER(wrap_conduit);
  ABI_MEMBER(device_state);
}

void dump_cwy_wrapped() {
  ABI_STRUCT(cwy_wrapped);
  ABI_MEMBER(head);
  ABI_MEMBER(module);
  ABI_MEMBER(options);
  ABI_MEMBER(device);
  ABI_MEMBER(plugin);
}

void dump_constants() {
  ABI_CONSTANT(CWY_PLUGIN_MAJOR);
  ABI_CONSTANT(CWY_PLUGIN_MINOR);
  ABI_TYPE(cwy_status);
  ABI_STATUS(CWY_OK);
  ABI_STATUS(CWY_INPROGRESS);
  ABI_STATUS(CWY_RETRY);
  ABI_STATUS(CWY_ERR_UNSUPPORTED);
  ABI_STATUS(CWY_ERR_INVALID);
  ABI_STATUS(CWY_ERR_NOMEM);
  ABI_STATUS(CWY_ERR_UNREACHABLE);
  ABI_STATUS(CWY_ERR_TIMEOUT);
  ABI_STATUS(CWY_ERR_PEER_FAILED);
  ABI_STATUS(CWY_ERR_DEVICE_FAILED);
  ABI_STATUS(CWY_LOG_ERROR);
  ABI_STATUS(CWY_LOG_WARN);
  ABI_STATUS(CWY_LOG_INFO);
  ABI_STATUS(CWY_LOG_DEBUG);
  ABI_STATUS(CWY_PEER_ALIVE);
  ABI_STATUS(CWY_PEER_SUSPECT);
  ABI_STATUS(CWY_PEER_FAILED);
  ABI_STATUS(CWY_MEM_HOST);
  ABI_STATUS(CWY_MEM_CUDA);
  ABI_STATUS(CWY_MEM_HIP);
  ABI_STATUS(CWY_MEM_ZE);
  ABI_STATUS(CWY_MEM_VENDOR_BASE);
  ABI_STATUS(CWY_FORM_HOST_VA);
  ABI_STATUS(CWY_FORM_DEVICE_VA);
  ABI_STATUS(CWY_FORM_DMABUF);
  ABI_STATUS(CWY_FORM_IPC);
}

}  // namespace

void dump_plugin() {
  dump_constants();
  dump_cwy_head();
  dump_cwy_err();
  dump_cwy_detail();
  dump_cwy_peer();
  dump_cwy_memref();
  dump_cwy_job();
  dump_cwy_services();
  dump_cwy_wrapped();
}

}  // namespace causeway::abi
