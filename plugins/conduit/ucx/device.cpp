#include "device.h"

#include <uct/api/uct.h>

#include <vector>

namespace causeway::ucx {
namespace {

void add_resources(uct_md_h md, std::map<std::string, Device>& out) {
  uct_tl_resource_desc_t* resources = nullptr;
  unsigned count = 0;
  if (uct_md_query_tl_resources(md, &resources, &count) != UCS_OK) return;
  for (unsigned i = 0; i < count; ++i) {
    const uct_tl_resource_desc_t& r = resources[i];
    if (r.dev_type != UCT_DEVICE_TYPE_NET && r.dev_type != UCT_DEVICE_TYPE_SHM) continue;
    Device& device = out[r.dev_name];
    device.network = r.dev_type == UCT_DEVICE_TYPE_NET;
    if (!device.transports.empty()) device.transports += ", ";
    device.transports += r.tl_name;
  }
  uct_release_tl_resource_list(resources);
}

void add_component(uct_component_h component, std::map<std::string, Device>& out) {
  uct_component_attr_t attr{};
  attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (uct_component_query(component, &attr) != UCS_OK || attr.md_resource_count == 0) return;
  std::vector<uct_md_resource_desc_t> resources(attr.md_resource_count);
  attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attr.md_resources = resources.data();
  if (uct_component_query(component, &attr) != UCS_OK) return;
  for (const uct_md_resource_desc_t& resource : resources) {
    uct_md_config_t* config = nullptr;
    if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) continue;
    uct_md_h md = nullptr;
    if (uct_md_open(component, resource.md_name, config, &md) == UCS_OK) {
      add_resources(md, out);
      uct_md_close(md);
    }
    uct_config_release(config);
  }
}

std::map<std::string, Device> look() {
  std::map<std::string, Device> out;
  uct_component_h* components = nullptr;
  unsigned count = 0;
  if (uct_query_components(&components, &count) != UCS_OK) return out;
  for (unsigned i = 0; i < count; ++i) add_component(components[i], out);
  uct_release_component_list(components);
  return out;
}

}  // namespace

const std::map<std::string, Device>& find_devices() {
  static const std::map<std::string, Device> found = look();
  return found;
}

}  // namespace causeway::ucx
