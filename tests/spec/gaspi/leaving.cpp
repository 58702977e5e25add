// Ranks that end in good order, one after the other: nobody's end is news of a failure. With the
// argument "return", main returns without gaspi_proc_term(): rank 0 at once, while another has yet
// to connect to it, as ranks do in a start in which some are late. With "destructor", an object
// that ends behind main writes to a segment, and calls gaspi_proc_term().
#include <GASPI.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr useconds_t kLate = 700'000;

int by_return() {
  gaspi_config_t config;
  gaspi_rank_t rank = 0, ranks = 0;
  gaspi_config_get(&config);
  config.build_infrastructure = GASPI_TOPOLOGY_NONE;
  if (gaspi_config_set(config) != GASPI_SUCCESS) return 1;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  gaspi_proc_rank(&rank);
  gaspi_proc_num(&ranks);
  if (rank + 1 < ranks) return 0;
  usleep(kLate);
  if (gaspi_connect(0, GASPI_BLOCK) != GASPI_SUCCESS) return 2;
  std::printf("rank %u has reached rank 0: well\n", unsigned{rank});
  return 0;
}

struct Late {
  unsigned char* memory = nullptr;
  ~Late() {
    if (memory == nullptr) return;
    memory[0] = 1;
    const bool well = gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS &&
                      gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS;
    if (!well) _exit(3);
  }
} g_late;

int by_destructor() {
  gaspi_pointer_t memory = nullptr;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  if (gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED) !=
          GASPI_SUCCESS ||
      gaspi_segment_ptr(0, &memory) != GASPI_SUCCESS)
    return 2;
  g_late.memory = static_cast<unsigned char*>(memory);
  return 0;
}

int by_term() {
  gaspi_rank_t rank = 0;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  gaspi_proc_rank(&rank);
  gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK);
  if (gaspi_proc_term(GASPI_BLOCK) != GASPI_SUCCESS) return 2;
  // The library's thread sees the others go.
  usleep(rank * 400'000);
  std::printf("rank %u leaves: well\n", unsigned{rank});
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count == 1) return by_term();
  return std::strcmp(words[1], "return") == 0 ? by_return() : by_destructor();
}
