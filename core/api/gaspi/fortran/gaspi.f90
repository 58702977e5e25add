! gaspi_ext and gaspi: what Fortran programs in the field use beyond GASPI_C_BINDING.
!
! SPDX-License-Identifier: BSD-3-Clause

! GASPI_Ext.h, without gaspi_printf_to, whose arguments vary. gaspi_printf prints a text as it is:
! with a c_null_char up to that, as C would; else without blanks at its end, and a line of its own.
module gaspi_ext
  use gaspi_types
  implicit none
  public

  interface
    function gaspi_initialized(initialized) result(res) bind(C, name="gaspi_initialized")
      import
      integer(gaspi_number_t) :: initialized
      integer(gaspi_return_t) :: res
    end function gaspi_initialized

    function gaspi_proc_local_rank(local_rank) result(res) bind(C, name="gaspi_proc_local_rank")
      import
      integer(gaspi_rank_t) :: local_rank
      integer(gaspi_return_t) :: res
    end function gaspi_proc_local_rank

    function gaspi_proc_local_num(local_num) result(res) bind(C, name="gaspi_proc_local_num")
      import
      integer(gaspi_rank_t) :: local_num
      integer(gaspi_return_t) :: res
    end function gaspi_proc_local_num

    function gaspi_proc_ping(rank, timeout_ms) result(res) bind(C, name="gaspi_proc_ping")
      import
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_proc_ping

    function gaspi_proc_incarnation(rank, incarnation) result(res) &
        bind(C, name="gaspi_proc_incarnation")
      import
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_number_t) :: incarnation
      integer(gaspi_return_t) :: res
    end function gaspi_proc_incarnation

    function gaspi_segment_avail_local(avail_seg_id) result(res) &
        bind(C, name="gaspi_segment_avail_local")
      import
      integer(gaspi_segment_id_t) :: avail_seg_id
      integer(gaspi_return_t) :: res
    end function gaspi_segment_avail_local

    function gaspi_segment_size(segment_id, rank, size) result(res) &
        bind(C, name="gaspi_segment_size")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_size_t) :: size
      integer(gaspi_return_t) :: res
    end function gaspi_segment_size

    function gaspi_rw_list_elem_max(elem_max) result(res) bind(C, name="gaspi_rw_list_elem_max")
      import
      integer(gaspi_number_t) :: elem_max
      integer(gaspi_return_t) :: res
    end function gaspi_rw_list_elem_max

    function gaspi_transfer_size_min(transfer_size_min) result(res) &
        bind(C, name="gaspi_transfer_size_min")
      import
      integer(gaspi_size_t) :: transfer_size_min
      integer(gaspi_return_t) :: res
    end function gaspi_transfer_size_min

    function gaspi_passive_transfer_size_min(transfer_size_min) result(res) &
        bind(C, name="gaspi_passive_transfer_size_min")
      import
      integer(gaspi_size_t) :: transfer_size_min
      integer(gaspi_return_t) :: res
    end function gaspi_passive_transfer_size_min

    function gaspi_cpu_frequency(cpu_mhz) result(res) bind(C, name="gaspi_cpu_frequency")
      import
      real(gaspi_float) :: cpu_mhz
      integer(gaspi_return_t) :: res
    end function gaspi_cpu_frequency

    function gaspi_numa_socket(socket) result(res) bind(C, name="gaspi_numa_socket")
      import
      integer(gaspi_uchar) :: socket
      integer(gaspi_return_t) :: res
    end function gaspi_numa_socket

    function gaspi_set_socket_affinity(socket) result(res) &
        bind(C, name="gaspi_set_socket_affinity")
      import
      integer(gaspi_uchar), value :: socket
      integer(gaspi_return_t) :: res
    end function gaspi_set_socket_affinity

    function gaspi_print_affinity_mask() result(res) bind(C, name="gaspi_print_affinity_mask")
      import
      integer(gaspi_return_t) :: res
    end function gaspi_print_affinity_mask
  end interface

  interface
    ! The address of a constant text that ends with a c_null_char.
    function gaspi_error_str(error_code) result(text) bind(C, name="gaspi_error_str")
      import
      integer(gaspi_return_t), value :: error_code
      type(c_ptr) :: text
    end function gaspi_error_str

    subroutine gaspi_delay() bind(C, name="gaspi_delay")
    end subroutine gaspi_delay

    subroutine gaspi_print_text(text) bind(C, name="gaspi_print_text")
      import
      character(kind=c_char), intent(in) :: text(*)
    end subroutine gaspi_print_text
  end interface

contains

  subroutine gaspi_printf(text)
    character(kind=c_char, len=*), intent(in) :: text
    if (index(text, c_null_char) > 0) then
      call gaspi_print_text(text)
    else
      call gaspi_print_text(trim(text) // c_new_line // c_null_char)
    end if
  end subroutine gaspi_printf
end module gaspi_ext

! The procedures, and gaspi_time_ticks as the field calls it: with an integer(gaspi_cycles_t), for
! the processor's own count.
module gaspi
  use gaspi_c_binding, time_ticks_of_17_1 => gaspi_time_ticks
  use gaspi_ext
  implicit none
  public
  private :: time_ticks_of_17_1

  interface gaspi_time_ticks
    procedure gaspi_time_ticks_real, gaspi_time_ticks_cycles
  end interface gaspi_time_ticks
end module gaspi
