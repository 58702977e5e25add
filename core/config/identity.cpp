#include "config/identity.h"

#include <gasnetex.h>

#include <memory>
#include <mutex>

#include "base/error.h"

namespace causeway {
namespace {

std::mutex g_identity_mutex;  // writers
std::unique_ptr<Identity> g_owner;
// Released once by the first writer; what it points to never changes.
std::atomic<const Identity*> g_identity{nullptr};

// The object of the record may be unloaded later: everything is copied.
std::unique_ptr<Identity> copy_of(const cwy_identity& record) {
  const auto text = [](const char* s) { return std::string(s != nullptr ? s : ""); };
  auto out = std::make_unique<Identity>();
  out->conduit = text(record.conduit);
  out->mode = text(record.mode);
  out->config = text(record.config);
  out->preferred = text(record.preferred);
  out->shared_memory = (record.promises & CWY_IDENTITY_SHARED_MEMORY) != 0;
  return out;
}

}  // namespace

void set_identity(const cwy_identity& record) {
  if (record.size < sizeof record || record.conduit == nullptr)
    throw Error(CWY_ERR_INVALID, "the program was linked with an identity of other headers");
  const std::lock_guard lock(g_identity_mutex);
  if (g_owner == nullptr) {
    g_owner = copy_of(record);
    g_identity.store(g_owner.get(), std::memory_order_release);
  } else if (g_owner->conduit != record.conduit) {
    throw Error(CWY_ERR_INVALID,
                "parts of this program were built for conduit {}, others for {}; build all of "
                "them with the flags of one",
                g_owner->conduit, record.conduit);
  }
}

BuildWishes build_wishes;

const Identity* identity() {
  return g_identity.load(std::memory_order_acquire);
}

}  // namespace causeway
