/* tally: counts the calls of GASPI that a program makes, with their bytes and their time. */
#ifndef TALLY_H
#define TALLY_H

#ifdef __cplusplus
extern "C" {
#endif

enum tally_procedure {
  TALLY_PROC_INIT,
  TALLY_SEGMENT_CREATE,
  TALLY_SEGMENT_PTR,
  TALLY_WRITE,
  TALLY_READ,
  TALLY_NOTIFY,
  TALLY_WRITE_NOTIFY,
  TALLY_WRITE_LIST,
  TALLY_WAITSOME,
  TALLY_RESET,
  TALLY_WAIT,
  TALLY_PASSIVE_SEND,
  TALLY_PASSIVE_RECEIVE,
  TALLY_FETCH_ADD,
  TALLY_BARRIER,
  TALLY_ALLREDUCE,
  TALLY_ALLREDUCE_USER,
  TALLY_STATE_VEC,
  TALLY_TICKS,
  TALLY_PRINT_ERROR,
  TALLY_COUNT
};

unsigned long tally_calls(enum tally_procedure which);
unsigned long tally_bytes(enum tally_procedure which);
double tally_milliseconds(enum tally_procedure which);

#ifdef __cplusplus
}
#endif

#endif
