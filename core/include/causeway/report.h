/* causeway/report.h - asking the library what it did. An extension; not part of a specification.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CAUSEWAY_REPORT_H
#define CAUSEWAY_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls fn once per line of a short text: for each transport of this process, what it carried so
 * far, how often each algorithm of a collective ran, and what other ranks cost in memory:
 * connections are counted that are made after the first call, or all with `report: true`. The line
 * is NUL-terminated, without newline, and valid during the call. Any thread, after gex_Client_Init.
 */
extern void cwy_report_v1(void (*fn)(void* arg, const char* line), void* arg);

#ifdef __cplusplus
}
#endif
#endif
