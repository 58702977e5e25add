/* A library that takes 128 bytes of the static thread-local block, as many a library does that a
 * program has loaded before ours. */
#include <stddef.h>

static __thread char storage[128] __attribute__((tls_model("initial-exec"), aligned(16)));

extern char* eaten(void);
char* eaten(void) {
  return storage;
}
