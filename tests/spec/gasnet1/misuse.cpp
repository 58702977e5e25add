// One mistake per run, named by the argument; ctest looks for the line that explains it.
#include <gasnet.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void nothing(gasnet_token_t) {}
gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;

void start(uintptr_t segsize, gasnet_handlerentry_t* table = nullptr, int entries = 0) {
  const int status = gasnet_attach(table, entries, segsize, 0);
  if (status == GASNET_OK) return;
  std::fprintf(stderr, "attach answers %s\n", gasnet_ErrorName(status));
  sleep(1);  // an exit ends the other rank, too, whose line may be the one that is looked for
  gasnet_exit(3);
}

void before_attach(const std::string& what) {
  static char word[8];
  if (what == "put_before_attach") gasnet_put(0, word, word, 8);
  if (what == "am_before_attach") gasnet_AMRequestShort0(0, 200);
  if (what == "barrier_before_attach") gasnet_barrier_notify(0, 0);
  const bool last = gasnet_mynode() + 1 == gasnet_nodes();
  if (what == "bad_size") start(last ? 4097 : GASNET_PAGESIZE);
  gasnet_handlerentry_t table[] = {{200, reinterpret_cast<void (*)()>(&nothing)},
                                   {200, reinterpret_cast<void (*)()>(&nothing)}};
  if (what == "bad_index") table[0].index = 5;
  if (what == "null_function") table[0].fnptr = nullptr;
  if (what == "null_table") start(GASNET_PAGESIZE, last ? nullptr : table, 1);
  if (what == "bad_index" || what == "null_function" || what == "same_index")
    start(GASNET_PAGESIZE, table, last ? 2 : 0);
}

void after_attach(const std::string& what) {
  if (what == "notify_twice") gasnet_barrier_notify(1, 0), gasnet_barrier_notify(1, 0);
  if (what == "wait_alone") gasnet_barrier_wait(1, 0);
  if (what == "try_alone") gasnet_barrier_try(1, 0);
  if (what == "wait_twice") {
    gasnet_barrier(1, 0);
    gasnet_barrier_wait(1, 0);
  }
  if (what == "bad_flags") gasnet_barrier_notify(1, 64);
  if (what == "unregistered") {
    gasnet_AMRequestShort0(gasnet_nodes() - 1, 222);
    for (;;) gasnet_AMPoll();
  }
  if (what == "valget_size") gasnet_get_nb_val(0, &lock, 9);
  if (what == "valget_null") gasnet_wait_syncnb_valget(nullptr);
  // With checks: full.
  if (what == "hold_twice") gasnet_hold_interrupts(), gasnet_hold_interrupts();
  if (what == "resume_alone") gasnet_resume_interrupts();
  if (what == "poll_while_held") gasnet_hold_interrupts(), gasnet_AMPoll();
  if (what == "poll_with_lock") gasnet_hsl_lock(&lock), gasnet_AMPoll();
  if (what == "memset_outside")
    gasnet_memset(gasnet_nodes() - 1, reinterpret_cast<void*>(64), 0, 8);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "put_before_init") gasnet_put_val(0, &lock, 0, 1);
  if (what == "objects_before_init") gasnet_QueryGexObjects(nullptr, nullptr, nullptr, nullptr);
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  before_attach(what);
  start(16 * GASNET_PAGESIZE);
  after_attach(what);
  gasnet_barrier(0, 0);
  std::fprintf(stderr, "nothing was diagnosed\n");
  gasnet_exit(0);
}
