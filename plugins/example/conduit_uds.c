/* conduit_uds: a whole conduit over Unix datagram sockets, to be read from top to bottom.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It offers the least a conduit can: short and medium active messages and progress. Puts, gets
 * and everything else are then made of active messages by the core, and a program that was never
 * told about this file runs over it when a configuration says so. README.md beside this file has
 * the steps; the rules each function obeys are in conduit.h and causeway-conduit(7).
 *
 * An endpoint owns two datagram sockets, one per *lane*: requests travel on one, replies on the
 * other, so a process whose request queue is full can still be replied to. The kernel loses
 * nothing, and says EAGAIN when the receiver's queue is full: CWY_RETRY. The sockets' names are
 * abstract and vanish with their process. So that an end is not taken for a death, we say hello,
 * and goodbye.
 */
#define _GNU_SOURCE
#include <causeway/conduit.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- 1. The manifest: read by Causeway without loading this file ---------------------------- */

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: uds\n"
    "version: '1.0'\n"
    "api: '2.0'\n"
    "license: BSD-3-Clause\n"
    "summary: Active messages over Unix datagram sockets between processes of one host\n"
    "options: {payload: {type: size, default: 8KiB, min: 512, max: 64KiB, help: Of a medium}}\n");

/* ---- 2. What travels, and our objects ------------------------------------------------------- */

enum { LANE_REQUEST, LANE_REPLY, LANES };
enum { HELLO = CWYC_AM_LONG + 1, GOODBYE }; /* kinds beside CWYC_AM_*, on the reply lane */

/* One host, one byte order: the structures travel as they are. */
struct header {
  uint64_t cookie; /* the receiver's, mixed with the job's key, which no stranger knows */
  uint64_t word;   /* the core's, travels untouched; of HELLO and GOODBYE: the sender's cookie */
  cwy_peer from;
  uint32_t length; /* of the payload */
  uint16_t kind;
  uint16_t nargs;
  int32_t args[CWYC_AM_MAX_ARGS];
};

/* What a process tells the others about its endpoint (ep_address), through the core. */
struct address {
  uint64_t cookie;  /* first; in the names of the sockets */
  uint64_t network; /* identifies the network namespace, outside which the names mean nothing */
};

struct cwyc_domain {
  uint64_t job; /* of the job's key */
  uint64_t payload_max;
  uint64_t network;
};

struct cwyc_ep {
  cwyc_domain* domain;
  cwyc_ep_params params; /* peer_state is never NULL here */
  int fd[LANES];
  int poll_fd; /* readable when one of the two is */
  int busy[LANES];
  unsigned char* payload[LANES]; /* received payload, handed to the deliver upcall */
  struct address address;
  struct peer* peers;
  uint32_t* newest; /* per rank of the job, the newest epoch that was connected to or heard of */
  int starved;      /* a post was answered RETRY since the last arm */
  uint64_t emptied; /* how often nothing was left to read on the reply lane */
  uint64_t sent, delivered, retries, dropped;
};

/* Another endpoint, which this one has connected to or had a hello of. */
struct peer {
  struct peer* next;
  uint64_t cookie;
  cwy_peer who;
  struct sockaddr_un to[LANES];
  socklen_t to_len;
  int links; /* connections that lead there */
  int gone;  /* it has left in order, or was reported */
  uint64_t
      refused; /* not 0: it is gone, in order if a goodbye lies before this count of `emptied` */
};

/* Lies behind each cwyc_conn: see conn_size in ep_query. */
struct link {
  struct peer* peer;
  int purged;
};

static struct link* link_of(cwyc_conn* conn) {
  return (struct link*)(conn + 1);
}

static const cwy_services* services; /* set once by the entry point */

/* Every failing cold call leaves one line that says what was expected. */
static cwy_status fail(cwy_err* err, cwy_status status, const char* format, ...) {
  if (err) {
    va_list list;
    va_start(list, format);
    vsnprintf(err->text, sizeof err->text, format, list);
    va_end(list);
    err->status = status;
  }
  return status;
}

/* The name of a lane's socket, in the abstract namespace. */
static socklen_t name_of(uint64_t cookie, int lane, struct sockaddr_un* name) {
  *name = (struct sockaddr_un){.sun_family = AF_UNIX};
  const int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "uds.%016llx.%d",
                              (unsigned long long)cookie, lane);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)length;
}

/* ---- 3. Sending ----------------------------------------------------------------------------- */

static cwy_status send_to(cwyc_ep* ep, const struct peer* peer, int lane, struct header* header,
                          const void* payload) {
  header->cookie = peer->cookie ^ ep->domain->job;
  header->from = (cwy_peer){services->job->rank, services->job->epoch};
  struct iovec pieces[2] = {{header, sizeof *header}, {(void*)payload, header->length}};
  const struct msghdr message = {.msg_name = (void*)&peer->to[lane],
                                 .msg_namelen = peer->to_len,
                                 .msg_iov = pieces,
                                 .msg_iovlen = header->length ? 2 : 1};
  if (sendmsg(ep->fd[lane], &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
    return CWY_OK; /* the kernel has its own copy: complete in every sense */
  /* The receiver's queue, or our send buffer, is full: the core tries again. */
  if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EINTR) return CWY_RETRY;
  /* Nobody has that name any more. */
  if (errno == ECONNREFUSED || errno == ECONNRESET || errno == EPIPE) return CWY_ERR_PEER_FAILED;
  services->log("uds", CWY_LOG_ERROR, strerror(errno));
  return CWY_ERR_DEVICE_FAILED;
}

static cwy_status tell(cwyc_ep* ep, const struct peer* peer, uint16_t kind) {
  struct header header = {.kind = kind, .word = ep->address.cookie};
  return send_to(ep, peer, LANE_REPLY, &header, NULL);
}

/* The goodbye may lie unread among the replies: the answer is RETRY until they have been read. */
static cwy_status peer_is_gone(cwyc_ep* ep, struct peer* peer) {
  if (!peer->refused) peer->refused = ep->emptied + 1;
  if (ep->emptied < peer->refused) return CWY_RETRY;
  peer->gone = 1;
  ep->params.peer_state(ep->params.core_ep, peer->who, CWY_PEER_FAILED, "its socket is closed");
  return CWY_ERR_PEER_FAILED;
}

static cwy_status send_message(cwyc_conn* conn, struct header* header, const int32_t* args,
                               const void* payload, uint32_t flags) {
  const struct link* link = link_of(conn);
  if (link->purged || link->peer->gone) return CWY_ERR_PEER_FAILED;
  if (header->nargs) memcpy(header->args, args, header->nargs * sizeof *args);
  const int lane = flags & CWYC_LANE_REPLY ? LANE_REPLY : LANE_REQUEST;
  cwy_status status = send_to(conn->ep, link->peer, lane, header, payload);
  if (status == CWY_ERR_PEER_FAILED) status = peer_is_gone(conn->ep, link->peer);
  conn->ep->sent += status == CWY_OK;
  if (status == CWY_RETRY) conn->ep->starved = 1, ++conn->ep->retries;
  return status;
}

static cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                           uint32_t flags) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  struct header header = {.word = word, .kind = CWYC_AM_SHORT, .nargs = (uint16_t)nargs};
  return send_message(conn, &header, args, NULL, flags);
}

static cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                            cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS || length > conn->ep->domain->payload_max) return CWY_ERR_INVALID;
  struct header header = {
      .word = word, .kind = CWYC_AM_MEDIUM, .nargs = (uint16_t)nargs, .length = (uint32_t)length};
  return send_message(conn, &header, args, payload, flags);
}

/* ---- 4. Receiving --------------------------------------------------------------------------- */

/* Anybody on the host can send to the sockets, so nothing is believed that was not checked. */
static int is_genuine(const cwyc_ep* ep, const struct header* header, ssize_t received) {
  return received >= (ssize_t)sizeof *header &&
         header->cookie == (ep->address.cookie ^ ep->domain->job) &&
         header->length == (size_t)received - sizeof *header &&
         header->from.rank < services->job->size && header->nargs <= CWYC_AM_MAX_ARGS &&
         header->kind <= GOODBYE && header->kind != CWYC_AM_LONG &&
         (header->kind == CWYC_AM_MEDIUM || header->length == 0);
}

/* A replaced rank has a larger epoch: what its predecessor has sent and we not read is dropped. */
static int is_current(cwyc_ep* ep, cwy_peer from) {
  if (from.epoch < ep->newest[from.rank]) return 0;
  ep->newest[from.rank] = from.epoch;
  return 1;
}

/* The room of peers that are gone, or replaced, and that no connection leads to, is used again. */
static struct peer* meet(cwyc_ep* ep, cwy_peer who, uint64_t cookie) {
  struct peer *peer = ep->peers, *unused = NULL;
  for (; peer && peer->cookie != cookie; peer = peer->next)
    if (!peer->links && (peer->gone || peer->who.epoch < ep->newest[peer->who.rank])) unused = peer;
  if (peer) return peer;
  if (!unused) {
    if (!(unused = malloc(sizeof *unused))) return NULL;
    unused->next = ep->peers;
    ep->peers = unused;
  }
  *unused = (struct peer){.next = unused->next, .cookie = cookie, .who = who};
  for (int i = 0; i < LANES; i++) unused->to_len = name_of(cookie, i, &unused->to[i]);
  return unused;
}

static uint32_t receive(cwyc_ep* ep, int lane, uint32_t budget) {
  uint32_t count = 0;
  /* A request's handler may wait for room to reply, and the core then makes progress on replies:
   * from here into here, for the other lane. The same lane twice would share a buffer. */
  if (ep->busy[lane]) return 0;
  ep->busy[lane] = 1;
  while (count < budget) {
    struct header header;
    struct iovec pieces[2] = {{&header, sizeof header},
                              {ep->payload[lane], ep->domain->payload_max}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    const ssize_t received = recvmsg(ep->fd[lane], &message, MSG_DONTWAIT);
    if (received < 0) { /* EAGAIN: nothing there */
      ep->emptied += lane == LANE_REPLY;
      break;
    }
    count++;
    if (message.msg_flags & MSG_TRUNC || !is_genuine(ep, &header, received) ||
        !is_current(ep, header.from)) {
      ep->dropped++;
    } else if (header.kind >= HELLO) {
      struct peer* peer = meet(ep, header.from, header.word);
      if (peer) peer->gone = header.kind == GOODBYE;
    } else {
      ep->delivered++;
      ep->params.deliver(ep->params.core_ep, header.from, header.word, header.kind, header.args,
                         header.nargs, header.kind == CWYC_AM_MEDIUM ? ep->payload[lane] : NULL,
                         header.length);
    }
  }
  ep->busy[lane] = 0;
  return count;
}

/* Optional: who runs its handlers later keeps the payload instead of copying it. */
static cwy_status am_retain(cwyc_ep* ep, void* payload, void** kept) {
  for (int lane = 0; lane < LANES; lane++) {
    if (!ep->busy[lane] || payload != ep->payload[lane]) continue;
    unsigned char* const next = malloc(ep->domain->payload_max);
    if (!next) return CWY_ERR_NOMEM;
    ep->payload[lane] = next;
    *kept = payload;
    return CWY_OK;
  }
  return CWY_ERR_UNSUPPORTED;
}

static void am_release(cwyc_ep* ep, void* kept) {
  free(kept);
}

/* Replies first: they end operations and free buffers, requests make new work. */
static uint32_t progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  uint32_t count = receive(ep, LANE_REPLY, budget);
  if (lane == CWYC_PROGRESS_ALL && count < budget)
    count += receive(ep, LANE_REQUEST, budget - count);
  return count;
}

/* Optional: with a descriptor to sleep on, waiting ranks leave the processor to working ones. */
static cwy_status wait_fd(cwyc_ep* ep, int* fd) {
  *fd = ep->poll_fd;
  return CWY_OK;
}

/* Nobody tells of room in another's queue: a caller that waits for it does not sleep. */
static cwy_status arm(cwyc_ep* ep) {
  const int busy = ep->starved || epoll_wait(ep->poll_fd, &(struct epoll_event){0}, 1, 0) != 0;
  return ep->starved = 0, busy ? CWY_RETRY : CWY_OK;
}

/* ---- 5. Devices and domains ----------------------------------------------------------------- */

static cwy_status list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg,
                               cwy_err* err) {
  const cwyc_device device = {.head = CWY_HEAD(cwyc_device),
                              .name = "unix",
                              .description = "Unix datagram sockets of this host",
                              .path = "",
                              .numa_node = -1,
                              .state = CWYC_DEVICE_UP};
  fn(arg, &device);
  return CWY_OK;
}

static cwy_status domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                              cwyc_domain** out, cwy_err* err) {
  if (*params->device && strcmp(params->device, "unix") != 0)
    return fail(err, CWY_ERR_INVALID, "conduit uds has no device '%s'; its only one is 'unix'",
                params->device);
  struct stat network;
  if (stat("/proc/self/ns/net", &network) != 0)
    return fail(err, CWY_ERR_UNSUPPORTED, "conduit uds needs /proc to name the network namespace");
  cwyc_domain* domain = calloc(1, sizeof *domain);
  if (!domain) return fail(err, CWY_ERR_NOMEM, "conduit uds: out of memory");
  domain->network = network.st_ino;
  memcpy(&domain->job, params->job_key, sizeof domain->job);
  /* Checked against the manifest before we are asked to do anything: no parsing here. */
  services->opt_size(opts, "payload", &domain->payload_max);
  *out = domain;
  return CWY_OK;
}

static void domain_close(cwyc_domain* domain) {
  free(domain);
}

/* May be asked before the peer exists (`causeway explain`): then its address is NULL. */
static cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  if (!peer->same_host)
    return fail(err, CWY_ERR_UNREACHABLE, "a Unix socket ends at this host, the peer is on %s",
                peer->hostname ? peer->hostname : "another");
  if (!peer->address) return CWY_OK;
  if (peer->address_len != sizeof(struct address))
    return fail(err, CWY_ERR_UNREACHABLE, "the peer runs another version of conduit uds");
  struct address address;
  memcpy(&address, peer->address, sizeof address);
  if (address.network != domain->network)
    return fail(err, CWY_ERR_UNREACHABLE,
                "the peer is in another network namespace (another container)");
  return CWY_OK;
}

/* ---- 6. Endpoints --------------------------------------------------------------------------- */

/* A peer that reads nothing holds up the end for one second at most, all of them together. */
static void ep_close(cwyc_ep* ep) {
  int patience = 1000;
  for (struct peer *peer = ep->peers, *next; peer; peer = next) {
    while (!peer->gone && tell(ep, peer, GOODBYE) == CWY_RETRY && patience-- > 0) usleep(1000);
    next = peer->next;
    free(peer);
  }
  for (int lane = 0; lane < LANES; lane++) {
    if (ep->fd[lane] >= 0) close(ep->fd[lane]);
    free(ep->payload[lane]);
  }
  if (ep->poll_fd >= 0) close(ep->poll_fd);
  free(ep->newest);
  free(ep);
}

static int open_lane(cwyc_ep* ep, int lane) {
  struct sockaddr_un name;
  const socklen_t length = name_of(ep->address.cookie, lane, &name);
  const int fd = ep->fd[lane] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr*)&name, length) != 0) return -1;
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(ep->poll_fd, EPOLL_CTL_ADD, fd, &event) != 0) return -1;
  ep->payload[lane] = malloc(ep->domain->payload_max); /* aligned for any type */
  return ep->payload[lane] ? 0 : -1;
}

static cwy_status ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                          cwy_err* err) {
  cwyc_ep* ep = calloc(1, sizeof *ep);
  if (!ep) return fail(err, CWY_ERR_NOMEM, "conduit uds: out of memory");
  ep->domain = domain;
  memcpy(&ep->params, params,
         params->head.struct_size < sizeof *params ? params->head.struct_size : sizeof *params);
  if (ep->params.peer_state == NULL) ep->params.peer_state = services->peer_state;
  ep->fd[LANE_REQUEST] = ep->fd[LANE_REPLY] = -1;
  ep->address.network = domain->network;
  ep->poll_fd = epoll_create1(EPOLL_CLOEXEC);
  ep->newest = calloc(services->job->size, sizeof *ep->newest);
  if (!ep->newest || ep->poll_fd < 0 ||
      getrandom(&ep->address.cookie, sizeof ep->address.cookie, 0) !=
          (ssize_t)sizeof ep->address.cookie ||
      open_lane(ep, LANE_REQUEST) != 0 || open_lane(ep, LANE_REPLY) != 0) {
    const int why = errno;
    ep_close(ep);
    return fail(err, CWY_ERR_NOMEM, "conduit uds cannot open its sockets: %s", strerror(why));
  }
  *out = ep;
  return CWY_OK;
}

/* What is not mentioned is zero: no native put, get, long, registration. */
static cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const size_t room = attr->head.struct_size; /* the caller's, who may be older than this file */
  const cwyc_ep_attr ours = {.head = attr->head,
                             .caps = CWYC_CAP_WAIT_FD,
                             .conn_size = sizeof(struct link),
                             .ep_address_max = sizeof(struct address),
                             .am_medium_max = ep->domain->payload_max,
                             .speed = 1000000000,
                             .ops_tables = 1};
  memcpy(attr, &ours, room < sizeof ours ? room : sizeof ours);
  return CWY_OK;
}

static cwy_status ep_address(cwyc_ep* ep, void* buffer, uint64_t* length, cwy_err* err) {
  const uint64_t room = *length;
  *length = sizeof ep->address;
  if (room < *length)
    return fail(err, CWY_ERR_INVALID, "conduit uds needs %zu bytes for its address",
                sizeof ep->address);
  memcpy(buffer, &ep->address, sizeof ep->address);
  return CWY_OK;
}

static void ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  fn(arg, "sent", ep->sent);
  fn(arg, "delivered", ep->delivered);
  fn(arg, "retries", ep->retries);
  fn(arg, "dropped", ep->dropped);
}

/* ---- 7. Connections ------------------------------------------------------------------------- */

static cwy_status connect_peer(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer,
                               cwyc_op* op, cwy_err* err) {
  const cwy_status reachable = reach(ep->domain, peer, err);
  if (reachable != CWY_OK) return reachable;
  if (!peer->address || peer->peer.rank >= services->job->size)
    return fail(err, CWY_ERR_INVALID, "conduit uds got no address of a rank of the job");
  uint64_t cookie;
  memcpy(&cookie, peer->address, sizeof cookie);
  is_current(ep, peer->peer); /* ends older epochs */
  struct peer* met = meet(ep, peer->peer, cookie);
  if (!met) return fail(err, CWY_ERR_NOMEM, "conduit uds: out of memory");
  const cwy_status status = met->links ? CWY_OK : tell(ep, met, HELLO);
  if (status == CWY_RETRY) return status;
  if (status != CWY_OK) return fail(err, status, "the socket of the peer is closed");
  met->links++;
  *link_of(conn) = (struct link){.peer = met};
  return CWY_OK;
}

static void disconnect(cwyc_conn* conn) {
  link_of(conn)->peer->links--;
}

/* The core knows that the peer is dead. Nothing of ours is ever pending, so this is all. */
static void purge(cwyc_conn* conn) {
  link_of(conn)->purged = 1;
}

/* ---- 8. The tables and the one exported function -------------------------------------------- */

/* SERIAL: the core lets one thread in at a time, whatever the program does. */
static const cwyc_ops ops = {.head = CWY_HEAD(cwyc_ops),
                             .concurrency = CWYC_SERIAL,
                             .am_short = am_short,
                             .am_medium = am_medium};
static const cwyc_module the_module = {.head = CWY_HEAD(cwyc_module),
                                       .ops_count = 1,
                                       .ops = (const cwyc_ops* const[]){&ops},
                                       .list_devices = list_devices,
                                       .domain_open = domain_open,
                                       .domain_close = domain_close,
                                       .ep_open = ep_open,
                                       .ep_close = ep_close,
                                       .ep_query = ep_query,
                                       .ep_address = ep_address,
                                       .reach = reach,
                                       .connect = connect_peer,
                                       .disconnect = disconnect,
                                       .purge = purge,
                                       .progress = progress,
                                       .wait_fd = wait_fd,
                                       .arm = arm,
                                       .ep_stats = ep_stats,
                                       .am_retain = am_retain,
                                       .am_release = am_release};

CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* from_core, const cwyc_module** module,
                                       cwy_err* err) {
  services = from_core;
  *module = &the_module;
  return CWY_OK;
}
