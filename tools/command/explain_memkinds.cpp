#include "explain_memkinds.h"

#include <fmt/format.h>

#include "diag/error.h"
#include "loader/signal_keeper.h"
#include "memkind/device.h"
#include "text.h"

namespace causeway::command {
namespace {

struct FormWord {
  uint32_t form;
  const char* word;
};
constexpr FormWord kForms[] = {{CWY_FORM_HOST_VA, "HOST_VA"},
                               {CWY_FORM_DEVICE_VA, "DEVICE_VA"},
                               {CWY_FORM_DMABUF, "DMABUF"},
                               {CWY_FORM_IPC, "IPC"}};

std::string form_words(uint64_t forms) {
  std::string out;
  for (const FormWord& f : kForms) {
    if (forms & f.form) out += fmt::format("{}{}", out.empty() ? "" : ", ", f.word);
  }
  return out.empty() ? "none" : out;
}

std::string staged(const std::string& name, const KindPolicy& policy, const cwym_attr& attr,
                   const MemkindPeer& peer) {
  if (policy.staging == KindPolicy::Staging::forbid) {
    return fmt::format("an error: {} exports {}, conduit {} registers {}, and staging is forbid",
                       name, form_words(attr.export_forms), peer.conduit, form_words(peer.forms));
  }
  return fmt::format("staged over conduit {}, which registers {}: {} buffers of {} bytes a direction",
                     peer.conduit, form_words(peer.forms), policy.depth, policy.chunk);
}

std::string way(const std::string& name, const KindPolicy& policy, const cwym_attr& attr,
                const MemkindPeer& peer) {
  const bool always = policy.staging == KindPolicy::Staging::always;
  if (peer.locality == Locality::self) {
    return always ? "through host buffers, because staging is always" : "copies of the kind";
  }
  const uint64_t handles = attr.export_forms & attr.import_forms & CWY_FORM_IPC;
  if (peer.locality != Locality::remote && handles != 0 && policy.ipc && !always) {
    return "copies of the kind, to memory opened through an IPC handle";
  }
  if (peer.conduit.empty()) return "unreachable";
  const uint64_t common =
      attr.export_forms & peer.forms & uint64_t{CWY_FORM_DEVICE_VA | CWY_FORM_DMABUF};
  if (common != 0 && policy.native && !always) {
    return fmt::format("by conduit {}, which registers {}", peer.conduit, form_words(common));
  }
  return staged(name, policy, attr, peer);
}

void print_kind(const Config& config, MemkindPlugin& plugin,
                const std::vector<MemkindPeer>& peers) {
  const std::string& name = plugin.manifest.name;
  fmt::print("\n{} ({})\n", bold("memory kind " + name), plugin.manifest.summary);
  struct Listed {
    int32_t first = -1;
    std::string text;
  } listed;
  const auto note = [](void* arg, int32_t device, const char* description) {
    auto& out = *static_cast<Listed*>(arg);
    if (out.text.empty()) out.first = device;
    out.text += fmt::format("  device {}: {}\n", device, description);
  };
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const SignalKeeper keeper;
  if (plugin.module.list_devices(note, &listed, &err) != CWY_OK || listed.text.empty()) {
    fmt::print("  no device: {}\n", err.text[0] ? err.text : "none is present");
    return;
  }
  fmt::print("{}", listed.text);
  cwym_kind* kind = nullptr;
  const auto options = make_options(plugin.manifest, {}, {});
  cwy_status status =
      plugin.module.create(as_c(options.get()), listed.first, nullptr, 0, &kind, &err);
  if (status != CWY_OK) {
    fmt::print("  cannot be used: {}\n", err.text[0] ? err.text : status_name(status));
    return;
  }
  cwym_attr attr{};
  attr.head = CWY_HEAD(cwym_attr);
  status = plugin.module.query(kind, &attr);
  if (status == CWY_OK) {
    fmt::print("  exports {}; imports {}\n", form_words(attr.export_forms),
               form_words(attr.import_forms));
    const KindPolicy policy = kind_policy(config, name);
    std::vector<std::vector<std::string>> rows;
    for (const MemkindPeer& peer : peers) rows.push_back({peer.who, way(name, policy, attr, peer)});
    print_columns(rows);
  }
  plugin.module.destroy(kind);
}

}  // namespace

void print_memkinds(const Config& config, Loader& loader, const std::vector<MemkindPeer>& peers) {
  for (const std::string& name : config.memkind_plugins) {
    if (name == "host") continue;  // every conduit reaches it
    MemkindPlugin* const plugin = loader.memkind(name);
    if (plugin == nullptr) {
      fmt::print("\n{}\n  cannot be loaded\n", bold("memory kind " + name));
      continue;
    }
    print_kind(config, *plugin, peers);
  }
}

}  // namespace causeway::command
