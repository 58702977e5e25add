/* After everything else, with the forward header first, in PAR. */
#include <gasnet_fwd.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <gasnetex.h>

int late(void);
int late(void) { return GASNET_PAR + (int)sizeof(gex_Token_Info_t); }
