// Layout of causeway/memkind.h. A structure, member or constant added there is added here.
#include <causeway/memkind.h>

#include "dump.h"

namespace causeway::abi {
namespace {

void dump_cwym_op() {
  ABI_STRUCT(cwym_op);
  ABI_MEMBER(fn);
  ABI_MEMBER(state);
  ABI_MEMBER(scratch);
}

void dump_cwym_attr() {
  ABI_STRUCT(cwym_attr);
  ABI_MEMBER(head);
  ABI_MEMBER(caps);
  ABI_MEMBER(kind_class);
  ABI_MEMBER(device);
  ABI_MEMBER(export_forms);
  ABI_MEMBER(import_forms);
  ABI_MEMBER(alignment);
  ABI_MEMBER(total_bytes);
}

void dump_cwym_device() {
  ABI_STRUCT(cwym_device);
  ABI_MEMBER(head);
  ABI_MEMBER(description);
  ABI_MEMBER(path);
  ABI_MEMBER(index);
  ABI_MEMBER(numa_node);
}

void dump_cwym_module() {
  ABI_STRUCT(cwym_module);
  ABI_MEMBER(head);
  ABI_MEMBER(min_core_minor);
  ABI_MEMBER(reserved);
  ABI_MEMBER(flags);
  ABI_MEMBER(list_devices);
  ABI_MEMBER(create);
  ABI_MEMBER(destroy);
  ABI_MEMBER(query);
  ABI_MEMBER(who_owns);
  ABI_MEMBER(alloc);
  ABI_MEMBER(release);
  ABI_MEMBER(export_mem);
  ABI_MEMBER(import_mem);
  ABI_MEMBER(import_close);
  ABI_MEMBER(copy);
  ABI_MEMBER(progress);
  ABI_MEMBER(push);
  ABI_MEMBER(pop);
  ABI_MEMBER(flush);
  ABI_MEMBER(pin_host);
  ABI_MEMBER(unpin_host);
  ABI_MEMBER(fini);
}

void dump_constants() {
  ABI_TYPE(cwym_device_fn);
  ABI_TYPE(cwy_memkind_init_fn);
  ABI_CONSTANT(CWYM_CAP_PEER_COPY);
  ABI_NAME(CWY_MEMKIND_INIT_NAME);
}

}  // namespace

void dump_memkind() {
  dump_constants();
  dump_cwym_op();
  dump_cwym_attr();
  dump_cwym_device();
  dump_cwym_module();
}

}  // namespace causeway::abi
