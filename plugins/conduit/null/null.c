/* The null conduit: the template a conduit starts from. It loads, has one device, and opens
 * domains and endpoints; it reaches nobody, and every operation answers CWY_ERR_UNSUPPORTED.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * To start a conduit of your own: copy this folder, rename `null` (file, manifest, log prefix),
 * and make the calls real in the order of the sections below: device, endpoint, reach/connect,
 * active messages and progress. That much is a complete conduit; the core emulates the rest.
 * conduit-api/README.md says what each call must guarantee; `causeway check-plugin FILE` checks.
 */
#include <causeway/conduit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read by the core without loading this file. Options declared here are checked against the
 * user's configuration before any call below sees them. */
CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: 'null'\n" /* quoted: a bare null is YAML's empty value */
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: reaches nobody; the template for new conduits\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  reason:\n"
    "    type: string\n"
    "    default: the null conduit reaches nobody\n"
    "    help: what reach() answers, shown by causeway explain\n");

/* The core's services: kept from init, used by any call below. */
static const cwy_services* services;

/* The conduit's own objects. The core only ever holds pointers to them. */
struct cwyc_domain {
  const char* reason; /* lives as long as the options, which outlive the domain */
};

struct cwyc_ep {
  cwyc_domain* domain;
  cwyc_ep_params params;
};

/* Text for people goes where the failure is first noticed. Always write within struct_size: the
 * caller may be older or newer than this file. */
static cwy_status fail(cwy_err* err, cwy_status status, const char* text) {
  if (err != NULL && err->head.struct_size >= sizeof *err) {
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
  }
  return status;
}

/* ---- devices and domains ------------------------------------------------------------------- */

static cwy_status null_list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg,
                                    cwy_err* err) {
  (void)opts;
  (void)err;
  const cwyc_device device = {.head = CWY_HEAD(cwyc_device),
                              .name = "null",
                              .description = "no hardware, no peers",
                              .path = "",
                              .numa_node = -1,
                              .state = CWYC_DEVICE_UP};
  fn(arg, &device);
  return CWY_OK;
}

static cwy_status null_domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                   cwyc_domain** out, cwy_err* err) {
  if (params->device[0] != '\0' && strcmp(params->device, "null") != 0)
    return fail(err, CWY_ERR_INVALID, "the only device of conduit 'null' is 'null'");
  cwyc_domain* domain = calloc(1, sizeof *domain);
  if (domain == NULL) return fail(err, CWY_ERR_NOMEM, "no memory for a domain");
  if (services->opt_string(opts, "reason", &domain->reason) != CWY_OK)
    domain->reason = "the null conduit reaches nobody";
  *out = domain;
  return CWY_OK;
}

static void null_domain_close(cwyc_domain* domain) {
  free(domain);
}

/* ---- endpoints ----------------------------------------------------------------------------- */

static cwy_status null_ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                               cwy_err* err) {
  cwyc_ep* ep = calloc(1, sizeof *ep);
  if (ep == NULL) return fail(err, CWY_ERR_NOMEM, "no memory for an endpoint");
  ep->domain = domain;
  /* params may be larger or smaller than ours: copy what both know. */
  const size_t known =
      params->head.struct_size < sizeof ep->params ? params->head.struct_size : sizeof ep->params;
  memcpy(&ep->params, params, known);
  *out = ep;
  return CWY_OK;
}

static void null_ep_close(cwyc_ep* ep) {
  free(ep);
}

/* The core fills attr->head with the size it has room for. */
static cwy_status null_ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  (void)ep;
  cwyc_ep_attr own;
  memset(&own, 0, sizeof own);
  own.head = attr->head;
  own.caps = 0;           /* CWYC_CAP_*: what the entries below really guarantee */
  own.conn_size = 0;      /* bytes of your own behind every cwyc_conn */
  own.ep_address_max = 0; /* bytes null_ep_address writes at most */
  own.am_medium_max = 512;
  own.ops_tables = 1;
  memcpy(attr, &own, own.head.struct_size < sizeof own ? own.head.struct_size : sizeof own);
  return CWY_OK;
}

/* What peers need to find this endpoint: a queue-pair number, a fabric address, a file name. It
 * is exchanged by the core and comes back in cwyc_peer_desc. */
static cwy_status null_ep_address(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err) {
  (void)ep;
  (void)buf;
  (void)err;
  *len = 0;
  return CWY_OK;
}

/* ---- peers --------------------------------------------------------------------------------- */

/* No communication here: answer from the descriptor alone. The text is what a user reads who asks
 * `causeway explain` why this conduit was not chosen. */
static cwy_status null_reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  (void)peer;
  return fail(err, CWY_ERR_UNREACHABLE, domain->reason);
}

static cwy_status null_connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer,
                               cwyc_op* op, cwy_err* err) {
  (void)conn;
  (void)peer;
  (void)op;
  return fail(err, CWY_ERR_UNREACHABLE, ep->domain->reason);
}

static void null_disconnect(cwyc_conn* conn) {
  (void)conn;
}

/* Here a real conduit completes every pending op of the connection with CWY_ERR_PEER_FAILED. */
static void null_purge(cwyc_conn* conn) {
  (void)conn;
}

/* ---- hot operations ------------------------------------------------------------------------ */

static cwy_status null_am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                                uint32_t flags) {
  (void)conn;
  (void)word;
  (void)args;
  (void)nargs;
  (void)flags;
  return CWY_ERR_UNSUPPORTED;
}

static cwy_status null_am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args,
                                 uint32_t nargs, const void* payload, cwyc_mem* lmem, size_t length,
                                 uint32_t flags, cwyc_op* op) {
  (void)conn;
  (void)word;
  (void)args;
  (void)nargs;
  (void)payload;
  (void)lmem;
  (void)length;
  (void)flags;
  (void)op;
  return CWY_ERR_UNSUPPORTED;
}

/* Deliver what arrived through ep->params.deliver, complete what finished through op->fn, and
 * return how many of both there were. Never wait. */
static uint32_t null_progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  (void)ep;
  (void)budget;
  (void)lane;
  return 0;
}

/* ---- the tables ---------------------------------------------------------------------------- */

/* put, get, atomic, am_long ... stay NULL: the core emulates them over active messages. Set an
 * entry, and its CWYC_CAP_* bit, once the hardware does better than that. */
static const cwyc_ops null_ops = {
    .head = CWY_HEAD(cwyc_ops),
    .concurrency = CWYC_SERIAL, /* the core holds a lock: the simplest thing that is right */
    .am_short = null_am_short,
    .am_medium = null_am_medium,
};

static const cwyc_ops* const null_tables[] = {&null_ops};

static const cwyc_module null_module = {
    .head = CWY_HEAD(cwyc_module),
    .min_core_minor = 0,
    .ops_count = 1,
    .ops = null_tables,
    .list_devices = null_list_devices,
    .domain_open = null_domain_open,
    .domain_close = null_domain_close,
    .ep_open = null_ep_open,
    .ep_close = null_ep_close,
    .ep_query = null_ep_query,
    .ep_address = null_ep_address,
    .reach = null_reach,
    .connect = null_connect,
    .disconnect = null_disconnect,
    .purge = null_purge,
    .progress = null_progress,
};

/* The only exported symbol. Keep it cheap: look for hardware in list_devices and domain_open. */
CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core, const cwyc_module** module,
                                       cwy_err* err);

cwy_status CWY_CONDUIT_INIT(const cwy_services* core, const cwyc_module** module, cwy_err* err) {
  if (core->head.major != CWY_PLUGIN_MAJOR)
    return fail(err, CWY_ERR_UNSUPPORTED, "conduit 'null' needs plugin interface 1");
  services = core;
  *module = &null_module;
  return CWY_OK;
}
