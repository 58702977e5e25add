#include "staging/stage.h"

namespace causeway {
namespace {

size_t bytes_of(const cwyl_args& args) {
  return args.element_bytes * args.count;
}
bool reads_source(const cwyl_args& args, uint32_t rank) {
  if (args.operation == CWYL_BARRIER) return false;
  return args.operation != CWYL_BROADCAST || args.root == rank;
}
bool writes_result(const cwyl_args& args, uint32_t rank) {
  if (args.operation == CWYL_BARRIER) return false;
  return args.operation != CWYL_REDUCE_ONE || args.root == rank;
}

}  // namespace

CollectiveStage::CollectiveStage(const char* call, cwyl_args& args, uint32_t rank) : call_(call) {
  const size_t bytes = bytes_of(args);
  const void* const src = args.src;
  void* const dst = args.dst;
  const bool reads = reads_source(args, rank), writes = writes_result(args, rank);
  if (reads && device_at(call, src, bytes) != nullptr) {
    src_.resize(bytes);
    copy_bytes(call, src_.data(), src, bytes);
    args.src = src_.data();
  }
  if (writes && device_at(call, dst, bytes) != nullptr) {
    result_ = dst;
    // In place stays in place.
    const bool same = reads && src == dst;
    if (!same) dst_.resize(bytes);
    args.dst = same ? src_.data() : dst_.data();
  }
}

void CollectiveStage::finish() {
  if (result_ == nullptr) return;
  const std::vector<char>& from = dst_.empty() ? src_ : dst_;
  copy_bytes(call_, result_, from.data(), from.size());
}

std::unique_ptr<CollectiveStage> stage_collective(const char* call, cwyl_args& args,
                                                  uint32_t rank) {
  const size_t bytes = bytes_of(args);
  const bool device = (reads_source(args, rank) && device_at(call, args.src, bytes) != nullptr) ||
                      (writes_result(args, rank) && device_at(call, args.dst, bytes) != nullptr);
  return device ? std::make_unique<CollectiveStage>(call, args, rank) : nullptr;
}

}  // namespace causeway
