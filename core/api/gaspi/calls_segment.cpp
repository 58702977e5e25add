// Segments (chapter 7).
#include "api/gaspi/entry.h"
#include "api/gaspi/group.h"
#include "api/gaspi/segment.h"
#include "base/error.h"

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

void check_new(const World& w, unsigned id, uint64_t size) {
  // More than any address space has; sums of less with notifications do not overflow.
  constexpr uint64_t kTooManyBytes = 1ull << 57;
  if (size == 0 || size >= kTooManyBytes)
    refuse(GASPI_ERR_INV_SEGSIZE, "a segment cannot have {} bytes", size);
  w.segment_table->require_room(id);
}

void allocate(const World& w, unsigned id, uint64_t size, gaspi_alloc_t policy) {
  check_new(w, id, size);
  w.segment_table->allocate(id, size, policy == GASPI_MEM_INITIALIZED);
}

void bind(const World& w, unsigned id, void* memory, uint64_t size,
          gaspi_memory_description_t description) {
  require_pointer(memory, "the memory");
  const bool on_device = description != GASPI_MEMORY_HOST;
  if (on_device && kind_of(description) == nullptr) {
    refuse(GASPI_ERR_DEVICE,
           "memory description {:#x} is not known; there are GASPI_MEMORY_HOST, "
           "GASPI_MEMORY_CUDA(device) and GASPI_MEMORY_HIP(device)",
           description);
  }
  check_new(w, id, size);
  if (!on_device) return w.segment_table->bind(id, memory, size, nullptr);
  try {
    constexpr int kDeviceBits = 0xFFFF;
    w.segment_table->bind(id, memory, size,
                          open_device(kind_of(description), description & kDeviceBits, {}));
  } catch (const Error& e) {
    refuse(GASPI_ERR_DEVICE, "{}", e.text());
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

// The creation that an earlier call has begun; else a new one, whose local part is `make`.
template <typename Make>
Segments::Creation& begin_creation(World& w, unsigned id, gaspi_group_t group, Group& g,
                                   Make&& make) {
  auto& creations = w.segment_table->creations;
  const std::lock_guard lock(w.segment_table->creations_mutex);
  const auto [at, fresh] = creations.try_emplace(id, Segments::Creation{group, g.uid});
  try {
    if (fresh) make();
  } catch (...) {
    creations.erase(at);
    w.groups->fail_creation(g);
    throw;
  }
  return at->second;
}

// gaspi_segment_create and gaspi_segment_use. What fails in one member fails in all (7.2.3).
template <typename Make>
gaspi_return_t create(const char* name, unsigned id, gaspi_group_t group, gaspi_timeout_t timeout,
                      Make&& make) {
  return timed_call(name, timeout, [&](World& w, Deadline& deadline) {
    const std::shared_ptr<Group> g = w.groups->find(group);
    if (g == nullptr || !g->committed)
      refuse(GASPI_ERR_INV_GROUP, "group {} does not exist or is not committed", group);
    is_collective(deadline, Kind::creation, group, *g);
    Segments::Creation& creation = begin_creation(w, id, group, *g, [&] { make(w); });
    const gaspi_return_t result = wait_for(deadline, [&] { return share(w, id, *g, creation); });
    if (result == GASPI_TIMEOUT) return result;
    const std::lock_guard lock(w.segment_table->creations_mutex);
    if (result != GASPI_SUCCESS && !creation.failed_elsewhere) w.groups->fail_creation(*g);
    w.segment_table->creations.erase(id);
    if (result != GASPI_SUCCESS) w.segment_table->remove(id);
    return result;
  });
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

gaspi_return_t entry_segment_alloc(gaspi_segment_id_t segment_id, gaspi_size_t size,
                                   gaspi_alloc_t alloc_policy) {
  return call("gaspi_segment_alloc()",
              [&](World& w) { allocate(w, segment_id, size, alloc_policy); });
}

gaspi_return_t entry_segment_bind(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer,
                                  gaspi_size_t size, gaspi_memory_description_t description) {
  return call("gaspi_segment_bind()",
              [&](World& w) { bind(w, segment_id, pointer, size, description); });
}

gaspi_return_t entry_segment_register(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                                      gaspi_timeout_t timeout) {
  return timed_call("gaspi_segment_register()", rank, timeout, [&](World& w, Deadline& deadline) {
    LocalSegment& s = w.segment(segment_id);
    return wait_for(deadline, [&] { return w.segment_table->tell(s, rank); });
  });
}

gaspi_return_t entry_segment_create(gaspi_segment_id_t segment_id, gaspi_size_t size,
                                    gaspi_group_t group, gaspi_timeout_t timeout,
                                    gaspi_alloc_t alloc_policy) {
  return create("gaspi_segment_create()", segment_id, group, timeout,
                [&](World& w) { allocate(w, segment_id, size, alloc_policy); });
}

gaspi_return_t entry_segment_use(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer,
                                 gaspi_size_t size, gaspi_group_t group, gaspi_timeout_t timeout,
                                 gaspi_memory_description_t description) {
  return create("gaspi_segment_use()", segment_id, group, timeout,
                [&](World& w) { bind(w, segment_id, pointer, size, description); });
}

gaspi_return_t entry_segment_delete(gaspi_segment_id_t segment_id) {
  return call("gaspi_segment_delete()", [&](World& w) {
    give_up_creation(w, segment_id);
    if (!w.segment_table->remove(segment_id)) refuse_segment(segment_id);
  });
}

gaspi_return_t entry_segment_num(gaspi_number_t* segment_num) {
  return tell("gaspi_segment_num()", segment_num, "the pointer",
              [](World& w) { return w.segment_table->count(); });
}

gaspi_return_t entry_segment_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_list) {
  return call("gaspi_segment_list()", [&](World& w) {
    require_pointer(segment_id_list, "the list");
    const uint32_t count = w.segment_table->count();
    if (num > count)
      refuse(GASPI_ERR_INV_NUM, "{} segments are asked for, and {} exist", num, count);
    gaspi_number_t found = 0;
    for (unsigned id = 0; id < kSegmentIds && found < num; ++id)
      if (w.segments[id].load(std::memory_order_acquire) != nullptr)
        segment_id_list[found++] = static_cast<gaspi_segment_id_t>(id);
  });
}

gaspi_return_t entry_segment_ptr(gaspi_segment_id_t segment_id, gaspi_pointer_t* pointer) {
  return tell("gaspi_segment_ptr()", pointer, "the pointer", [&](World& w) {
    const LocalSegment& s = w.segment(segment_id);
    if (being_created(w, segment_id)) refuse_segment(segment_id);
    return s.base;
  });
}

// ---- beyond 17.1 ----

gaspi_return_t entry_segment_avail_local(gaspi_segment_id_t* avail_seg_id) {
  return tell("gaspi_segment_avail_local()", avail_seg_id, "the pointer", [](World& w) {
    for (unsigned id = 0; id < w.config.segment_max; ++id)
      if (w.segments[id].load(std::memory_order_acquire) == nullptr) return id;
    refuse(GASPI_ERR_MANY_SEG, "every segment id is in use");
  });
}

gaspi_return_t entry_segment_size(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                                  gaspi_size_t* size) {
  return tell("gaspi_segment_size()", size, "size", [&](World& w) {
    require_rank(w, rank);
    return w.segment_of(rank, segment_id).size;
  });
}

}  // namespace causeway::gaspi
