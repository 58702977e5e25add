// All of the engine that a network's table needs: what the files of a network include.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "../common/signals_blocked.h"
#include "connections.h"
#include "memory.h"
#include "receive.h"
#include "transfers.h"

namespace causeway::fabric {

// The calls of a conduit's table that are the same for every network.
template <class N>
struct Engine : Transfers<N>, Connections<N>, Memory<N> {
  using Ep = typename N::Endpoint;
  using Domain = typename N::Domain;

  static constexpr uint32_t concurrency = CWYC_LOCKED;
  static constexpr auto* progress = &N::progress;

  static cwy_status list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg,
                                 cwy_err* err) {
    return guarded(err, [&]() -> cwy_status {
      typename N::Options options;
      const cwy_status status = options.read(opts, err);
      if (status == CWY_OK) N::list_devices(options, fn, arg);
      return status;
    });
  }

  static cwy_status domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                Domain** out, cwy_err* err) {
    return guarded(err, [&]() -> cwy_status {
      const SignalsBlocked blocked;
      auto domain = std::make_unique<Domain>();
      std::memcpy(&domain->job, params->job_key, sizeof domain->job);
      cwy_status status = domain->options.read(opts, err);
      if (status == CWY_OK) status = N::open_domain(*domain, *params, err);
      if (status == CWY_OK) *out = domain.release();
      return status;
    });
  }

  static cwy_status ep_open(Domain* domain, const cwyc_ep_params* params, Ep** out, cwy_err* err) {
    return guarded(err, [&]() -> cwy_status {
      const Pass pass(domain->gate);
      const SignalsBlocked blocked;
      auto ep = std::make_unique<Ep>();
      name_endpoint(*ep, domain, *params);
      domain->gate.raise(params->multithreaded != 0);
      ep->slabs = std::make_unique<Slabs<N>>(domain);
      const cwy_status status = N::open_endpoint(*ep, err);
      if (status != CWY_OK) return status;
      domain->eps.push_back(ep.get());
      *out = ep.release();
      N::endpoint_opened(*out);
      return CWY_OK;
    });
  }

  static void ep_close(Ep* ep) {
    Domain* const domain = ep->domain;
    const Pass pass(domain->gate);
    take_back_released(ep);
    leave_in_order(ep);
    destroy_links(ep);
    N::close_endpoint(ep);
    std::erase(domain->eps, ep);
    delete ep;
  }
};

}  // namespace causeway::fabric
