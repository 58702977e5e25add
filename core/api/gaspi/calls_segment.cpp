// Segments (chapter 7).
#include <algorithm>

#include "api/gaspi/entry.h"
#include "api/gaspi/group.h"

using namespace causeway;
using namespace causeway::gaspi;

namespace causeway::gaspi {
namespace {

// The plugin that a memory description names, NULL when there is none.
const char* kind_of(gaspi_memory_description_t description) {
  switch (static_cast<unsigned>(description) >> 16) {
    case static_cast<unsigned>(GASPI_MEMORY_CUDA(0)) >> 16:
      return "cuda";
    case static_cast<unsigned>(GASPI_MEMORY_HIP(0)) >> 16:
      return "hip";
    default:
      return nullptr;
  }
}

gaspi_return_t no_segment(const char* call, unsigned id) {
  return refuse(GASPI_ERR_INV_SEG, call, fmt::format("there is no segment {} here", id));
}

// More than any address space has; sums of less with notifications do not overflow.
constexpr uint64_t kTooManyBytes = 1ull << 57;

gaspi_return_t check_new(const World& w, const char* call, unsigned id, uint64_t size) {
  if (size == 0 || size >= kTooManyBytes) {
    return refuse(GASPI_ERR_INV_SEGSIZE, call, fmt::format("a segment cannot have {} bytes", size));
  }
  if (id >= kSegmentIds || w.segments[id].load(std::memory_order_acquire) != nullptr) {
    return refuse(GASPI_ERR_INV_SEG, call, fmt::format("segment {} exists already", id));
  }
  if (w.segment_table->count() >= w.config.segment_max) {
    return refuse(GASPI_ERR_MANY_SEG, call,
                  fmt::format("there are {} segments, segment_max", w.config.segment_max));
  }
  return GASPI_SUCCESS;
}

gaspi_return_t check_memory(const char* call, const void* pointer,
                            gaspi_memory_description_t description) {
  if (pointer == nullptr) return refuse(GASPI_ERR_NULLPTR, call, "the memory is NULL");
  if (description == GASPI_MEMORY_HOST || kind_of(description) != nullptr) return GASPI_SUCCESS;
  return refuse(GASPI_ERR_DEVICE, call,
                fmt::format("memory description {:#x} is not known; there are GASPI_MEMORY_HOST, "
                            "GASPI_MEMORY_CUDA(device) and GASPI_MEMORY_HIP(device)",
                            description));
}

gaspi_return_t bind(World& w, const char* call, unsigned id, void* memory, uint64_t size,
                    gaspi_memory_description_t description) {
  if (description == GASPI_MEMORY_HOST) return w.segment_table->bind(id, memory, size, nullptr);
  try {
    constexpr int kDeviceBits = 0xFFFF;
    return w.segment_table->bind(id, memory, size,
                                 open_device(kind_of(description), description & kDeviceBits, {}));
  } catch (const Error& e) {
    return refuse(GASPI_ERR_DEVICE, call, e.text());
  }
}

// A single attempt at what follows the local part: all members are told, then wait for each other.
gaspi_return_t share(World& w, unsigned id, Group& g, Segments::Creation& creation) {
  if (w.groups->creation_failed(g)) {
    creation.failed_elsewhere = true;
    return GASPI_ERROR;
  }
  if (!creation.in_barrier) {
    LocalSegment& s = *w.segments[id].load(std::memory_order_acquire);
    gaspi_return_t all = GASPI_SUCCESS;
    for (const gaspi_rank_t r : g.ranks) {
      const gaspi_return_t told = w.segment_table->tell(s, r);
      if (told == GASPI_TIMEOUT && all == GASPI_SUCCESS) all = told;
      if (told != GASPI_TIMEOUT && told != GASPI_SUCCESS) all = told;
    }
    if (all != GASPI_SUCCESS) return all;
    creation.in_barrier = true;
  }
  return w.groups->barrier(g, Kind::creation, g.creation);
}

// gaspi_segment_create and gaspi_segment_use: `make` is the local part, done once. What fails in
// one member fails in all (7.2.3).
template <typename Make>
gaspi_return_t create(World& w, const char* call, unsigned id, gaspi_group_t group,
                      gaspi_timeout_t timeout, Make&& make) {
  const std::shared_ptr<Group> g = w.groups->find(group);
  if (g == nullptr || !g->committed) {
    return refuse(GASPI_ERR_INV_GROUP, call,
                  fmt::format("group {} does not exist or is not committed", group));
  }
  Segments::Creation* creation = nullptr;
  {
    const std::lock_guard lock(w.segment_table->creations_mutex);
    const auto [at, fresh] =
        w.segment_table->creations.try_emplace(id, Segments::Creation{group, g->uid});
    creation = &at->second;
    if (fresh) {
      gaspi_return_t made = GASPI_ERROR;
      try {
        made = make();
      } catch (...) {
        w.segment_table->creations.erase(at);
        w.groups->fail_creation(*g);
        throw;
      }
      if (made != GASPI_SUCCESS) {
        w.segment_table->creations.erase(at);
        w.groups->fail_creation(*g);
        return made;
      }
    }
  }
  Deadline deadline(call, timeout);
  const gaspi_return_t result = wait_for(deadline, [&] { return share(w, id, *g, *creation); });
  if (result == GASPI_TIMEOUT) return result;
  const std::lock_guard lock(w.segment_table->creations_mutex);
  if (result != GASPI_SUCCESS && !creation->failed_elsewhere) w.groups->fail_creation(*g);
  w.segment_table->creations.erase(id);
  if (result != GASPI_SUCCESS) w.segment_table->remove(id);
  return result;
}

// A creation that timed out is given up.
void give_up_creation(World& w, unsigned id) {
  const std::lock_guard lock(w.segment_table->creations_mutex);
  const auto found = w.segment_table->creations.find(id);
  if (found == w.segment_table->creations.end()) return;
  const std::shared_ptr<Group> g = w.groups->find(found->second.group);
  if (g != nullptr && g->committed && g->uid == found->second.uid) w.groups->fail_creation(*g);
  w.segment_table->creations.erase(found);
}

bool being_created(World& w, unsigned id) {
  const std::lock_guard lock(w.segment_table->creations_mutex);
  return w.segment_table->creations.count(id) != 0;
}

}  // namespace
}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_alloc_v1(gaspi_segment_id_t segment_id,
                                                       gaspi_size_t size,
                                                       gaspi_alloc_t alloc_policy) {
  constexpr const char* kCall = "gaspi_segment_alloc()";
  return with_world(kCall, [&](World& w) {
    const gaspi_return_t wrong = check_new(w, kCall, segment_id, size);
    if (wrong != GASPI_SUCCESS) return wrong;
    return w.segment_table->allocate(segment_id, size, alloc_policy == GASPI_MEM_INITIALIZED);
  });
}

CAUSEWAY_API gaspi_return_t
cwy_gaspi_segment_bind_v1(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer, gaspi_size_t size,
                          gaspi_memory_description_t memory_description) {
  constexpr const char* kCall = "gaspi_segment_bind()";
  return with_world(kCall, [&](World& w) {
    gaspi_return_t wrong = check_memory(kCall, pointer, memory_description);
    if (wrong == GASPI_SUCCESS) wrong = check_new(w, kCall, segment_id, size);
    if (wrong != GASPI_SUCCESS) return wrong;
    return bind(w, kCall, segment_id, pointer, size, memory_description);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_register_v1(gaspi_segment_id_t segment_id,
                                                          gaspi_rank_t rank,
                                                          gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_segment_register()";
  return with_world(kCall, [&](World& w) {
    const gaspi_return_t known = require_rank(w, kCall, rank);
    if (known != GASPI_SUCCESS) return known;
    LocalSegment* const s = w.segments[segment_id].load(std::memory_order_acquire);
    if (s == nullptr) return no_segment(kCall, segment_id);
    Deadline deadline(kCall, timeout, rank);
    return wait_for(deadline, [&] { return w.segment_table->tell(*s, rank); });
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_create_v1(gaspi_segment_id_t segment_id,
                                                        gaspi_size_t size, gaspi_group_t group,
                                                        gaspi_timeout_t timeout,
                                                        gaspi_alloc_t alloc_policy) {
  constexpr const char* kCall = "gaspi_segment_create()";
  return with_world(kCall, [&](World& w) {
    return create(w, kCall, segment_id, group, timeout, [&] {
      const gaspi_return_t wrong = check_new(w, kCall, segment_id, size);
      if (wrong != GASPI_SUCCESS) return wrong;
      return w.segment_table->allocate(segment_id, size, alloc_policy == GASPI_MEM_INITIALIZED);
    });
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_use_v1(gaspi_segment_id_t segment_id,
                                                     gaspi_pointer_t pointer, gaspi_size_t size,
                                                     gaspi_group_t group, gaspi_timeout_t timeout,
                                                     gaspi_memory_description_t description) {
  constexpr const char* kCall = "gaspi_segment_use()";
  return with_world(kCall, [&](World& w) {
    return create(w, kCall, segment_id, group, timeout, [&] {
      gaspi_return_t wrong = check_memory(kCall, pointer, description);
      if (wrong == GASPI_SUCCESS) wrong = check_new(w, kCall, segment_id, size);
      if (wrong != GASPI_SUCCESS) return wrong;
      return bind(w, kCall, segment_id, pointer, size, description);
    });
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_delete_v1(gaspi_segment_id_t segment_id) {
  constexpr const char* kCall = "gaspi_segment_delete()";
  return with_world(kCall, [&](World& w) {
    give_up_creation(w, segment_id);
    const gaspi_return_t result = w.segment_table->remove(segment_id);
    return result == GASPI_SUCCESS ? result : no_segment(kCall, segment_id);
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_num_v1(gaspi_number_t* segment_num) {
  return tell("gaspi_segment_num()", segment_num,
              [](World& w) { return w.segment_table->count(); });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_list_v1(gaspi_number_t num,
                                                      gaspi_segment_id_t* segment_id_list) {
  constexpr const char* kCall = "gaspi_segment_list()";
  return with_world(kCall, [&](World& w) {
    if (segment_id_list == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "the list is NULL");
    if (num > w.segment_table->count()) {
      return refuse(
          GASPI_ERR_INV_NUM, kCall,
          fmt::format("{} segments are asked for, and {} exist", num, w.segment_table->count()));
    }
    gaspi_number_t found = 0;
    for (unsigned id = 0; id < kSegmentIds && found < num; ++id) {
      if (w.segments[id].load(std::memory_order_acquire) != nullptr) {
        segment_id_list[found++] = static_cast<gaspi_segment_id_t>(id);
      }
    }
    return GASPI_SUCCESS;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_ptr_v1(gaspi_segment_id_t segment_id,
                                                     gaspi_pointer_t* pointer) {
  constexpr const char* kCall = "gaspi_segment_ptr()";
  return with_world(kCall, [&](World& w) {
    if (pointer == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "the pointer is NULL");
    const LocalSegment* const s = w.segments[segment_id].load(std::memory_order_acquire);
    if (s == nullptr || being_created(w, segment_id)) return no_segment(kCall, segment_id);
    *pointer = s->base;
    return GASPI_SUCCESS;
  });
}

// ---- beyond 17.1 ----

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_avail_local_v1(gaspi_segment_id_t* avail_seg_id) {
  constexpr const char* kCall = "gaspi_segment_avail_local()";
  return with_world(kCall, [&](World& w) {
    if (avail_seg_id == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "the pointer is NULL");
    for (unsigned id = 0; id < w.config.segment_max; ++id) {
      if (w.segments[id].load(std::memory_order_acquire) != nullptr) continue;
      *avail_seg_id = static_cast<gaspi_segment_id_t>(id);
      return GASPI_SUCCESS;
    }
    return refuse(GASPI_ERR_MANY_SEG, kCall, "every segment id is in use");
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_segment_size_v1(gaspi_segment_id_t segment_id,
                                                      gaspi_rank_t rank, gaspi_size_t* size) {
  constexpr const char* kCall = "gaspi_segment_size()";
  return with_world(kCall, [&](World& w) {
    if (size == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "size is NULL");
    const gaspi_return_t known = require_rank(w, kCall, rank);
    if (known != GASPI_SUCCESS) return known;
    const FarSegment* const s = w.remote_segment(segment_id, rank);
    if (s == nullptr) {
      return refuse(GASPI_ERR_INV_SEG, kCall,
                    fmt::format("segment {} of rank {} is not registered here", segment_id, rank));
    }
    *size = s->size;
    return GASPI_SUCCESS;
  });
}
