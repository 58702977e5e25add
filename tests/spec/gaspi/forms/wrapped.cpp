// Programs of the field include the header inside of extern "C". Catches: an overload or a template
// that then has the linkage of C, at every level of the language.
extern "C" {
#include <GASPI.h>
}

int main() {
  double* of_type = nullptr;
  gaspi_int initialized = 0;
  gaspi_time_t milliseconds = 0;
  return gaspi_segment_ptr(0, &of_type) == GASPI_SUCCESS &&
                 gaspi_initialized(&initialized) == GASPI_SUCCESS &&
                 gaspi_time_get(&milliseconds) == GASPI_SUCCESS
             ? 0
             : 1;
}
