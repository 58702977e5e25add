#include "cables.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "calls.h"

namespace causeway::eth {
namespace {

const char* name_in(const nlmsghdr* message) {
  auto left = static_cast<int>(IFLA_PAYLOAD(message));
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(message));
  for (const rtattr* a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left))
    if (a->rta_type == IFLA_IFNAME) return static_cast<const char*>(RTA_DATA(a));
  return nullptr;
}

void hear(cwyc_ep* ep, const nlmsghdr* message) {
  const bool changed = message->nlmsg_type == RTM_NEWLINK;
  const char* const name =
      changed || message->nlmsg_type == RTM_DELLINK ? name_in(message) : nullptr;
  const auto& all = ep->domain->interfaces;
  const auto is_it = [&](const Interface& i) { return i.name == name; };
  if (name == nullptr || std::none_of(all.begin(), all.end(), is_it)) return;
  const unsigned flags = static_cast<const ifinfomsg*>(NLMSG_DATA(message))->ifi_flags;
  const char* why = nullptr;
  if (!changed)
    why = "the interface was removed";
  else if ((flags & IFF_UP) == 0)
    why = "the interface was switched off";
  else if ((flags & IFF_RUNNING) == 0)
    why = "its link is lost";
  services->device_state(ep->params.core_ep, name, why ? CWYC_DEVICE_DOWN : CWYC_DEVICE_UP,
                         why ? why : "its link is there");
}

}  // namespace

Descriptor watch_cables() {
  Descriptor news(socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl links{};
  links.nl_family = AF_NETLINK;
  links.nl_groups = RTMGRP_LINK;
  if (news && bind(news.get(), reinterpret_cast<sockaddr*>(&links), sizeof links) != 0)
    return Descriptor();
  return news;
}

void hear_of_cables(cwyc_ep* ep) {
  alignas(nlmsghdr) char bytes[8192];
  sockaddr_nl from{};
  for (;;) {
    iovec room{bytes, sizeof bytes};
    msghdr header{};
    header.msg_name = &from;
    header.msg_namelen = sizeof from;
    header.msg_iov = &room;
    header.msg_iovlen = 1;
    const ssize_t got = recvmsg(ep->cables.get(), &header, 0);
    if (got <= 0) return;
    if (from.nl_pid != 0) continue;  // not the kernel's
    auto left = static_cast<unsigned>(got);
    for (const auto* m = reinterpret_cast<const nlmsghdr*>(bytes); NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left))
      hear(ep, m);
  }
}

}  // namespace causeway::eth
