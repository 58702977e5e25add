/* A trace file: one header page, then a ring of records of 48 bytes. `causeway trace` reads it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Record number n (from 0) stands at position n % capacity, so the file holds the last `capacity`
 * of them. It is mapped while the program runs: what a killed process recorded is in the file.
 */
#ifndef CAUSEWAY_TRACE_FORMAT_H
#define CAUSEWAY_TRACE_FORMAT_H

#include <stdint.h>

#define CWYT_MAGIC 0x3345434152545743ull /* "CWTRACE3" */
#define CWYT_HEADER_BYTES 4096u

typedef struct cwyt_header {
  uint64_t magic;
  uint32_t record_bytes;
  uint32_t rank;
  uint32_t size; /* ranks of the job */
  uint32_t epoch;
  uint64_t capacity; /* records */
  uint64_t begin_ns; /* monotonic clock when the file was opened */
  uint64_t wall_ns;  /* the same moment since 1970 */
  uint64_t count;    /* records begun; more than capacity: the oldest are gone */
  uint32_t closed;   /* 1: the conduit was closed in order */
  uint32_t process;  /* also the number of its first thread; 0 in older files */
  char job[64];
  char over[64]; /* plugin behind */
  char host[64];
} cwyt_header;

/* The recorded event: below CWYT_EVENTS an operation of cwyc_ops, by its place there (put is 0). */
enum {
  CWYT_EVENTS = 64,
  CWYT_CONNECT = CWYT_EVENTS,
  CWYT_DISCONNECT,
  CWYT_PURGE,
  CWYT_RECEIVED_SHORT,
  CWYT_RECEIVED_MEDIUM,
  CWYT_RECEIVED_LONG,
  CWYT_OPERATIONS
};

enum {
  CWYT_POSTED = 0, /* the call returned: status is its answer, duration_ns the time in it. Of a
                      message that is received: it is about to be delivered, duration_ns is 0 */
  CWYT_DONE = 1    /* its last report: duration_ns since it was posted. Of a message: its handler
                      has returned, duration_ns is the time in it */
};

typedef struct cwyt_record {
  uint64_t time_ns; /* of the event, since begin_ns */
  uint64_t size;    /* bytes of payload */
  uint64_t duration_ns;
  uint64_t tag;       /* of a message, the same where it is sent and received; else 0 */
  uint32_t peer;      /* rank */
  uint32_t thread;    /* as the kernel numbers it */
  uint8_t operation;  /* place in cwyc_ops, or CWYT_* */
  uint8_t phase;      /* CWYT_POSTED, CWYT_DONE */
  int8_t status;      /* cwy_status */
  uint8_t generation; /* 1 + (n / capacity) % 255, written last: another value is no record n */
  uint32_t reserved;
} cwyt_record;

static inline uint8_t cwyt_generation(uint64_t n, uint64_t capacity) {
  return (uint8_t)(1u + (n / capacity) % 255u);
}

#endif
