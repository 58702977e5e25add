! GASPI_C_BINDING: the Fortran 2003 binding of GASPI 17.1. Has all of gaspi_types and, because the
! arguments need it, of iso_c_binding.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Arguments, threads, completion and errors are those of GASPI.h. What c_loc() is applied
! to must have the target attribute. Where a procedure is more than its C namesake:
!
! - gaspi_state_vec_get takes the address of an array of integer(gaspi_state_t), one per process;
!   in C that is the field's form.
! - gaspi_allreduce_user takes operations of seven arguments (11.4.2 in Fortran), which combine all
!   elements in one call: see gaspi_reduce_operation.
! - gaspi_print_error and gaspi_statistic_counter_info fill the caller's characters. 17.1 declares
!   arrays of characters where C has the address of a pointer; a text is copied, cut to what there
!   is room for, and never written behind it.
! - gaspi_time_get and gaspi_time_ticks take a real(gaspi_time_t). 17.1's integer(gaspi_time_t) is
!   accepted too: milliseconds, cut to whole ones, and rounded up for the resolution.
module gaspi_c_binding
  use gaspi_types
  implicit none
  public

  ! The integers that 17.1 declares for times: the size of a gaspi_time_t.
  integer, parameter, private :: whole = gaspi_time_t + 0

  private :: time_get_whole, time_ticks_whole, print_error_scalar, print_error_array, &
             counter_info_scalar, counter_info_array, put_scalar, put_array

  ! 11.4.2. The operands are arrays of num elements of element_size bytes each: an operation may
  ! declare them so, as in listing 16, and is handed over by c_funloc(). op_res is neither of the
  ! operands; op_state is what the call of gaspi_allreduce_user was given.
  abstract interface
    function gaspi_reduce_operation(op_one, op_two, op_res, op_state, num, element_size, timeout) &
        result(res) bind(C)
      import
      type(c_ptr), value :: op_one
      type(c_ptr), value :: op_two
      type(c_ptr), value :: op_res
      type(c_ptr), value :: op_state
      integer(gaspi_number_t), value :: num
      integer(gaspi_size_t), value :: element_size
      integer(gaspi_timeout_t), value :: timeout
      integer(gaspi_return_t) :: res
    end function gaspi_reduce_operation
  end interface

  ! ---- 5: processes ----

  interface
    function gaspi_config_get(config) result(res) bind(C, name="gaspi_config_get")
      import
      type(gaspi_config_t) :: config
      integer(gaspi_return_t) :: res
    end function gaspi_config_get

    function gaspi_config_set(new_config) result(res) bind(C, name="gaspi_config_set")
      import
      type(gaspi_config_t), value :: new_config
      integer(gaspi_return_t) :: res
    end function gaspi_config_set

    function gaspi_proc_init(timeout_ms) result(res) bind(C, name="gaspi_proc_init")
      import
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_proc_init

    function gaspi_proc_num(proc_num) result(res) bind(C, name="gaspi_proc_num")
      import
      integer(gaspi_rank_t) :: proc_num
      integer(gaspi_return_t) :: res
    end function gaspi_proc_num

    function gaspi_proc_rank(rank) result(res) bind(C, name="gaspi_proc_rank")
      import
      integer(gaspi_rank_t) :: rank
      integer(gaspi_return_t) :: res
    end function gaspi_proc_rank

    function gaspi_proc_term(timeout_ms) result(res) bind(C, name="gaspi_proc_term")
      import
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_proc_term

    function gaspi_proc_kill(rank, timeout_ms) result(res) bind(C, name="gaspi_proc_kill")
      import
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_proc_kill

    function gaspi_connect(rank, timeout_ms) result(res) bind(C, name="gaspi_connect")
      import
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_connect

    function gaspi_disconnect(rank, timeout_ms) result(res) bind(C, name="gaspi_disconnect")
      import
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_disconnect

    function gaspi_state_vec_get(state_vector) result(res) &
        bind(C, name="gaspi_state_vec_get_array")
      import
      type(c_ptr), value :: state_vector
      integer(gaspi_return_t) :: res
    end function gaspi_state_vec_get
  end interface

  ! ---- 6: groups ----

  interface
    function gaspi_group_create(group) result(res) bind(C, name="gaspi_group_create")
      import
      integer(gaspi_group_t) :: group
      integer(gaspi_return_t) :: res
    end function gaspi_group_create

    function gaspi_group_add(group, rank) result(res) bind(C, name="gaspi_group_add")
      import
      integer(gaspi_group_t), value :: group
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_return_t) :: res
    end function gaspi_group_add

    function gaspi_group_commit(group, timeout_ms) result(res) &
        bind(C, name="gaspi_group_commit")
      import
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_group_commit

    function gaspi_group_delete(group) result(res) bind(C, name="gaspi_group_delete")
      import
      integer(gaspi_group_t), value :: group
      integer(gaspi_return_t) :: res
    end function gaspi_group_delete

    function gaspi_group_num(group_num) result(res) bind(C, name="gaspi_group_num")
      import
      integer(gaspi_number_t) :: group_num
      integer(gaspi_return_t) :: res
    end function gaspi_group_num

    function gaspi_group_size(group, group_size) result(res) bind(C, name="gaspi_group_size")
      import
      integer(gaspi_group_t), value :: group
      integer(gaspi_number_t) :: group_size
      integer(gaspi_return_t) :: res
    end function gaspi_group_size

    function gaspi_group_ranks(group, group_ranks) result(res) bind(C, name="gaspi_group_ranks")
      import
      integer(gaspi_group_t), value :: group
      type(c_ptr), value :: group_ranks
      integer(gaspi_return_t) :: res
    end function gaspi_group_ranks
  end interface

  ! ---- 7: segments ----

  interface
    function gaspi_segment_alloc(segment_id, size, alloc_policy) result(res) &
        bind(C, name="gaspi_segment_alloc")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_size_t), value :: size
      integer(gaspi_alloc_t), value :: alloc_policy
      integer(gaspi_return_t) :: res
    end function gaspi_segment_alloc

    function gaspi_segment_register(segment_id, rank, timeout_ms) result(res) &
        bind(C, name="gaspi_segment_register")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_segment_register

    function gaspi_segment_create(segment_id, size, group, timeout_ms, alloc_policy) result(res) &
        bind(C, name="gaspi_segment_create")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_size_t), value :: size
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_alloc_t), value :: alloc_policy
      integer(gaspi_return_t) :: res
    end function gaspi_segment_create

    function gaspi_segment_bind(segment_id, pointer, size, memory_description) result(res) &
        bind(C, name="gaspi_segment_bind")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      type(c_ptr), value :: pointer
      integer(gaspi_size_t), value :: size
      integer(gaspi_memory_description_t), value :: memory_description
      integer(gaspi_return_t) :: res
    end function gaspi_segment_bind

    function gaspi_segment_use(segment_id, pointer, size, group, timeout, memory_description) &
        result(res) bind(C, name="gaspi_segment_use")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      type(c_ptr), value :: pointer
      integer(gaspi_size_t), value :: size
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout
      integer(gaspi_memory_description_t), value :: memory_description
      integer(gaspi_return_t) :: res
    end function gaspi_segment_use

    function gaspi_segment_delete(segment_id) result(res) bind(C, name="gaspi_segment_delete")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_return_t) :: res
    end function gaspi_segment_delete

    function gaspi_segment_num(segment_num) result(res) bind(C, name="gaspi_segment_num")
      import
      integer(gaspi_number_t) :: segment_num
      integer(gaspi_return_t) :: res
    end function gaspi_segment_num

    function gaspi_segment_list(num, segment_id_list) result(res) &
        bind(C, name="gaspi_segment_list")
      import
      integer(gaspi_number_t), value :: num
      type(c_ptr), value :: segment_id_list
      integer(gaspi_return_t) :: res
    end function gaspi_segment_list

    function gaspi_segment_ptr(segment_id, ptr) result(res) bind(C, name="gaspi_segment_ptr")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      type(c_ptr) :: ptr
      integer(gaspi_return_t) :: res
    end function gaspi_segment_ptr
  end interface

  ! ---- 8: one-sided communication. Lists are addresses of arrays of the kinds of gaspi_write ----

  interface
    function gaspi_write(segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, queue, timeout_ms) result(res) bind(C, name="gaspi_write")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_write

    function gaspi_read(segment_id_local, offset_local, rank, segment_id_remote, offset_remote, &
        size, queue, timeout_ms) result(res) bind(C, name="gaspi_read")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_read

    function gaspi_wait(queue, timeout_ms) result(res) bind(C, name="gaspi_wait")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_wait

    function gaspi_notify(segment_id_remote, rank, notification_id, notification_value, queue, &
        timeout_ms) result(res) bind(C, name="gaspi_notify")
      import
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: notification_value
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_notify

    function gaspi_notify_waitsome(segment_id_local, notification_begin, num, first_id, &
        timeout_ms) result(res) bind(C, name="gaspi_notify_waitsome")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_notification_id_t), value :: notification_begin
      integer(gaspi_number_t), value :: num
      integer(gaspi_notification_id_t) :: first_id
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_notify_waitsome

    function gaspi_notify_reset(segment_id_local, notification_id, old_notification_val) &
        result(res) bind(C, name="gaspi_notify_reset")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t) :: old_notification_val
      integer(gaspi_return_t) :: res
    end function gaspi_notify_reset

    function gaspi_write_notify(segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, notification_id, notification_value, queue, timeout_ms) result(res) &
        bind(C, name="gaspi_write_notify")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: notification_value
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_write_notify

    function gaspi_write_list(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, queue, timeout_ms) result(res) bind(C, name="gaspi_write_list")
      import
      integer(gaspi_number_t), value :: num
      type(c_ptr), value :: segment_id_local
      type(c_ptr), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      type(c_ptr), value :: segment_id_remote
      type(c_ptr), value :: offset_remote
      type(c_ptr), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_write_list

    function gaspi_write_list_notify(num, segment_id_local, offset_local, rank, &
        segment_id_remote, offset_remote, size, segment_id_notification, notification_id, &
        notification_value, queue, timeout_ms) result(res) &
        bind(C, name="gaspi_write_list_notify")
      import
      integer(gaspi_number_t), value :: num
      type(c_ptr), value :: segment_id_local
      type(c_ptr), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      type(c_ptr), value :: segment_id_remote
      type(c_ptr), value :: offset_remote
      type(c_ptr), value :: size
      integer(gaspi_segment_id_t), value :: segment_id_notification
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: notification_value
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_write_list_notify

    function gaspi_read_notify(segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, notification_id, queue, timeout_ms) result(res) &
        bind(C, name="gaspi_read_notify")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_read_notify

    function gaspi_read_list(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, queue, timeout_ms) result(res) bind(C, name="gaspi_read_list")
      import
      integer(gaspi_number_t), value :: num
      type(c_ptr), value :: segment_id_local
      type(c_ptr), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      type(c_ptr), value :: segment_id_remote
      type(c_ptr), value :: offset_remote
      type(c_ptr), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_read_list

    function gaspi_read_list_notify(num, segment_id_local, offset_local, rank, &
        segment_id_remote, offset_remote, size, segment_id_notification, notification_id, &
        queue, timeout_ms) result(res) bind(C, name="gaspi_read_list_notify")
      import
      integer(gaspi_number_t), value :: num
      type(c_ptr), value :: segment_id_local
      type(c_ptr), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      type(c_ptr), value :: segment_id_remote
      type(c_ptr), value :: offset_remote
      type(c_ptr), value :: size
      integer(gaspi_segment_id_t), value :: segment_id_notification
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_read_list_notify

    function gaspi_queue_create(queue, timeout_ms) result(res) &
        bind(C, name="gaspi_queue_create")
      import
      integer(gaspi_queue_id_t) :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_queue_create

    function gaspi_queue_delete(queue) result(res) bind(C, name="gaspi_queue_delete")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_return_t) :: res
    end function gaspi_queue_delete

    function gaspi_queue_size(queue, queue_size) result(res) bind(C, name="gaspi_queue_size")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_number_t) :: queue_size
      integer(gaspi_return_t) :: res
    end function gaspi_queue_size

    function gaspi_queue_purge(queue, timeout) result(res) bind(C, name="gaspi_queue_purge")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout
      integer(gaspi_return_t) :: res
    end function gaspi_queue_purge
  end interface

  ! ---- 9: passive communication ----

  interface
    function gaspi_passive_send(segment_id_local, offset_local, rank, size, timeout_ms) &
        result(res) bind(C, name="gaspi_passive_send")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_size_t), value :: size
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_passive_send

    function gaspi_passive_receive(segment_id_local, offset_local, rem_rank, size, timeout_ms) &
        result(res) bind(C, name="gaspi_passive_receive")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t) :: rem_rank
      integer(gaspi_size_t), value :: size
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_passive_receive

    function gaspi_passive_queue_purge(timeout) result(res) &
        bind(C, name="gaspi_passive_queue_purge")
      import
      integer(gaspi_timeout_t), value :: timeout
      integer(gaspi_return_t) :: res
    end function gaspi_passive_queue_purge
  end interface

  ! ---- 10: global atomics ----

  interface
    function gaspi_atomic_fetch_add(segment_id, offset, rank, val_add, val_old, timeout_ms) &
        result(res) bind(C, name="gaspi_atomic_fetch_add")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_offset_t), value :: offset
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_atomic_value_t), value :: val_add
      integer(gaspi_atomic_value_t) :: val_old
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_atomic_fetch_add

    function gaspi_atomic_compare_swap(segment_id, offset, rank, comparator, val_new, val_old, &
        timeout_ms) result(res) bind(C, name="gaspi_atomic_compare_swap")
      import
      integer(gaspi_segment_id_t), value :: segment_id
      integer(gaspi_offset_t), value :: offset
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_atomic_value_t), value :: comparator
      integer(gaspi_atomic_value_t), value :: val_new
      integer(gaspi_atomic_value_t) :: val_old
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_atomic_compare_swap
  end interface

  ! ---- 11: collective communication ----

  interface
    function gaspi_barrier(group, timeout_ms) result(res) bind(C, name="gaspi_barrier")
      import
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_barrier

    function gaspi_allreduce(buffer_send, buffer_receive, num, operation, datatype, group, &
        timeout_ms) result(res) bind(C, name="gaspi_allreduce")
      import
      type(c_ptr), value :: buffer_send
      type(c_ptr), value :: buffer_receive
      integer(gaspi_number_t), value :: num
      integer(gaspi_operation_t), value :: operation
      integer(gaspi_datatype_t), value :: datatype
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_allreduce

    function gaspi_allreduce_user(buffer_send, buffer_receive, num, element_size, &
        reduce_operation, reduce_state, group, timeout_ms) result(res) &
        bind(C, name="gaspi_allreduce_user_counted")
      import
      type(c_ptr), value :: buffer_send
      type(c_ptr), value :: buffer_receive
      integer(gaspi_number_t), value :: num
      integer(gaspi_size_t), value :: element_size
      type(c_funptr), value :: reduce_operation
      type(c_ptr), value :: reduce_state
      integer(gaspi_group_t), value :: group
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: res
    end function gaspi_allreduce_user
  end interface

  ! ---- 12: getters ----

  interface
    function gaspi_group_max(group_max) result(res) bind(C, name="gaspi_group_max")
      import
      integer(gaspi_number_t) :: group_max
      integer(gaspi_return_t) :: res
    end function gaspi_group_max

    function gaspi_segment_max(segment_max) result(res) bind(C, name="gaspi_segment_max")
      import
      integer(gaspi_number_t) :: segment_max
      integer(gaspi_return_t) :: res
    end function gaspi_segment_max

    function gaspi_queue_num(queue_num) result(res) bind(C, name="gaspi_queue_num")
      import
      integer(gaspi_number_t) :: queue_num
      integer(gaspi_return_t) :: res
    end function gaspi_queue_num

    function gaspi_queue_size_max(queue_size_max) result(res) &
        bind(C, name="gaspi_queue_size_max")
      import
      integer(gaspi_number_t) :: queue_size_max
      integer(gaspi_return_t) :: res
    end function gaspi_queue_size_max

    function gaspi_queue_max(queue_max) result(res) bind(C, name="gaspi_queue_max")
      import
      integer(gaspi_number_t) :: queue_max
      integer(gaspi_return_t) :: res
    end function gaspi_queue_max

    function gaspi_transfer_size_max(transfer_size_max) result(res) &
        bind(C, name="gaspi_transfer_size_max")
      import
      integer(gaspi_size_t) :: transfer_size_max
      integer(gaspi_return_t) :: res
    end function gaspi_transfer_size_max

    function gaspi_notification_num(notification_num) result(res) &
        bind(C, name="gaspi_notification_num")
      import
      integer(gaspi_number_t) :: notification_num
      integer(gaspi_return_t) :: res
    end function gaspi_notification_num

    function gaspi_passive_transfer_size_max(transfer_size_max) result(res) &
        bind(C, name="gaspi_passive_transfer_size_max")
      import
      integer(gaspi_size_t) :: transfer_size_max
      integer(gaspi_return_t) :: res
    end function gaspi_passive_transfer_size_max

    function gaspi_atomic_max(max_value) result(res) bind(C, name="gaspi_atomic_max")
      import
      integer(gaspi_atomic_value_t) :: max_value
      integer(gaspi_return_t) :: res
    end function gaspi_atomic_max

    function gaspi_allreduce_buf_size(buf_size) result(res) &
        bind(C, name="gaspi_allreduce_buf_size")
      import
      integer(gaspi_size_t) :: buf_size
      integer(gaspi_return_t) :: res
    end function gaspi_allreduce_buf_size

    function gaspi_allreduce_elem_max(elem_max) result(res) &
        bind(C, name="gaspi_allreduce_elem_max")
      import
      integer(gaspi_number_t) :: elem_max
      integer(gaspi_return_t) :: res
    end function gaspi_allreduce_elem_max

    function gaspi_network_type(network_type) result(res) bind(C, name="gaspi_network_type")
      import
      integer(gaspi_network_t) :: network_type
      integer(gaspi_return_t) :: res
    end function gaspi_network_type

    function gaspi_build_infrastructure(build_infrastructure) result(res) &
        bind(C, name="gaspi_build_infrastructure")
      import
      integer(gaspi_number_t) :: build_infrastructure
      integer(gaspi_return_t) :: res
    end function gaspi_build_infrastructure
  end interface

  ! ---- 13: environment ----

  interface
    function gaspi_version(version) result(res) bind(C, name="gaspi_version")
      import
      real(c_float) :: version
      integer(gaspi_return_t) :: res
    end function gaspi_version
  end interface

  ! ---- 14: profiling ----

  interface
    function gaspi_statistic_counter_max(counter_max) result(res) &
        bind(C, name="gaspi_statistic_counter_max")
      import
      integer(gaspi_statistic_counter_t) :: counter_max
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_counter_max

    function gaspi_statistic_verbosity_level(verbosity_level_) result(res) &
        bind(C, name="gaspi_statistic_verbosity_level")
      import
      integer(gaspi_number_t), value :: verbosity_level_
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_verbosity_level

    function gaspi_statistic_counter_reset(counter) result(res) &
        bind(C, name="gaspi_statistic_counter_reset")
      import
      integer(gaspi_statistic_counter_t), value :: counter
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_counter_reset

    function gaspi_pcontrol(argument) result(res) bind(C, name="gaspi_pcontrol")
      import
      type(c_ptr), value :: argument
      integer(gaspi_return_t) :: res
    end function gaspi_pcontrol
  end interface

  ! ---- procedures of several forms ----

  ! 13.2
  interface gaspi_time_get
    function gaspi_time_get_real(wtime) result(res) bind(C, name="gaspi_time_get")
      import
      real(gaspi_time_t) :: wtime
      integer(gaspi_return_t) :: res
    end function gaspi_time_get_real
    module procedure time_get_whole
  end interface gaspi_time_get

  interface gaspi_time_ticks
    function gaspi_time_ticks_real(resolution) result(res) bind(C, name="gaspi_time_ticks")
      import
      real(gaspi_time_t) :: resolution
      integer(gaspi_return_t) :: res
    end function gaspi_time_ticks_real
    module procedure time_ticks_whole
  end interface gaspi_time_ticks

  interface
    ! The processor's own count, as the field's gaspi_time_ticks gives it.
    function gaspi_time_ticks_cycles(ticks) result(res) bind(C, name="gaspi_time_ticks_cycles")
      import
      integer(gaspi_cycles_t) :: ticks
      integer(gaspi_return_t) :: res
    end function gaspi_time_ticks_cycles
  end interface

  ! 13.3.2. The text, behind it blanks; in an array a c_null_char comes between them, when there
  ! is room for it. With a type(c_ptr) it gets the address of C's constant text.
  interface gaspi_print_error
    function gaspi_print_error_pointer(error_code, error_message) result(res) &
        bind(C, name="gaspi_print_error")
      import
      integer(gaspi_return_t), value :: error_code
      type(c_ptr) :: error_message
      integer(gaspi_return_t) :: res
    end function gaspi_print_error_pointer
    module procedure print_error_scalar, print_error_array
  end interface gaspi_print_error

  interface gaspi_error_message
    function gaspi_error_message_pointer(error_code, error_message) result(res) &
        bind(C, name="gaspi_error_message")
      import
      integer(gaspi_return_t), value :: error_code
      type(c_ptr) :: error_message
      integer(gaspi_return_t) :: res
    end function gaspi_error_message_pointer
    module procedure print_error_scalar, print_error_array
  end interface gaspi_error_message

  ! 14.1.2; texts as in gaspi_print_error
  interface gaspi_statistic_counter_info
    function gaspi_statistic_counter_info_pointer(counter, counter_argument, counter_name, &
        counter_description, verbosity_level) result(res) &
        bind(C, name="gaspi_statistic_counter_info")
      import
      integer(gaspi_statistic_counter_t), value :: counter
      integer(gaspi_statistic_argument_t) :: counter_argument
      type(c_ptr) :: counter_name
      type(c_ptr) :: counter_description
      integer(gaspi_number_t) :: verbosity_level
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_counter_info_pointer
    module procedure counter_info_scalar, counter_info_array
  end interface gaspi_statistic_counter_info

  ! 14.1.4; the field's counts are long ones.
  interface gaspi_statistic_counter_get
    function gaspi_statistic_counter_get_number(counter, argument, value_arg) result(res) &
        bind(C, name="gaspi_statistic_counter_get")
      import
      integer(gaspi_statistic_counter_t), value :: counter
      integer(gaspi_statistic_argument_t), value :: argument
      integer(gaspi_number_t) :: value_arg
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_counter_get_number
    function gaspi_statistic_counter_get_long(counter, argument, value_arg) result(res) &
        bind(C, name="gaspi_statistic_counter_get_long")
      import
      integer(gaspi_statistic_counter_t), value :: counter
      integer(gaspi_statistic_argument_t), value :: argument
      integer(gaspi_ulong) :: value_arg
      integer(gaspi_return_t) :: res
    end function gaspi_statistic_counter_get_long
  end interface gaspi_statistic_counter_get

contains

  function time_get_whole(wtime) result(res)
    integer(whole) :: wtime
    integer(gaspi_return_t) :: res
    real(gaspi_time_t) :: exact

    res = gaspi_time_get_real(exact)
    if (res == GASPI_SUCCESS) wtime = int(exact, whole)
  end function time_get_whole

  function time_ticks_whole(resolution) result(res)
    integer(whole) :: resolution
    integer(gaspi_return_t) :: res
    real(gaspi_time_t) :: exact

    res = gaspi_time_ticks_real(exact)
    if (res == GASPI_SUCCESS) resolution = ceiling(exact, whole)
  end function time_ticks_whole

  function print_error_scalar(error_code, error_message) result(res)
    integer(gaspi_return_t), value :: error_code
    character(kind=c_char, len=*) :: error_message
    integer(gaspi_return_t) :: res
    type(c_ptr) :: text

    res = gaspi_print_error_pointer(error_code, text)
    if (res == GASPI_SUCCESS) call put_scalar(text, error_message)
  end function print_error_scalar

  function print_error_array(error_code, error_message) result(res)
    integer(gaspi_return_t), value :: error_code
    character(c_char), dimension(:) :: error_message
    integer(gaspi_return_t) :: res
    type(c_ptr) :: text

    res = gaspi_print_error_pointer(error_code, text)
    if (res == GASPI_SUCCESS) call put_array(text, error_message)
  end function print_error_array

  function counter_info_scalar(counter, counter_argument, counter_name, counter_description, &
      verbosity_level) result(res)
    integer(gaspi_statistic_counter_t), value :: counter
    integer(gaspi_statistic_argument_t) :: counter_argument
    character(kind=c_char, len=*) :: counter_name
    character(kind=c_char, len=*) :: counter_description
    integer(gaspi_number_t) :: verbosity_level
    integer(gaspi_return_t) :: res
    type(c_ptr) :: name, description

    res = gaspi_statistic_counter_info_pointer(counter, counter_argument, name, description, &
                                               verbosity_level)
    if (res /= GASPI_SUCCESS) return
    call put_scalar(name, counter_name)
    call put_scalar(description, counter_description)
  end function counter_info_scalar

  function counter_info_array(counter, counter_argument, counter_name, counter_description, &
      verbosity_level) result(res)
    integer(gaspi_statistic_counter_t), value :: counter
    integer(gaspi_statistic_argument_t) :: counter_argument
    character(c_char), dimension(:) :: counter_name
    character(c_char), dimension(:) :: counter_description
    integer(gaspi_number_t) :: verbosity_level
    integer(gaspi_return_t) :: res
    type(c_ptr) :: name, description

    res = gaspi_statistic_counter_info_pointer(counter, counter_argument, name, description, &
                                               verbosity_level)
    if (res /= GASPI_SUCCESS) return
    call put_array(name, counter_name)
    call put_array(description, counter_description)
  end function counter_info_array

  ! A text of C's, which ends with a c_null_char, into characters of Fortran's.
  subroutine put_scalar(text, into)
    type(c_ptr), intent(in) :: text
    character(kind=c_char, len=*), intent(out) :: into
    character(kind=c_char), pointer :: from(:)
    integer :: i

    into = ' '
    call c_f_pointer(text, from, [len(into)])
    do i = 1, len(into)
      if (from(i) == c_null_char) exit
      into(i:i) = from(i)
    end do
  end subroutine put_scalar

  subroutine put_array(text, into)
    type(c_ptr), intent(in) :: text
    character(kind=c_char), intent(out) :: into(:)
    character(kind=c_char), pointer :: from(:)
    integer :: i

    into = ' '
    call c_f_pointer(text, from, [size(into)])
    do i = 1, size(into)
      into(i) = from(i)
      if (from(i) == c_null_char) exit
    end do
  end subroutine put_array
end module gaspi_c_binding
