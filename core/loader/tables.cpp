#include "loader/tables.h"

#include <causeway/operations.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "fmt/ranges.h"
#include "loader/one_line.h"
#include "loader/stubs.h"

namespace causeway {
namespace {

// Larger than any table will ever be: a head that was never filled, or not a table at all.
constexpr uint32_t kAbsurdSize = 64 * 1024;
constexpr uint32_t kMostTables = 64;
constexpr uint32_t kMostCandidates = 4096;

template <typename... Args>
[[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(CWY_ERR_INVALID, format, std::forward<Args>(args)...);
}

// Members the plugin's minor does not know stay zero; members the core's minor does not know are
// left behind. A member that lies only partly inside struct_size is not there.
template <typename Table>
Table copy_table(const Table* theirs, const char* what) {
  if (theirs == nullptr) reject("{} is NULL", what);
  const cwy_head head = theirs->head;
  if (head.struct_size < sizeof(cwy_head) || head.struct_size > kAbsurdSize)
    reject("{} has head.struct_size {}: fill the head with CWY_HEAD()", what, head.struct_size);
  if (head.major != CWY_PLUGIN_MAJOR)
    reject("{} is of plugin interface major {}, expected {}", what, head.major, CWY_PLUGIN_MAJOR);
  Table ours{};
  const size_t known = std::min<size_t>(head.struct_size, sizeof(Table)) & ~size_t{7};
  std::memcpy(static_cast<void*>(&ours), theirs, known);
  ours.head.struct_size = sizeof(Table);
  return ours;
}

// Collects what a table lacks, so that one message names everything.
class Required {
 public:
  // Entries, each before its name.
  template <typename Entry, typename... More>
  void need(Entry entry, const char* name, More... more) {
    if (entry == nullptr) missing_.push_back(name);
    if constexpr (sizeof...(more) > 0) need(more...);
  }
  // `entry` where its partner is there.
  template <typename Partner, typename Entry>
  void pair(Partner partner, Entry entry, const char* name) {
    if (partner != nullptr) need(entry, name);
  }
  void check(const char* what) const {
    if (!missing_.empty())
      reject("{} lacks what every plugin must offer: {}", what, fmt::join(missing_, ", "));
  }

 private:
  std::vector<const char*> missing_;
};

// Copies the module as such.
template <typename Plugin>
void take_module(Plugin& plugin, const void* module) {
  using Module = decltype(plugin.module);
  plugin.module = copy_table(static_cast<const Module*>(module), "its module");
  const uint32_t ours = CWY_PLUGIN_MINOR, needed = plugin.module.min_core_minor;
  if (needed > ours) {
    reject(
        "is too new: its module needs plugin interface {}.{} or later, this Causeway offers "
        "{}.{}",
        CWY_PLUGIN_MAJOR, needed, CWY_PLUGIN_MAJOR, ours);
  }
}

cwyc_ops copy_ops(const cwyc_ops* theirs, uint32_t index) {
  const std::string what = fmt::format("its ops[{}]", index);
  cwyc_ops ops = copy_table(theirs, what.c_str());
  Required required;
  for_each_operation([&]<typename Each>(const Each& operation) {
    if (operation.capability == 0) required.need(ops.*Each::member, operation.name);
  });
  required.pair(ops.am_prepare, ops.am_commit, "am_commit (beside am_prepare)");
  required.pair(ops.am_prepare, ops.am_cancel, "am_cancel (beside am_prepare)");
  required.check(what.c_str());
  if (ops.concurrency > CWYC_LOCKED) {
    reject("{} has concurrency {}: neither CWYC_SERIAL nor CWYC_MULTI nor CWYC_LOCKED", what,
           ops.concurrency);
  }
  return ops;
}

void check_module(const cwyc_module& module) {
  Required required;
  required.need(module.domain_open, "domain_open", module.domain_close, "domain_close");
  required.need(module.ep_open, "ep_open", module.ep_close, "ep_close");
  required.need(module.ep_query, "ep_query", module.ep_address, "ep_address");
  required.need(module.reach, "reach", module.connect, "connect");
  required.need(module.disconnect, "disconnect", module.purge, "purge");
  required.need(module.progress, "progress", module.ops, "ops");
  if (module.mem_alloc != nullptr || module.mem_reg != nullptr)
    required.need(module.mem_release, "mem_release (beside mem_alloc, mem_reg)");
  required.pair(module.rkey_open, module.rkey_close, "rkey_close (beside rkey_open)");
  required.pair(module.am_retain, module.am_release, "am_release (beside am_retain)");
  required.pair(module.wait_fd, module.arm, "arm (beside wait_fd)");
  required.pair(module.class_query, module.class_of, "class_of (beside class_query)");
  required.pair(module.class_of, module.class_query, "class_query (beside class_of)");
  required.check("its module");
  if (module.ops_count == 0 || module.ops_count > kMostTables)
    reject("its module has ops_count {}, expected 1 to {}", module.ops_count, kMostTables);
}

void check_module(const cwym_module& module) {
  Required required;
  required.need(module.create, "create", module.destroy, "destroy", module.query, "query");
  required.need(module.list_devices, "list_devices", module.who_owns, "who_owns");
  required.need(module.copy, "copy");
  required.pair(module.pin_host, module.unpin_host, "unpin_host (beside pin_host)");
  required.pair(module.unpin_host, module.pin_host, "pin_host (beside unpin_host)");
  required.pair(module.alloc, module.release, "release (beside alloc)");
  required.pair(module.import_mem, module.import_close, "import_close (beside import_mem)");
  required.pair(module.push, module.pop, "pop (beside push)");
  required.check("its module");
}

cwyl_candidate copy_candidate(const cwyl_candidate* theirs, uint32_t index) {
  std::string what = fmt::format("its candidates[{}]", index);
  cwyl_candidate candidate = copy_table(theirs, what.c_str());
  Required required;
  required.need(candidate.name, "name", candidate.start, "start", candidate.step, "step");
  required.check(what.c_str());
  what += fmt::format(" ('{}')", one_line(candidate.name, 63));
  if (candidate.min_bytes > candidate.max_bytes || candidate.min_team > candidate.max_team)
    reject("{} has a range whose minimum is above its maximum", what);
  return candidate;
}

std::string who(const Manifest& manifest) {
  return fmt::format("{} '{}'", kind_word(manifest.kind), manifest.name);
}

}  // namespace

void fill_tables(ConduitPlugin& plugin, const void* module) {
  take_module(plugin, module);
  plugin.own = static_cast<const cwyc_module*>(module);
  check_module(plugin.module);
  for (uint32_t i = 0; i < plugin.module.ops_count; ++i) {
    plugin.ops.push_back(copy_ops(plugin.module.ops[i], i));
    // An endpoint is entered by one rule, whichever of its connections a call is for.
    if (plugin.ops[i].concurrency != plugin.ops[0].concurrency) {
      reject("its ops[{}] has concurrency {}, its ops[0] has {}: all tables declare the same", i,
             plugin.ops[i].concurrency, plugin.ops[0].concurrency);
    }
  }
  plugin.lacks_direct = plugin.module.rkey_direct == nullptr;
  fill_missing(plugin.module, who(plugin.manifest));
}

void fill_tables(MemkindPlugin& plugin, const void* module) {
  take_module(plugin, module);
  check_module(plugin.module);
  fill_missing(plugin.module, who(plugin.manifest));
}

void fill_tables(CollectivePlugin& plugin, const void* module) {
  take_module(plugin, module);
  if (plugin.module.candidates == nullptr || plugin.module.candidate_count == 0 ||
      plugin.module.candidate_count > kMostCandidates)
    reject("its module lists no candidates, or more than {}", kMostCandidates);
  std::set<std::pair<uint32_t, std::string>> names;
  for (uint32_t i = 0; i < plugin.module.candidate_count; ++i) {
    cwyl_candidate candidate = copy_candidate(plugin.module.candidates[i], i);
    // Operations of a later minor: this core never asks for them.
    if (candidate.operation >= CWYL_OPERATIONS) continue;
    if (!names.emplace(candidate.operation, candidate.name).second) {
      reject("its candidates[{}] has the name of an earlier one, '{}'", i,
             one_line(candidate.name, 63));
    }
    fill_missing(candidate);
    plugin.candidates.push_back(candidate);
  }
  fill_missing(plugin.module, who(plugin.manifest));
}

}  // namespace causeway
