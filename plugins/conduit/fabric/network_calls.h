// Calls that the engine makes of every network. Included within each `struct Network`, whose types
// these are, so without a guard. A call that some networks lack stands with the others.
//
// SPDX-License-Identifier: BSD-3-Clause

// ---- what is opened, and memory
static void list_devices(const Options&, cwyc_device_fn, void* arg);
static cwy_status open_domain(Domain&, const cwyc_domain_params&, cwy_err*);
static cwy_status open_endpoint(Endpoint&, cwy_err*);
static void describe(const Endpoint&, cwyc_ep_attr&);
static cwy_status register_segment(Domain*, const cwy_memref&, Mem&, cwy_err*);
static Rkey rkey_of(const RkeyBlob& blob);
static ReceiveBuffer* make_buffer(Endpoint*);
static void kept_done(Endpoint*, ReceiveBuffer*);
static uint32_t progress(Endpoint*, uint32_t budget, uint32_t lane);

// ---- links
static void retired(Link&, const Ticket&);
static void path_lost(Link&);
static void end_path(Link&);
static void purge_path(Link&);
static uint32_t push_connecting(Link&, uint64_t now);
static cwy_status reaches(const Domain*, const cwyc_peer_desc*, cwy_err*);
static cwy_status speaks_with(const Domain*, const cwyc_peer_desc*, Address&, cwy_err*);
static cwy_status begin_connect(Link&, const Address&, cwy_err*);
static cwy_status joined(Link&, const cwyc_peer_desc&, cwy_err*);

// ---- frames
static cwy_status may_send(Link&);
static cwy_status may_control(Link&);
static cwy_status send_at_once(Link&, const char* frame, size_t length);
static cwy_status send(Link&, Ticket*, const char* data, size_t length, LocalKey);
static cwy_status send_pieces(Link&, Ticket*, size_t head, size_t padding,
                              const fabric::Local<Network>& payload, size_t length);
static cwy_status write_and_send(Link&, fabric::Frame&, const void* payload, const Mem* lmem,
                                 size_t length, const Rkey&, bool copy, cwyc_op*);
static bool send_reserved(Link&, Ticket*, size_t length);

// ---- one-sided operations
static cwy_status may_post(Link&, uint32_t count);
static bool writes_at_once(const Endpoint*, size_t length, bool copy);
static cwy_status write(Link&, Ticket*, const fabric::Local<Network>&, size_t length,
                        uint64_t raddr, const Rkey&, bool at_once);
static cwy_status read(Link&, Ticket*, const fabric::Local<Network>&, size_t length, uint64_t raddr,
                       const Rkey&);
static cwy_status post_atomic(Link&, Ticket*, uint32_t operation, uint32_t type, const cwyc_atomic&,
                              const Rkey&);
