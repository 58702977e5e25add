/* One plugin source, bad in the way its compile definitions say. */
#include <causeway/conduit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef VARIANT_API
#define VARIANT_API "2.0"
#endif
#ifndef VARIANT_KIND
#define VARIANT_KIND "conduit"
#endif
#ifndef VARIANT_MIN_CORE_MINOR
#define VARIANT_MIN_CORE_MINOR "0"
#endif
#ifndef VARIANT_FORMAT
#define VARIANT_FORMAT "1"
#endif
#ifndef VARIANT_MANIFEST_NAME
#define VARIANT_MANIFEST_NAME VARIANT_NAME
#endif
#ifndef VARIANT_MODULE_MIN_MINOR
#define VARIANT_MODULE_MIN_MINOR 0
#endif

#if defined(VARIANT_OPTIONS)
#define OPTIONS                                                             \
  "options:\n"                                                              \
  "  label: {type: string, default: none}\n"                                \
  "  depth: {type: int, default: 4, min: -1, max: 100}\n"                   \
  "  quick: {type: bool, default: true}\n"                                  \
  "  ring: {type: size, default: 64KiB, min: 4KiB, max: 16MiB}\n"           \
  "  pause: {type: time, default: 50us, max: 1s, help: between polls}\n"    \
  "  mode: {type: enum, choices: [eager, lazy, off_line], default: lazy}\n" \
  "  bare: {type: int}\n"
#elif defined(VARIANT_BAD_DEFAULT)
#define OPTIONS "options: {ring: {type: size, default: plenty}}\n"
#elif defined(VARIANT_BAD_WANTED)
#define OPTIONS "wanted_by: /sys/class/flux\n"
#else
#define OPTIONS ""
#endif

#ifndef VARIANT_MANIFEST
#define VARIANT_MANIFEST                                                                        \
  "causeway_manifest: " VARIANT_FORMAT "\nkind: " VARIANT_KIND "\nname: " VARIANT_MANIFEST_NAME \
  "\nversion: 2.5.1\napi: '" VARIANT_API "'\nmin_core_minor: " VARIANT_MIN_CORE_MINOR           \
  "\nsummary: for the loader's tests\nlicense: BSD-3-Clause\n"                                  \
  "some_later_key: [of, a, newer, minor]\n" OPTIONS
#endif

#ifndef VARIANT_NO_MANIFEST
CWY_MANIFEST(VARIANT_MANIFEST);
#endif

#ifdef VARIANT_UNDEFINED_SYMBOL
void nobody_defines_this(void);
#endif
#ifdef VARIANT_NEEDS_GONE
int causeway_test_gone(void);
#endif

static const cwy_services* services;

static cwy_status domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                              cwyc_domain** out, cwy_err* err) {
  (void)opts, (void)params, (void)out, (void)err;
  return CWY_ERR_UNSUPPORTED;
}
static void domain_close(cwyc_domain* domain) {
  (void)domain;
}
static cwy_status ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                          cwy_err* err) {
  (void)domain, (void)params, (void)out, (void)err;
  return CWY_ERR_UNSUPPORTED;
}
static void ep_close(cwyc_ep* ep) {
  (void)ep;
}
static cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  (void)ep, (void)attr;
  return CWY_ERR_UNSUPPORTED;
}
static cwy_status ep_address(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err) {
  (void)ep, (void)buf, (void)len, (void)err;
  return CWY_ERR_UNSUPPORTED;
}
static cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  (void)domain, (void)peer, (void)err;
  return CWY_ERR_UNREACHABLE;
}
static cwy_status connect_peer(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer,
                               cwyc_op* op, cwy_err* err) {
  (void)ep, (void)conn, (void)peer, (void)op, (void)err;
  return CWY_ERR_UNREACHABLE;
}
static void disconnect(cwyc_conn* conn) {
  (void)conn;
}
static void purge(cwyc_conn* conn) {
  (void)conn;
}
static uint32_t progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  (void)ep, (void)budget, (void)lane;
  return 0;
}
static cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                           uint32_t flags) {
  (void)conn, (void)word, (void)args, (void)nargs, (void)flags;
  return CWY_ERR_UNSUPPORTED;
}
static cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                            cwyc_op* op) {
  (void)conn, (void)word, (void)args, (void)nargs, (void)payload, (void)lmem, (void)length;
  (void)flags, (void)op;
  return CWY_ERR_UNSUPPORTED;
}
static void fini(void) {
  services->log(VARIANT_NAME, CWY_LOG_DEBUG, "fini");
}

/* Tables as a later minor would have them: ours first, members this core never heard of after. */
struct later_module {
  cwyc_module base;
  void* later[16];
};
struct later_ops {
  cwyc_ops base;
  void* later[16];
};

static struct later_ops ops, second;
static const cwyc_ops* const tables[] = {&ops.base, &second.base};
static struct later_module module;

static void fill_ops(void) {
  ops.base.head = (cwy_head)CWY_HEAD(cwyc_ops);
  ops.base.concurrency = CWYC_SERIAL;
  ops.base.am_short = am_short;
  ops.base.am_medium = am_medium;
#ifdef VARIANT_NO_AM_MEDIUM
  ops.base.am_medium = NULL;
#endif
#ifdef VARIANT_HALF_PREPARE
  memcpy(&ops.base.am_prepare, &(void*){&ops}, sizeof(void*));
#endif
  second = ops;
#ifdef VARIANT_MIXED_TABLES
  second.base.concurrency = CWYC_MULTI;
#endif
}

static void fill_module(void) {
  cwyc_module* m = &module.base;
  m->head = (cwy_head)CWY_HEAD(cwyc_module);
  m->min_core_minor = VARIANT_MODULE_MIN_MINOR;
  m->ops_count = 1;
  m->ops = tables;
  m->domain_open = domain_open;
  m->domain_close = domain_close;
  m->ep_open = ep_open;
  m->ep_close = ep_close;
  m->ep_query = ep_query;
  m->ep_address = ep_address;
  m->reach = reach;
  m->connect = connect_peer;
  m->disconnect = disconnect;
  m->purge = purge;
  m->progress = progress;
  m->fini = fini;
#ifdef VARIANT_NO_PROGRESS
  m->progress = NULL;
#endif
#ifdef VARIANT_NO_TABLES
  m->ops_count = 0;
#endif
#if defined(VARIANT_MIXED_TABLES) || defined(VARIANT_EQUAL_TABLES)
  m->ops_count = 2;
#endif
#ifdef VARIANT_EMPTY_HEAD
  memset(&m->head, 0, sizeof m->head);
#endif
#ifdef VARIANT_OTHER_MAJOR
  m->head.major = 1;
#endif
}

/* Poison behind the end a table declares: whoever reads it crashes. */
static void shorten_or_lengthen(void) {
#ifdef VARIANT_SHORT_TABLES
  module.base.head.struct_size = offsetof(cwyc_module, wait_fd);
  memset((char*)&module + offsetof(cwyc_module, wait_fd), 0x5a,
         sizeof module - offsetof(cwyc_module, wait_fd));
  ops.base.head.struct_size = offsetof(cwyc_ops, am_long);
  memset((char*)&ops + offsetof(cwyc_ops, am_long), 0x5a, sizeof ops - offsetof(cwyc_ops, am_long));
#endif
#ifdef VARIANT_LONG_TABLES
  module.base.head.struct_size = sizeof module;
  module.base.head.minor = 7;
  memset(module.later, 0x5a, sizeof module.later);
  ops.base.head.struct_size = sizeof ops;
  ops.base.head.minor = 7;
  memset(ops.later, 0x5a, sizeof ops.later);
#endif
}

#ifdef VARIANT_LOAD_ABORTS
__attribute__((constructor)) static void on_load(void) {
  abort();
}
#endif

#ifdef VARIANT_NO_INIT
#define INIT some_other_function
#else
#define INIT CWY_CONDUIT_INIT
#endif

CWY_EXPORT cwy_status INIT(const cwy_services* core, const cwyc_module** out, cwy_err* err);

cwy_status INIT(const cwy_services* core, const cwyc_module** out, cwy_err* err) {
  services = core;
  services->log(VARIANT_NAME, CWY_LOG_DEBUG, "init");
#ifdef VARIANT_UNDEFINED_SYMBOL
  nobody_defines_this();
#endif
#ifdef VARIANT_NEEDS_GONE
  if (causeway_test_gone() == 0) return CWY_ERR_INVALID;
#endif
#if defined(VARIANT_INIT_FAILS)
  snprintf(err->text, sizeof err->text, "the %s\nis missing", "flux capacitor");
  return CWY_ERR_DEVICE_FAILED;
#elif defined(VARIANT_INIT_ABORTS)
  (void)err, (void)out;
  abort();
#elif defined(VARIANT_INIT_SILENT)
  (void)err;
  return CWY_ERR_NOMEM;
#elif defined(VARIANT_INIT_NULL)
  (void)err, (void)out;
  return CWY_OK;
#else
  (void)err;
#endif
  fill_ops();
  fill_module();
  shorten_or_lengthen();
  *out = &module.base;
  return CWY_OK;
}
