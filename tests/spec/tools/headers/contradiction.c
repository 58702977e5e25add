/* Must not compile: threads and no threads. */
#define GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SINGLE
#include <gasnet_tools.h>
