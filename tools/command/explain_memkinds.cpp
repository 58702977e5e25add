#include "explain_parts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kinds/device.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "loader/signal_keeper.h"
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
  for (const FormWord& f : kForms)
    if (forms & f.form) out += fmt::format("{}{}", out.empty() ? "" : ", ", f.word);
  return out.empty() ? "none" : out;
}

std::string staged(const std::string& name, const KindPolicy& policy, const cwym_attr& attr,
                   const MemkindPeer& peer) {
  if (policy.staging == KindPolicy::Staging::forbid) {
    return fmt::format("an error: {} exports {}, conduit {} registers {}, and staging is forbid",
                       name, form_words(attr.export_forms), peer.conduit, form_words(peer.forms));
  }
  const bool straight = peer.mapped && policy.staging == KindPolicy::Staging::allow;
  return fmt::format(
      "staged over conduit {}, which registers {}: {} buffers of {} bytes a direction{}",
      peer.conduit, form_words(peer.forms), policy.depth, policy.chunk,
      straight ? "; to and from host segments by one copy of the owner's device" : "");
}

std::string way(const std::string& name, const KindPolicy& policy, const cwym_attr& attr,
                const MemkindPeer& peer) {
  const bool always = policy.staging == KindPolicy::Staging::always;
  if (peer.locality == Locality::self)
    return always ? "through host buffers, because staging is always" : "copies of the kind";
  const uint64_t handles = attr.export_forms & attr.import_forms & CWY_FORM_IPC;
  if (peer.locality != Locality::remote && handles != 0 && policy.ipc && !always)
    return "copies of the kind, to memory opened through an IPC handle";
  if (peer.conduit.empty()) return "unreachable";
  const uint64_t common =
      attr.export_forms & peer.forms & uint64_t{CWY_FORM_DEVICE_VA | CWY_FORM_DMABUF};
  if (common != 0 && policy.native && !always)
    return fmt::format("by conduit {}, which registers {}", peer.conduit, form_words(common));
  return staged(name, policy, attr, peer);
}

struct Listed {
  int32_t first = -1;
  std::vector<std::string> texts;
};

std::string device_text(const cwym_device& d) {
  std::string out = fmt::format("device {}: {}", d.index, given(d.description, "(no description)"));
  if (const std::string path = given(d.path, ""); !path.empty()) out += " at " + path;
  if (d.numa_node >= 0) out += fmt::format(", NUMA node {}", d.numa_node);
  return out;
}

// The facts of one kind, in one form for people and for programs.
MemkindAnswer describe(const Config& config, MemkindPlugin& plugin,
                       const std::vector<MemkindPeer>& peers) {
  MemkindAnswer out;
  out.kind = plugin.manifest.name;
  out.summary = plugin.manifest.summary;
  Listed listed;
  const auto note = [](void* arg, const cwym_device* device) {
    if (device == nullptr) return;
    auto& to = *static_cast<Listed*>(arg);
    if (to.texts.empty()) to.first = device->index;
    to.texts.push_back(device_text(*device));
  };
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const SignalKeeper keeper;
  const PluginName whose{"memory kind", out.kind};
  const auto list = [&] { return plugin.module.list_devices(note, &listed, &err); };
  if (plugin_call(whose, "list_devices", list) != CWY_OK || listed.texts.empty()) {
    out.trouble = fmt::format("no device: {}", err.text[0] ? err.text : "none is present");
    return out;
  }
  out.devices = listed.texts;
  cwym_kind* kind = nullptr;
  const auto options = make_options(plugin.manifest, {}, {});
  const auto create = [&] {
    return plugin.module.create(as_c(options.get()), listed.first, nullptr, 0, &kind, &err);
  };
  cwy_status status = plugin_object(whose, "create", kind, err, create);
  if (status != CWY_OK) {
    out.trouble = fmt::format("cannot be used: {}", reason(err, status));
    return out;
  }
  cwym_attr attr{};
  attr.head = CWY_HEAD(cwym_attr);
  status = plugin_call(whose, "query", [&] { return plugin.module.query(kind, &attr); });
  if (status == CWY_OK) {
    out.exports = form_words(attr.export_forms);
    out.imports = form_words(attr.import_forms);
    const KindPolicy policy = kind_policy(config, out.kind);
    for (const MemkindPeer& peer : peers)
      out.ways.emplace_back(peer.who, way(out.kind, policy, attr, peer));
  }
  plugin.module.destroy(kind);
  return out;
}

void print_kind(const MemkindAnswer& kind) {
  const std::string title = "memory kind " + kind.kind;
  fmt::print("\n");
  print_folded(title + (kind.summary.empty() ? "" : " (" + kind.summary + ")"), "", title.size());
  for (const std::string& device : kind.devices) print_folded(device);
  if (!kind.trouble.empty()) print_folded(kind.trouble);
  if (kind.exports.empty()) return;
  fmt::print("  exports {}; imports {}\n", kind.exports, kind.imports);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [who, how] : kind.ways) rows.push_back({who, how});
  print_columns(rows);
}

std::string kind_json(const MemkindAnswer& kind) {
  const auto way_json = [](const auto& way) {
    return fmt::format(R"({{"peer":{},"how":{}}})", json_text(way.first), json_text(way.second));
  };
  return fmt::format(
      R"({{"kind":{},"summary":{},"devices":{},"trouble":{},"exports":{},"imports":{},"ways":{}}})",
      json_text(kind.kind), json_text(kind.summary), json_texts(kind.devices),
      kind.trouble.empty() ? "null" : json_text(kind.trouble), json_text(kind.exports),
      json_text(kind.imports), json_each(kind.ways, way_json));
}

}  // namespace

std::vector<MemkindAnswer> explain_memkinds(const Config& config, Loader& loader,
                                            const std::vector<MemkindPeer>& peers) {
  std::vector<MemkindAnswer> out;
  for (const std::string& name : config.memkind_plugins) {
    if (name == "host") continue;  // every conduit reaches it
    if (MemkindPlugin* const plugin = loader.memkind(name)) {
      out.push_back(describe(config, *plugin, peers));
    } else {
      out.emplace_back().kind = name;
      out.back().trouble = "cannot be loaded";
    }
  }
  return out;
}

void print_memkinds(const std::vector<MemkindAnswer>& kinds) {
  for (const MemkindAnswer& kind : kinds) print_kind(kind);
}

std::string memkinds_json(const std::vector<MemkindAnswer>& kinds) {
  return json_each(kinds, kind_json);
}

}  // namespace causeway::command
