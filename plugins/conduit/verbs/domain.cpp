// Opening a device's port, and what may be relied on there.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../common/plugin_error.h"
#include "../common/cpu_atomics.h"
#include "../common/descriptor.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr int most_reads_at_once = 16;

// The exponent of 4.096 us whose wait is nearest below `ns`. A packet is sent seven times in all
// before the peer counts as dead, and adapters may wait up to four times as long.
uint8_t ack_exponent(const Options& options) {
  constexpr uint64_t longest_automatic = 540'000'000;
  uint64_t ns = options.ack_timeout_ns;
  if (ns == 0)
    ns = options.peer_timeout_ns == 0 ? longest_automatic
                                      : std::min(options.peer_timeout_ns / 16, longest_automatic);
  uint8_t exponent = 12;  // 17 ms: below this, a busy host looks like a dead one
  while (exponent < 24 && (4096ull << (exponent + 1)) <= ns) ++exponent;
  return exponent;
}

// Sums and compare-and-swap of 64-bit integers are all that adapters know; increments, decrements,
// subtractions and reads are sums in disguise.
void declare_atomics(cwyc_domain& d) {
  using namespace cpu_atomics;
  if (d.options.atomics == Native::never || d.port.device.atomic_cap == IBV_ATOMIC_NONE) return;
  uint64_t operations = 0;
  for (const uint32_t sum : {op_add, op_sub, op_inc, op_dec})
    operations |= 1ull << sum | 1ull << (sum + fetching);
  operations |= 1ull << op_get | 1ull << op_cas | 1ull << op_fcas;
  d.atomic_ops[i64] = d.atomic_ops[u64] = operations;
}

// A driver that registers dma-bufs complains of the descriptor, one that does not of the call.
bool registers_dmabufs(ibv_pd* pd) {
  const auto page = static_cast<size_t>(getpagesize());
  errno = 0;
  ibv_mr* const mr = ibv_reg_dmabuf_mr(pd, 0, page, 0, -1, IBV_ACCESS_LOCAL_WRITE);
  if (mr != nullptr) ibv_dereg_mr(mr);
  return mr != nullptr || errno == EBADF;
}

}  // namespace

cwy_status Network::open_domain(cwyc_domain& d, const cwyc_domain_params& params, cwy_err* err) {
  if (const cwy_status status = choose_port(d.options, params.device, d.port, err);
      status != CWY_OK)
    return status;
  d.pd.reset(ibv_alloc_pd(d.port.context.get()));
  if (d.pd == nullptr)
    return report(err, CWY_ERR_UNREACHABLE, "%s cannot make a protection domain: %s%s",
                  d.port.name.c_str(), std::strerror(errno), memlock_advice().c_str());
  const ibv_device_attr& limits = d.port.device;
  d.rd_atomic = static_cast<uint8_t>(std::clamp(limits.max_qp_rd_atom, 1, most_reads_at_once));
  d.rd_initiate =
      static_cast<uint8_t>(std::clamp(limits.max_qp_init_rd_atom, 1, most_reads_at_once));
  if (d.options.first_contact == FirstContact::thread) d.gate.expect_visits();
  d.ack_timeout = ack_exponent(d.options);
  d.pid_namespace = static_cast<uint32_t>(pid_namespace());
  declare_atomics(d);
  d.dmabuf = registers_dmabufs(d.pd.get());
  d.leases =
      std::make_unique<Leases>(&d, d.options.registration_cache,
                               Leases::Bounds{UINT64_MAX, d.options.registration_cache_bytes});
  if (const int error = probe_queue_pair(&d); error != 0)
    return report(err, CWY_ERR_UNREACHABLE, "%s cannot make a queue pair: %s%s",
                  d.port.name.c_str(), std::strerror(error), memlock_advice().c_str());
  const int fd = d.port.context->async_fd;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  log(CWY_LOG_INFO, "%s: %s, %u work requests per connection, %u bytes inline", d.port.name.c_str(),
      d.port.about.c_str(), d.tx_depth, d.inline_max);
  return CWY_OK;
}

}  // namespace causeway::verbs
