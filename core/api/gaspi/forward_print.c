/* gaspi_printf and gaspi_printf_to: the text is made here,
 * because variable arguments cannot be passed on. */
#include <PGASPI.h>
#include <gaspi_entries.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SHORT_TEXT 512

/* The text: `space` where it fits, else memory to be freed. NULL: there is none. */
static char* make_text(char* space, const char* format, va_list arguments) {
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
  return length < 0 ? NULL : text;
}

void pgaspi_printf(const char* format, ...) {
  char space[SHORT_TEXT];
  char* text;
  va_list arguments;
  va_start(arguments, format);
  text = make_text(space, format, arguments);
  va_end(arguments);
  if (text == NULL) return;
  cwy_gaspi_print_v1(text);
  if (text != space) free(text);
}

void pgaspi_printf_to(gaspi_rank_t rank, const char* format, ...) {
  char space[SHORT_TEXT];
  char* text;
  va_list arguments;
  va_start(arguments, format);
  text = make_text(space, format, arguments);
  va_end(arguments);
  if (text == NULL) return;
  cwy_gaspi_print_to_v1(rank, text);
  if (text != space) free(text);
}

void gaspi_print_text(const char* text) {
  cwy_gaspi_print_v1(text);
}

void gaspi_delay(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

extern __typeof(pgaspi_printf) gaspi_printf __attribute__((weak, alias("pgaspi_printf")));
extern __typeof(pgaspi_printf_to) gaspi_printf_to __attribute__((weak, alias("pgaspi_printf_to")));
