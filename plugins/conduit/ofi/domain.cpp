// Opening a provider's domain, and what may be relied on there.
#include <cstdlib>
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"
#include "slingshot.h"

namespace causeway::ofi {
namespace {

// Whether the visibility of a put can be known, and how.
cwy_status choose_delivery(cwyc_domain& d, cwy_err* err) {
  const Path& path = d.path;
  const bool complete = path.delivery_complete, read = path.ordered_write != 0;
  switch (d.options.delivery) {
    case Delivery::automatic:
      d.delivery_complete = complete;
      d.can_put = complete || read;
      return CWY_OK;
    case Delivery::complete:
      if (!complete)
        return report(err, CWY_ERR_INVALID,
                      "delivery: complete was asked for, but provider %s has no "
                      "FI_DELIVERY_COMPLETE; use delivery: auto",
                      path.provider.c_str());
      d.delivery_complete = d.can_put = true;
      return CWY_OK;
    case Delivery::read:
      if (!read)
        return report(err, CWY_ERR_INVALID,
                      "delivery: read was asked for, but provider %s does not order reads behind "
                      "writes; use delivery: auto",
                      path.provider.c_str());
      d.can_put = true;
      return CWY_OK;
    case Delivery::never:
      return CWY_OK;
  }
  return CWY_OK;
}

// Where libfabric has not found the job's credentials by itself.
void authorize(const Path& path, const cwyc_domain_params& params) {
  fi_domain_attr& attr = *path.info->domain_attr;
  if (path.provider != "cxi" || attr.auth_key != nullptr || attr.name == nullptr) return;
  const auto key =
      slingshot_key(attr.name, params.service_devices, params.service_ids, params.vnis);
  if (!key) return;
  attr.auth_key = static_cast<uint8_t*>(std::malloc(sizeof *key));  // fi_freeinfo() frees it
  if (attr.auth_key == nullptr) return;
  std::memcpy(attr.auth_key, &*key, sizeof *key);
  attr.auth_key_size = sizeof *key;
}

}  // namespace

cwy_status Network::open_domain(cwyc_domain& d, const cwyc_domain_params& params, cwy_err* err) {
  cwy_status status = choose_path(d.options, params.device, d.path, err);
  if (status == CWY_OK) status = choose_delivery(d, err);
  if (status != CWY_OK) return status;
  authorize(d.path, params);
  fi_info* info = d.path.info.get();
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  int error = fi_fabric(info->fabric_attr, &fabric, nullptr);
  d.fabric.reset(fabric);
  if (error == 0) error = fi_domain(fabric, info, &domain, nullptr);
  d.domain.reset(domain);
  if (error != 0)
    return report(err, CWY_ERR_UNREACHABLE, "provider %s cannot open domain %s: %s",
                  d.path.provider.c_str(), d.path.device.c_str(), fi_strerror(-error));
  d.leases = std::make_unique<Leases>(
      &d, d.options.registration_cache,
      Leases::Bounds{d.options.registration_cache_entries, d.options.registration_cache_bytes});
  log(CWY_LOG_INFO, "provider %s on %s, %s endpoints (%s)%s", d.path.provider.c_str(),
      d.path.device.c_str(), d.path.msg ? "connected" : "datagram", d.path.why.c_str(),
      d.can_put ? "" : "; puts go over active messages");
  return CWY_OK;
}

}  // namespace causeway::ofi
