#include "loader/instance.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "loader/signal_keeper.h"
#include "loader/tables.h"

namespace causeway {
namespace {

// The resolver that answers wrap_conduit on this thread, since the service has no argument to carry
// one. NULL except inside configure_conduit, which may nest.
thread_local const WrapResolver* tls_resolver = nullptr;

class Resolving {
 public:
  explicit Resolving(const WrapResolver& resolver)
      : outer_(std::exchange(tls_resolver, &resolver)) {}
  ~Resolving() { tls_resolver = outer_; }
  Resolving(const Resolving&) = delete;
  Resolving& operator=(const Resolving&) = delete;

 private:
  const WrapResolver* outer_;
};

cwy_status refuse(cwy_err* err, cwy_status status, std::string_view text) {
  write_error(err, status, text);
  return status;
}

cwy_status wrap_conduit(const char* name, cwy_wrapped* out, cwy_err* err) {
  if (tls_resolver == nullptr)
    return refuse(err, CWY_ERR_INVALID, "wrap_conduit may be called from configure only");
  if (name == nullptr || out == nullptr || out->head.struct_size < sizeof(cwy_head))
    return refuse(err, CWY_ERR_INVALID, "wrap_conduit needs a name, and a result with its head");
  try {
    const WrappedConduit& wrapped = (*tls_resolver)(name);
    cwy_wrapped answer{};
    answer.head = out->head;
    answer.module = wrapped.module;
    answer.options = as_c(wrapped.options.get());
    answer.device = wrapped.device.c_str();
    answer.plugin = wrapped.plugin.c_str();
    std::memcpy(static_cast<void*>(out), &answer,
                std::min<size_t>(out->head.struct_size, sizeof answer));
    return CWY_OK;
  } catch (const Error& error) {
    return refuse(err, error.status() < 0 ? error.status() : CWY_ERR_INVALID, error.text());
  } catch (const std::exception& error) {
    return refuse(err, CWY_ERR_NOMEM, error.what());
  }
}

}  // namespace

std::shared_ptr<const ConduitPlugin> configure_conduit(const ConduitPlugin& plugin,
                                                       const OptionValues* options,
                                                       const WrapResolver& resolver) {
  // The tables live in the loader, which outlives every conduit.
  std::shared_ptr<const ConduitPlugin> as_is(std::shared_ptr<void>(), &plugin);
  if (plugin.module.configure == nullptr) return as_is;
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwyc_module* module = nullptr;
  cwy_status status;
  {
    const Resolving resolving(resolver);
    const SignalKeeper keeper;
    status = plugin_call({"conduit plugin", plugin.manifest.name}, "configure",
                         [&] { return plugin.module.configure(as_c(options), &module, &err); });
  }
  if (status != CWY_OK)
    throw Error(status < 0 ? status : CWY_ERR_INVALID, "{}", reason(err, status));
  if (module == nullptr) throw Error(CWY_ERR_INVALID, "configure answered OK but set no module");
  if (module == plugin.own) return as_is;
  auto configured = std::make_shared<ConduitPlugin>();
  configured->manifest = plugin.manifest;
  fill_tables(*configured, module);
  return configured;
}

void fill_wrap_service(cwy_services& services) {
  services.wrap_conduit = wrap_conduit;
}

}  // namespace causeway
