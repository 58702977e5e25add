/* Tells how it was started: its ranks, the arguments that are left to it, and the variable SIGN.
 * Arguments are looked at after the start, as GASNet has it. With the variable THREAD it has a
 * thread before; with DIRECTORY it goes there first. C99 and C++. */
#include <gasnetex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* wait_for_ever(void* nothing) {
  for (;;) pause();
  return nothing;
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  const char* sign = getenv("SIGN");
  pthread_t thread;
  int i;
  if (getenv("DIRECTORY") && chdir(getenv("DIRECTORY"))) return 5;
  if (getenv("THREAD") && pthread_create(&thread, NULL, wait_for_ever, NULL)) return 2;
  if (gex_Client_Init(&client, &ep, &tm, "STARTED", &argc, &argv, 0)) return 3;
  char line[1000];
  snprintf(line, sizeof line, "rank %u of %u, %d arguments:", (unsigned)gex_TM_QueryRank(tm),
           (unsigned)gex_TM_QuerySize(tm), argc - 1);
  for (i = 1; i < argc; i++) {
    strncat(line, " ", sizeof line - strlen(line) - 1);
    strncat(line, argv[i], sizeof line - strlen(line) - 1);
  }
  printf("%s, sign %s\n", line, sign ? sign : "none");
  fflush(stdout);
  if (argv[argc] != NULL) return 4;
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(argc > 2 && strcmp(argv[1], "exit") == 0 ? atoi(argv[2]) : 0);
  return 0;
}
