// The calls of the conduit's table, and which front serves given options.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "objects.h"

namespace causeway::failover {

Front* front_of(const cwy_options* opts);

cwy_status domain_open(const cwy_options*, const cwyc_domain_params*, cwyc_domain**, cwy_err*);
void domain_close(cwyc_domain*);
cwy_status ep_open(cwyc_domain*, const cwyc_ep_params*, cwyc_ep**, cwy_err*);
void ep_close(cwyc_ep*);
cwy_status ep_query(cwyc_ep*, cwyc_ep_attr*);
cwy_status ep_address(cwyc_ep*, void*, uint64_t*, cwy_err*);
cwy_status wiring(cwyc_ep*, cwy_peer, void*, uint64_t*, cwy_err*);
cwy_status ep_threads(cwyc_ep*, uint32_t);
cwy_status wait_fd(cwyc_ep*, int*);
void ep_stats(cwyc_ep*, cwyc_stat_fn, void*);
void ep_traffic(cwyc_ep*, cwyc_traffic_fn, void*);
cwy_status reach(cwyc_domain*, const cwyc_peer_desc*, cwy_err*);
cwy_status connect(cwyc_ep*, cwyc_conn*, const cwyc_peer_desc*, cwyc_op*, cwy_err*);
void disconnect(cwyc_conn*);
void purge(cwyc_conn*);

cwyc_ops make_operations();

}  // namespace causeway::failover
