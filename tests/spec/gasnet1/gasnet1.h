// What the GASNet-1 cases share: handlers registered by gasnet_attach, and the facts of start-up
// that only the code between the calls can see.
#pragma once

#include <gasnet.h>

#include <vector>

#include "../harness.h"

namespace g1 {

// One handler of GASNet-1's kind, declared at namespace scope; gasnet_attach gets all of them,
// without a wished-for index unless one is given, and the object converts to its index.
class Handler {
 public:
  template <typename... Args>
  explicit Handler(void (*fn)(gasnet_token_t, Args...), gasnet_handler_t wish = 0)
      : Handler(reinterpret_cast<void (*)()>(fn), wish) {}
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  operator gasnet_handler_t() const { return index_; }

  static std::vector<gasnet_handlerentry_t> table();
  static void assigned(const std::vector<gasnet_handlerentry_t>& table);

 private:
  Handler(void (*fn)(), gasnet_handler_t wish);
  void (*fn_)();
  gasnet_handler_t wish_, index_ = 0;
};

// Seen between gasnet_init and gasnet_attach, and just after.
struct Start {
  int second_init;
  int attach_before_init;
  int segment_info_early;
  int node_info_early;
  gasnet_node_t node, nodes;
  uintptr_t max_local, max_global;
  std::vector<gasnet_nodeinfo_t> nodes_early;
  int attach, second_attach;
  std::vector<gasnet_handlerentry_t> table_before, table_after;
};
extern Start start;

uintptr_t asked_segment(gasnet_node_t node);

}  // namespace g1
