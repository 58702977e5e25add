// What the program does with memory of the kind `glass` (tests/standins/glass.c) beside GASNet.
#include <cstring>

#include "../../standins/glass.h"
#include "bench/raw/device_access.h"

namespace mk {
namespace {

class Glass final : public Access {
 public:
  gex_MK_Create_args_t args(int device) override {
    gex_MK_Create_args_t a;
    std::memset(&a, 0, sizeof a);
    a.gex_class = CWY_MK_CLASS_PLUGIN;
    a.gex_args.cwy_class_plugin = {"glass", device, nullptr, 0};
    return a;
  }
  int devices() override { return 1; }
  void* alloc(int, size_t bytes) override { return glass_map(bytes); }
  void free(int, void* memory) override { glass_unmap(memory); }
  bool pin(int, void*, size_t) override { return true; }
  void unpin(int, void*) override {}
  void copy(int, void* dst, const void* src, size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
  const char* name() const override { return "glass"; }
};

}  // namespace

Access& access() {
  static Glass glass;
  return glass;
}

}  // namespace mk
