/* Must not compile: LITE mode after gasnetex.h. */
#define GASNET_SEQ 1
#include <gasnetex.h>
#define GASNETT_LITE_MODE
#include <gasnet_tools.h>
