! gaspi_printf of a Fortran text, with and without the null character of C.
program printing
  use gaspi_c_binding
  use gaspi_ext
  implicit none
  character(len=40) :: padded

  if (gaspi_proc_init(GASPI_BLOCK) /= GASPI_SUCCESS) stop 1
  padded = 'a line of 100%s'
  call gaspi_printf(padded)
  call gaspi_printf('half a line, ' // c_null_char // 'nothing')
  call gaspi_print_text('its end' // c_new_line // c_null_char)
  call gaspi_delay()
  if (gaspi_proc_term(GASPI_BLOCK) /= GASPI_SUCCESS) stop 1
end program printing
