#include "launch/start_order.h"

#include <unistd.h>

#include "base/error.h"
#include "launch/wire.h"

namespace causeway::launch {
namespace {

constexpr std::string_view kOfThisHost[] = {"DISPLAY",
                                            "HOME",
                                            "HOST",
                                            "HOSTNAME",
                                            "LOGNAME",
                                            "MAIL",
                                            "OLDPWD",
                                            "PWD",
                                            "SHELL",
                                            "SHLVL",
                                            "TERM",
                                            "TMPDIR",
                                            "USER",
                                            "WAYLAND_DISPLAY",
                                            "WINDOWID",
                                            "XAUTHORITY",
                                            "_",
                                            "CAUSEWAY_SESSION_DIR",
                                            "CAUSEWAY_RANKS"};
constexpr std::string_view kFamiliesOfThisHost[] = {
    "BASH_FUNC_", "DBUS_", "OMPI_COMM_", "ORTE_", "PMI_", "PMIX_", "SLURM_", "SSH_", "XDG_"};

bool portable(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  if (name.rfind("PMIX_MCA_", 0) == 0) return true;
  for (const std::string_view one : kOfThisHost)
    if (name == one) return false;
  for (const std::string_view family : kFamiliesOfThisHost)
    if (name.rfind(family, 0) == 0) return false;
  return true;
}

}  // namespace

std::vector<std::string> portable_environment() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (portable(*entry)) list.emplace_back(*entry);
  return list;
}

template <typename Order, typename Each>
void StartOrder::each_field(Order& order, Each each) {
  auto& [job_id, job_key, ranks, spares, survives, hosts, host_of] = order.layout;
  auto& [bind, display, numa_in_turn] = order.binding;
  each(job_id, job_key, ranks, spares, survives, hosts, host_of, order.host, order.programs,
       order.directory, order.environment, bind, display, numa_in_turn, order.stdin_process,
       order.kill_grace_s, order.peer_s);
}

std::string StartOrder::pack() const {
  Packer out;
  each_field(*this, [&](const auto&... fields) { (out.put(fields), ...); });
  return out.take();
}

StartOrder StartOrder::unpack(std::string_view bytes) {
  Unpacker in(bytes);
  StartOrder order;
  each_field(order, [&](auto&... fields) { (in.take(fields), ...); });
  const JobLayout& layout = order.layout;
  bool sound = order.host < layout.hosts.size() && layout.host_of.size() == layout.processes() &&
               !order.programs.empty() && layout.job_id.find('/') == std::string::npos;
  for (const uint32_t host : layout.host_of) sound = sound && host < layout.hosts.size();
  for (const Program& program : order.programs) sound = sound && !program.command.empty();
  if (!sound) throw Error(CWY_ERR_INVALID, "the order to start contradicts itself");
  return order;
}

}  // namespace causeway::launch
