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
  for (const std::string_view one : kOfThisHost) {
    if (name == one) return false;
  }
  for (const std::string_view family : kFamiliesOfThisHost) {
    if (name.rfind(family, 0) == 0) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> portable_environment() {
  std::vector<std::string> list;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (portable(*entry)) list.emplace_back(*entry);
  }
  return list;
}

std::string StartOrder::pack() const {
  Packer out;
  out.text(layout.job_id).number(layout.ranks).number(layout.spares);
  out.number(static_cast<uint32_t>(layout.survives)).texts(layout.hosts).numbers(layout.host_of);
  out.number(host).texts(command).text(directory).texts(environment);
  out.number(stdin_process ? static_cast<int64_t>(*stdin_process) : int64_t{-1});
  out.number(kill_grace_s).number(peer_s);
  return out.bytes();
}

StartOrder StartOrder::unpack(std::string_view bytes) {
  Unpacker in(bytes);
  StartOrder order;
  order.layout.job_id = in.text();
  order.layout.ranks = in.number<uint32_t>();
  order.layout.spares = in.number<uint32_t>();
  order.layout.survives = in.number<uint32_t>() != 0;
  order.layout.hosts = in.texts();
  order.layout.host_of = in.numbers();
  order.host = in.number<uint32_t>();
  order.command = in.texts();
  order.directory = in.text();
  order.environment = in.texts();
  const auto stdin_process = in.number<int64_t>();
  if (stdin_process >= 0) order.stdin_process = static_cast<uint32_t>(stdin_process);
  order.kill_grace_s = in.number<double>();
  order.peer_s = in.number<double>();
  const JobLayout& layout = order.layout;
  bool sound = order.host < layout.hosts.size() && layout.host_of.size() == layout.processes() &&
               !order.command.empty() && layout.job_id.find('/') == std::string::npos;
  for (const uint32_t host : layout.host_of) sound = sound && host < layout.hosts.size();
  if (!sound) throw Error(CWY_ERR_INVALID, "the order to start contradicts itself");
  return order;
}

}  // namespace causeway::launch
