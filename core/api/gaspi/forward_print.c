/* gaspi_printf and gaspi_printf_to: the text is made here,
 * because variable arguments cannot be passed on. */
#include <PGASPI.h>
#include <causeway/tools/atomics.h>
#include <gaspi_entries.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT_TEXT 512

/* At this process' standard output if `here`, else at that of `rank`. */
static void print_formatted(int here, gaspi_rank_t rank, const char* format, va_list arguments) {
  char space[SHORT_TEXT];
  va_list again;
  char* text = space;
  int length;
  va_copy(again, arguments);
  length = vsnprintf(space, SHORT_TEXT, format, arguments);
  if (length >= SHORT_TEXT) {
    text = malloc((size_t)length + 1);
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  }
  va_end(again);
  if (length < 0 || text == NULL) return;
  if (here)
    entry_print(text);
  else
    entry_print_to(rank, text);
  if (text != space) free(text);
}

void pgaspi_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_formatted(1, 0, format, arguments);
  va_end(arguments);
}

void pgaspi_printf_to(gaspi_rank_t rank, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_formatted(0, rank, format, arguments);
  va_end(arguments);
}

void gaspi_print_text(const char* text) {
  entry_print(text);
}

void gaspi_delay(void) {
  gasnett_spinloop_hint();
}

extern __typeof(pgaspi_printf) gaspi_printf __attribute__((weak, alias("pgaspi_printf")));
extern __typeof(pgaspi_printf_to) gaspi_printf_to __attribute__((weak, alias("pgaspi_printf_to")));
