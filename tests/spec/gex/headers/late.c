/* After everything else, with the forward header first, in PAR. */
#include <errno.h>
#include <gasnet_fwd.h>
#include <gasnetex.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int late(void);
int late(void) {
  return GASNET_PAR + (int)sizeof(gex_Token_Info_t);
}
