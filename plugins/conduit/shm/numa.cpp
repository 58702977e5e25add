#include "numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>

namespace causeway::shm {
namespace {

constexpr unsigned long most_nodes = 1024;  // the kernel's largest MAX_NUMNODES
constexpr size_t word_bits = 8 * sizeof(unsigned long);

struct NodeSet {
  unsigned long words[most_nodes / word_bits] = {};
  int count() const {
    int n = 0;
    for (const unsigned long word : words) n += std::popcount(word);
    return n;
  }
};

NodeSet allowed_nodes() {
  NodeSet nodes;
  if (syscall(SYS_get_mempolicy, nullptr, nodes.words, most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) !=
      0)
    return {};
  return nodes;
}

void bind(void* base, size_t length, int mode, const NodeSet& nodes) {
  syscall(SYS_mbind, base, length, mode, nodes.words, most_nodes, 0);
}

}  // namespace

void prefer_local_node(void* base, size_t length) {
  if (allowed_nodes().count() < 2) return;
  unsigned cpu = 0, node = 0;
  if (syscall(SYS_getcpu, &cpu, &node, nullptr) != 0 || node >= most_nodes) return;
  NodeSet local;
  local.words[node / word_bits] = 1ul << (node % word_bits);
  bind(base, length, MPOL_PREFERRED, local);
}

void interleave_nodes(void* base, size_t length) {
  const NodeSet nodes = allowed_nodes();
  if (nodes.count() >= 2) bind(base, length, MPOL_INTERLEAVE, nodes);
}

}  // namespace causeway::shm
