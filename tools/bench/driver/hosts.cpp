#include "hosts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "capture.h"

namespace causeway::bench {
namespace {

// $1: make or remove; $2: the bridge, which the names of the hosts begin with; $3: the first three
// parts of addresses, of the network that RFC 2544 reserves for benchmarks; $4: how many.
constexpr const char* kScript = R"(exec 2>&1
remove() {
  for host in $(ip netns list | sed -n "s/^\($1-[0-9]*\).*/\1/p"); do ip netns del $host; done
  ip link del $1
}
[ $1 = make ] || { remove $2; exit; }
for stale in $(ip netns list | sed -n 's/^cwyh\([0-9]*\)-.*/\1/p' | sort -u); do
  [ -d /proc/$stale ] || remove cwyh$stale
done
set -e
ip link add $2 type bridge
ip addr add $3.1/24 dev $2
ip link set $2 up
for i in $(seq 2 $(($4 + 1))); do
  ip netns add $2-$i
  ip link add $2-$i type veth peer name cwy0 netns $2-$i
  ip link set $2-$i master $2 up
  ip -n $2-$i addr add $3.$i/24 dev cwy0
  ip -n $2-$i link set cwy0 up
  ip -n $2-$i link set lo up
done)";

}  // namespace

Hosts::Hosts(unsigned count)
    : name_(fmt::format("cwyh{}", getpid())),
      network_(fmt::format("198.18.{}", getpid() % 256)),
      count_(count) {
  const std::string failed = run("make");
  if (failed.empty()) return;
  run("remove");
  throw std::runtime_error(
      fmt::format("--hosts makes network namespaces, which needs root and iproute2: {}", failed));
}

std::string Hosts::run(const std::string& what) const {
  const Captured done =
      run_captured({"/bin/sh", "-c", kScript, "sh", what, name_, network_, std::to_string(count_)});
  if (done.status == 0) return {};
  return done.lines.empty() ? fmt::format("status {}", done.status) : done.lines.back();
}

std::vector<std::string> Hosts::options() const {
  std::string names;
  for (unsigned i = 2; i < count_ + 2; ++i)
    names += fmt::format("{}{}-{}", names.empty() ? "" : ",", name_, i);
  return {"--hosts", names, "--address", network_ + ".1", "--agent", "ip netns exec %h"};
}

}  // namespace causeway::bench
