#include "objects.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../common/plugin_error.h"
#include "../common/adapter_facts.h"

namespace causeway::verbs {
namespace {

constexpr uint32_t soft_roce_vendor = 0xffffff;

struct FreeList {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device*[], FreeList>;

DeviceList devices(int& count) {
  count = 0;
  return DeviceList(ibv_get_device_list(&count));
}

bool is_ipv4(const ibv_gid& gid) {
  static constexpr uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, mapped, sizeof mapped) == 0;
}
bool is_link_local(const ibv_gid& gid) {
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}
bool is_zero(const ibv_gid& gid) {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw),
                     [](uint8_t byte) { return byte == 0; });
}

Addressing network_of(const ibv_gid_entry& entry) {
  if (entry.gid_type == IBV_GID_TYPE_IB) return Addressing::infiniband;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) return Addressing::roce_v1;
  if (is_ipv4(entry.gid)) return Addressing::roce_v2_ipv4;
  return is_link_local(entry.gid) ? Addressing::roce_v2_local : Addressing::roce_v2_ipv6;
}

// Higher is better. An IPv4 address works on every RoCE network that has one; a link-local one does
// not leave its segment; version 1 cannot be routed at all.
int rank_of(Addressing network) {
  switch (network) {
    case Addressing::infiniband:
    case Addressing::roce_v2_ipv4:
      return 4;
    case Addressing::roce_v2_ipv6:
      return 3;
    case Addressing::roce_v2_local:
      return 2;
    case Addressing::roce_v1:
      return 1;
  }
  return 0;
}

bool choose_gid(const Options& options, const ibv_port_attr& attr, Port& port, std::string& why) {
  int best = 0;
  const int table = std::min<int>(attr.gid_tbl_len, 256);
  for (int i = 0; i < table; ++i) {
    if (options.gid_index >= 0 && i != options.gid_index) continue;
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(port.context.get(), port.number, static_cast<uint32_t>(i), &entry, 0) !=
            0 ||
        is_zero(entry.gid))
      continue;
    const Addressing network = network_of(entry);
    if (rank_of(network) <= best) continue;
    best = rank_of(network);
    port.gid = entry.gid;
    port.gid_index = static_cast<uint8_t>(i);
    port.network = network;
    // The subnet manager's first entry is the one for InfiniBand.
    if (network == Addressing::infiniband) break;
  }
  if (best != 0) return true;
  why = options.gid_index >= 0 ? "has no GID at index " + std::to_string(options.gid_index) +
                                     "; see show_gids or ibv_devinfo -v"
                               : "has no GID: its network interface needs an address";
  return false;
}

ibv_mtu mtu_of(uint64_t bytes) {
  for (int mtu = IBV_MTU_256; mtu < IBV_MTU_4096; ++mtu)
    if (bytes <= 128ull << mtu) return static_cast<ibv_mtu>(mtu);
  return IBV_MTU_4096;
}

// Per lane and second, from the codes of the port.
double speed_of(const ibv_port_attr& attr) {
  const double width = attr.active_width == 1   ? 1
                       : attr.active_width == 2 ? 4
                       : attr.active_width == 4 ? 8
                       : attr.active_width == 8 ? 12
                                                : 2;
  double gbit = 2.5;
  switch (attr.active_speed) {
    case 2:
      gbit = 5;
      break;
    case 4:
    case 8:
      gbit = 10;
      break;
    case 16:
      gbit = 14;
      break;
    case 32:
      gbit = 25;
      break;
    case 64:
      gbit = 50;
      break;
    case 128:
      gbit = 100;
      break;
    default:
      break;
  }
  return width * gbit * 1e9 / 8;
}

const char* state_text(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "is down: no cable, or its network interface is not up";
    case IBV_PORT_INIT:
    case IBV_PORT_ARMED:
      return "is not active yet: no subnet manager has configured it";
    default:
      return "is not active";
  }
}

// One port of an opened device. False with the reason.
bool inspect(const Options& options, Port& port, std::string& why) {
  ibv_port_attr attr{};
  if (const int error = ibv_query_port(port.context.get(), port.number, &attr); error != 0) {
    why = std::string("cannot be queried: ") + std::strerror(error);
    return false;
  }
  if (attr.state != IBV_PORT_ACTIVE) {
    why = state_text(attr.state);
    return false;
  }
  if (!choose_gid(options, attr, port, why)) return false;
  port.lid = attr.lid;
  port.mtu = attr.active_mtu;
  if (options.mtu != 0) {
    const ibv_mtu wished = mtu_of(options.mtu);
    if (wished > attr.active_mtu) {
      why = "carries packets of " + std::to_string(128u << attr.active_mtu) +
            " bytes, fewer than mtu: " + std::to_string(options.mtu);
      return false;
    }
    port.mtu = wished;
  }
  port.max_message = attr.max_msg_sz;
  port.bytes_per_second = speed_of(attr);
  port.software = port.device.vendor_id == soft_roce_vendor;
  port.about = std::string(port.software ? "soft-RoCE (in software), " : "") +
               network_text(port.network) + ", GID index " + std::to_string(port.gid_index) +
               ", MTU " + std::to_string(128u << port.mtu);
  return true;
}

// Opens `device` for port `number`. False with the reason.
bool open(const Options& options, ibv_device* device, uint8_t number, Port& port,
          std::string& why) {
  port = Port{};
  port.number = number;
  port.name = std::string(ibv_get_device_name(device)) + ":" + std::to_string(number);
  if (device->transport_type == IBV_TRANSPORT_IWARP) {
    why =
        "is an iWARP device, which has no datagrams to make connections with; use the conduit ofi";
    return false;
  }
  port.context.reset(ibv_open_device(device));
  if (port.context == nullptr) {
    why = std::string("cannot be opened (") + std::strerror(errno) +
          "): may this user read and write /dev/infiniband/" + device->dev_name + "?";
    return false;
  }
  if (ibv_query_device(port.context.get(), &port.device) != 0) {
    why = "cannot be queried";
    return false;
  }
  if (port.device.max_srq == 0) {
    why = "has no shared receive queues";
    return false;
  }
  if (number == 0 || number > port.device.phys_port_cnt) {
    why = "does not exist: the device has ports 1 to " + std::to_string(port.device.phys_port_cnt);
    return false;
  }
  return inspect(options, port, why);
}

// Calls fn(port, "") for usable ports and fn(port with its name, why) for others.
template <class Fn>
void walk(const Options& options, Fn&& fn) {
  int count = 0;
  const DeviceList list = devices(count);
  for (int i = 0; i < count; ++i) {
    uint8_t ports = 1;
    for (uint8_t number = 1; number <= ports; ++number) {
      Port port;
      std::string why;
      if (!open(options, list[static_cast<size_t>(i)], number, port, why) && why.empty())
        why = "is not usable";
      if (port.context != nullptr && port.device.phys_port_cnt > ports)
        ports = port.device.phys_port_cnt;
      fn(std::move(port), why);
    }
  }
}

std::string no_device_text() {
  if (access("/sys/class/infiniband", F_OK) != 0)
    return "this host has no RDMA device: /sys/class/infiniband is missing, so no driver of one is "
           "loaded";
  return "this host has no RDMA device that libibverbs knows: see ls /sys/class/infiniband and the "
         "package ibverbs-providers";
}

}  // namespace

const char* network_text(Addressing network) {
  switch (network) {
    case Addressing::infiniband:
      return "InfiniBand";
    case Addressing::roce_v1:
      return "RoCE v1";
    case Addressing::roce_v2_ipv4:
      return "RoCE v2 over IPv4";
    case Addressing::roce_v2_ipv6:
      return "RoCE v2 over IPv6";
    case Addressing::roce_v2_local:
      return "RoCE v2 over link-local IPv6";
  }
  return "a network of another version of this conduit";
}

// Every port of this host: real devices, devices in software, then those that cannot be used.
void Network::list_devices(const Options& options, cwyc_device_fn fn, void* arg) {
  struct Listed {
    std::string name, about;
    AdapterFacts facts;
  };
  std::vector<Listed> rest[2];  // in software, and not usable
  walk(options, [&](Port&& port, const std::string& why) {
    Listed listed{port.name, why.empty() ? port.about : why,
                  rdma_facts(port.name.substr(0, port.name.rfind(':')), port.number)};
    if (why.empty() && !port.software)
      return tell_device(fn, arg, port.name, port.about, listed.facts);
    if (!why.empty()) listed.facts.state = CWYC_DEVICE_DOWN;
    rest[why.empty() ? 0 : 1].push_back(std::move(listed));
  });
  for (const auto& list : rest)
    for (const Listed& l : list) tell_device(fn, arg, l.name, l.about, l.facts);
}

cwy_status choose_port(const Options& options, const std::string& wish, Port& out, cwy_err* err) {
  // A rank that forks keeps the pages that the adapter knows. Kernels since 5.12 give the child the
  // copies by themselves; older ones leave it without these pages, and have to be asked before
  // anything is registered, which fails where a program has registered before. Without the variable
  // they would refuse parts of huge pages then.
  setenv("RDMAV_HUGEPAGES_SAFE", "1", 0);
  ibv_fork_init();
  std::string known, reason;
  bool found = false, named = false, any = false;
  walk(options, [&](Port&& port, const std::string& why) {
    any = true;
    known += (known.empty() ? "" : ", ") + port.name;
    const bool match =
        wish.empty() || port.name == wish || port.name.compare(0, port.name.rfind(':'), wish) == 0;
    if (!match) return;
    named = true;
    if (!why.empty()) {
      reason += (reason.empty() ? "" : "; ") + port.name + " " + why;
      return;
    }
    // The first one, but hardware before software.
    if (found && !(out.software && !port.software)) return;
    found = true;
    out = std::move(port);
  });
  if (found) return CWY_OK;
  if (!any) return report(err, CWY_ERR_UNREACHABLE, "%s", no_device_text().c_str());
  if (!named)
    return report(err, CWY_ERR_INVALID, "there is no RDMA device '%s' here; there is %s",
                  wish.c_str(), known.c_str());
  return report(err, CWY_ERR_UNREACHABLE, "no RDMA port is usable: %s", reason.c_str());
}

std::string memlock_advice() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return "; this process may lock " + std::to_string(limit.rlim_cur >> 10) +
         " KiB of memory (ulimit -l): raise the limit, in /etc/security/limits.conf or with "
         "LimitMEMLOCK=infinity where a service starts the job";
}

}  // namespace causeway::verbs
