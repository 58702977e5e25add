! Chapters 12 to 14: getters, environment, statistics; and the field's questions about the host.
module info
  use testing
  use gaspi_ext
  implicit none
  private
  public :: getters, times, texts, statistics, host

contains

  ! Catches: a getter of another size or of another limit than the configuration's.
  subroutine getters()
    type(gaspi_config_t) :: c
    integer(gaspi_number_t) :: n
    integer(gaspi_size_t) :: s
    integer(gaspi_network_t) :: network

    call check_ok(gaspi_config_get(c), 'gaspi_config_get')
    call check_ok(gaspi_group_max(n), 'gaspi_group_max')
    call check_equal(n, c%group_max, 'group_max')
    call check_ok(gaspi_segment_max(n), 'gaspi_segment_max')
    call check_equal(n, c%segment_max, 'segment_max')
    call check_ok(gaspi_queue_num(n), 'gaspi_queue_num')
    call check_equal(n, c%queue_num, 'queue_num')
    call check_ok(gaspi_queue_max(n), 'gaspi_queue_max')
    call check(n >= c%queue_num, 'queue_max')
    call check_ok(gaspi_queue_size_max(n), 'gaspi_queue_size_max')
    call check_equal(n, c%queue_size_max, 'queue_size_max')
    call check_ok(gaspi_notification_num(n), 'gaspi_notification_num')
    call check_equal(n, c%notification_num, 'notification_num')
    call check_ok(gaspi_build_infrastructure(n), 'gaspi_build_infrastructure')
    call check_equal(n, c%build_infrastructure, 'build_infrastructure')
    call check_ok(gaspi_allreduce_elem_max(n), 'gaspi_allreduce_elem_max')
    call check_equal(n, c%allreduce_elem_max, 'allreduce_elem_max')
    call check_ok(gaspi_rw_list_elem_max(n), 'gaspi_rw_list_elem_max')
    call check_equal(n, c%rw_list_elem_max, 'rw_list_elem_max')
    s = -1
    call check_ok(gaspi_allreduce_buf_size(s), 'gaspi_allreduce_buf_size')
    call check(s == c%allreduce_buf_size, 'allreduce_buf_size')
    s = -1
    call check_ok(gaspi_transfer_size_max(s), 'gaspi_transfer_size_max')
    call check(s == c%transfer_size_max, 'transfer_size_max')
    s = -1
    call check_ok(gaspi_transfer_size_min(s), 'gaspi_transfer_size_min')
    call check(s == 0, 'transfer_size_min')
    s = -1
    call check_ok(gaspi_passive_transfer_size_max(s), 'gaspi_passive_transfer_size_max')
    call check(s == c%passive_transfer_size_max, 'passive_transfer_size_max')
    s = -1
    call check_ok(gaspi_passive_transfer_size_min(s), 'gaspi_passive_transfer_size_min')
    call check(s == 1, 'passive_transfer_size_min')
    call check_ok(gaspi_network_type(network), 'gaspi_network_type')
    call check_equal(network, c%network, 'network')
  end subroutine getters

  ! Catches: a clock of another type or unit; 17.1's integers filled with a real.
  subroutine times()
    real(c_float) :: version
    real(gaspi_time_t) :: before, after, resolution
    integer(gaspi_cycles_t) :: whole, ticks, later

    call check_ok(gaspi_version(version), 'gaspi_version')
    call check(abs(version - 17.1) < 0.01, 'the version')
    call check_ok(gaspi_time_get(before), 'gaspi_time_get')
    call check_ok(gaspi_time_get(whole), 'gaspi_time_get of an integer')
    call check_ok(gaspi_time_get(after), 'gaspi_time_get')
    call check(before <= after .and. whole >= int(before, kind(whole)) .and. whole <= after, &
               'milliseconds in either form')
    call check_ok(gaspi_time_ticks(resolution), 'gaspi_time_ticks')
    call check(resolution > 0 .and. resolution < 1, 'the resolution')
    call check_ok(gaspi_time_ticks(whole), 'gaspi_time_ticks of an integer')
    call check(whole == 1, 'the resolution, rounded up')
    call check_ok(gaspi_time_ticks_cycles(ticks), 'gaspi_time_ticks_cycles')
    call barrier()
    call check_ok(gaspi_time_ticks_cycles(later), 'gaspi_time_ticks_cycles')
    call check(later > ticks, 'the processor counts')
    call field_ticks()
  end subroutine times

  ! Catches: the field's module giving another form than the field's.
  subroutine field_ticks()
    use gaspi, only: ticks_of_field => gaspi_time_ticks
    integer(gaspi_cycles_t) :: ticks, later
    real(gaspi_time_t) :: resolution

    call check_ok(ticks_of_field(ticks), 'gaspi_time_ticks of cycles')
    call check_ok(gaspi_time_ticks_cycles(later), 'gaspi_time_ticks_cycles')
    call check(later > ticks .and. ticks > 1, 'cycles')
    call check_ok(ticks_of_field(resolution), 'gaspi_time_ticks')
    call check(resolution > 0 .and. resolution < 1, 'the resolution')
  end subroutine field_ticks

  ! Catches: a text written behind what there is room for, or not at all.
  subroutine texts()
    character(len=200) :: text, same
    character(len=10) :: short
    character(c_char), dimension(200) :: letters
    character(c_char), dimension(5) :: few
    character(kind=c_char), pointer :: from(:)
    type(c_ptr) :: address
    integer :: i

    text = repeat('?', 200)
    call check_ok(gaspi_print_error(GASPI_ERR_INV_QUEUE, text), 'gaspi_print_error')
    call check(len_trim(text) > 10 .and. index(text, '?') == 0, 'a text, and blanks behind it')
    call check_ok(gaspi_error_message(GASPI_ERR_INV_QUEUE, same), 'gaspi_error_message')
    call check(text == same, 'the same text')
    call check_ok(gaspi_print_error(GASPI_ERR_INV_QUEUE, short), 'gaspi_print_error')
    call check(short == text(:10), 'its beginning')
    letters = '?'
    call check_ok(gaspi_print_error(GASPI_ERR_INV_QUEUE, letters), 'gaspi_print_error of an array')
    i = len_trim(text)
    call check(all(letters(:i) == transfer(text, letters, i)), 'the text in an array')
    call check(letters(i + 1) == c_null_char .and. all(letters(i + 2:) == ' '), 'what is behind it')
    call check_ok(gaspi_error_message(GASPI_ERR_INV_QUEUE, few), 'gaspi_error_message of an array')
    call check(all(few == letters(:5)), 'its beginning in an array')
    call check_ok(gaspi_print_error(GASPI_ERR_INV_QUEUE, address), 'gaspi_print_error of an address')
    call c_f_pointer(address, from, [5])
    call check(all(from == few), 'the text at the address')
    call check_ok(gaspi_error_message(GASPI_TIMEOUT, address), 'gaspi_error_message of an address')
    call c_f_pointer(gaspi_error_str(GASPI_ERR_INV_QUEUE), from, [5])
    call check(all(from == few), 'the text of gaspi_error_str')
    call check_ok(gaspi_print_error(99_gaspi_return_t, text), 'an unknown code')
  end subroutine texts

  ! Catches: texts in each other's place, a counter or argument of another kind.
  subroutine statistics()
    integer(gaspi_statistic_counter_t) :: counters, counter, written
    integer(gaspi_statistic_argument_t) :: argument, other
    character(len=40) :: name
    character(len=200) :: description
    character(c_char), dimension(40) :: letters
    character(c_char), dimension(200) :: more_letters
    type(c_ptr) :: name_at, description_at
    integer(gaspi_number_t) :: level, value
    integer(gaspi_ulong) :: wide

    call check_ok(gaspi_statistic_counter_max(counters), 'gaspi_statistic_counter_max')
    call check(counters > 0, 'there are counters')
    written = -1
    do counter = 0, counters - 1
      call check_ok(gaspi_statistic_counter_info(counter, argument, name, description, level), &
                    'gaspi_statistic_counter_info')
      call check(len_trim(name) > 0 .and. len_trim(description) > 0 .and. level >= 1, 'texts, level')
      call check(argument == GASPI_STATISTIC_ARGUMENT_NONE .or. &
                 argument == GASPI_STATISTIC_ARGUMENT_RANK, 'a known argument')
      if (name == 'bytes written') written = counter
      call check_ok(gaspi_statistic_counter_info(counter, other, letters, more_letters, level), &
                    'gaspi_statistic_counter_info of arrays')
      call check(letters(1) == name(1:1) .and. more_letters(2) == description(2:2) .and. &
                 other == argument, 'the same in arrays')
      call check_ok(gaspi_statistic_counter_info(counter, other, name_at, description_at, level), &
                    'gaspi_statistic_counter_info of addresses')
      call check(c_associated(name_at) .and. c_associated(description_at), 'addresses')
    end do
    call check(written >= 0, '"bytes written" is there')
    call check_ok(gaspi_statistic_verbosity_level(1), 'gaspi_statistic_verbosity_level')
    call check_ok(gaspi_statistic_counter_reset(written), 'gaspi_statistic_counter_reset')
    call check_ok(gaspi_write(seg0, 0_off, right, seg1, 0_off, 40_off, queue0, long), 'gaspi_write')
    call check_ok(gaspi_wait(queue0, long), 'gaspi_wait')
    call check_ok(gaspi_statistic_counter_get(written, GASPI_STATISTIC_ARGUMENT_NONE, value), &
                  'gaspi_statistic_counter_get')
    call check_equal(value, 40, 'bytes written')
    wide = -1
    call check_ok(gaspi_statistic_counter_get(written, GASPI_STATISTIC_ARGUMENT_NONE, wide), &
                  'gaspi_statistic_counter_get of a long')
    call check(wide == 40, 'bytes written in a long')
    call check_ok(gaspi_statistic_counter_reset(written), 'gaspi_statistic_counter_reset')
    call check_ok(gaspi_statistic_counter_get(written, GASPI_STATISTIC_ARGUMENT_NONE, value), &
                  'gaspi_statistic_counter_get')
    call check_equal(value, 0, 'bytes written after a reset')
    call check_ok(gaspi_statistic_verbosity_level(0), 'gaspi_statistic_verbosity_level')
    call check_is(gaspi_statistic_counter_reset(counters), GASPI_ERROR, 'no such counter')
    call check_ok(gaspi_pcontrol(c_null_ptr), 'gaspi_pcontrol')
  end subroutine statistics

  ! Catches: a variable of another size. The system of a container may say nothing.
  subroutine host()
    real(gaspi_float) :: mhz
    integer(gaspi_uchar) :: socket

    mhz = -1
    if (gaspi_cpu_frequency(mhz) == GASPI_SUCCESS) call check(mhz > 100, 'MHz')
    socket = 0
    if (gaspi_numa_socket(socket) == GASPI_SUCCESS) &
      call check_ok(gaspi_set_socket_affinity(socket), 'gaspi_set_socket_affinity')
    call check_is(gaspi_set_socket_affinity(int(250 - 256, gaspi_uchar)), GASPI_ERROR, &
                  'a socket that does not exist')
    if (rank == 0) call check_ok(gaspi_print_affinity_mask(), 'gaspi_print_affinity_mask')
  end subroutine host
end module info
