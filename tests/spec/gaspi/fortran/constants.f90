! Chapter 4: every constant and kind beside what the C headers say (c_side.c).
module constants
  use testing
  implicit none
  private
  public :: values, kinds, config

  interface
    function spec_c_value(name) result(value) bind(C)
      import
      character(c_char), intent(in) :: name(*)
      integer(c_long) :: value
    end function spec_c_value
    function spec_c_size(name) result(bytes) bind(C)
      import
      character(c_char), intent(in) :: name(*)
      integer(c_long) :: bytes
    end function spec_c_size
    subroutine spec_c_fill(config) bind(C)
      import
      type(gaspi_config_t) :: config
    end subroutine spec_c_fill
    function spec_c_differs(config) result(differs) bind(C)
      import
      type(gaspi_config_t), value :: config
      integer(c_int) :: differs
    end function spec_c_differs
  end interface

contains

  subroutine same(name, value)
    character(len=*), intent(in) :: name
    integer(c_long), intent(in) :: value

    call check(spec_c_value(name // c_null_char) == value, name // ' is that of GASPI.h')
  end subroutine same

  subroutine same_size(name, bits)
    character(len=*), intent(in) :: name
    integer, intent(in) :: bits

    call check(spec_c_size(name // c_null_char) * 8 == bits, name // ' has the size of GASPI.h')
  end subroutine same_size

  ! Catches: a constant of another value.
  subroutine values()
    call same('GASPI_MAJOR_VERSION', int(GASPI_MAJOR_VERSION, c_long))
    call same('GASPI_MINOR_VERSION', int(GASPI_MINOR_VERSION, c_long))
    call same('GASPI_ALLOC_DEFAULT', int(GASPI_ALLOC_DEFAULT, c_long))
    call same('GASPI_BLOCK', int(GASPI_BLOCK, c_long))
    call same('GASPI_ERROR', int(GASPI_ERROR, c_long))
    call same('GASPI_ERR_ACTIVE_COLL', int(GASPI_ERR_ACTIVE_COLL, c_long))
    call same('GASPI_ERR_CONFIG', int(GASPI_ERR_CONFIG, c_long))
    call same('GASPI_ERR_DEVICE', int(GASPI_ERR_DEVICE, c_long))
    call same('GASPI_ERR_EMFILE', int(GASPI_ERR_EMFILE, c_long))
    call same('GASPI_ERR_ENV', int(GASPI_ERR_ENV, c_long))
    call same('GASPI_ERR_INITED', int(GASPI_ERR_INITED, c_long))
    call same('GASPI_ERR_INV_COMMSIZE', int(GASPI_ERR_INV_COMMSIZE, c_long))
    call same('GASPI_ERR_INV_GROUP', int(GASPI_ERR_INV_GROUP, c_long))
    call same('GASPI_ERR_INV_LOC_OFF', int(GASPI_ERR_INV_LOC_OFF, c_long))
    call same('GASPI_ERR_INV_NOTIF_ID', int(GASPI_ERR_INV_NOTIF_ID, c_long))
    call same('GASPI_ERR_INV_NOTIF_VAL', int(GASPI_ERR_INV_NOTIF_VAL, c_long))
    call same('GASPI_ERR_INV_NUM', int(GASPI_ERR_INV_NUM, c_long))
    call same('GASPI_ERR_INV_QUEUE', int(GASPI_ERR_INV_QUEUE, c_long))
    call same('GASPI_ERR_INV_RANK', int(GASPI_ERR_INV_RANK, c_long))
    call same('GASPI_ERR_INV_REM_OFF', int(GASPI_ERR_INV_REM_OFF, c_long))
    call same('GASPI_ERR_INV_SEG', int(GASPI_ERR_INV_SEG, c_long))
    call same('GASPI_ERR_INV_SEGSIZE', int(GASPI_ERR_INV_SEGSIZE, c_long))
    call same('GASPI_ERR_INV_SIZE', int(GASPI_ERR_INV_SIZE, c_long))
    call same('GASPI_ERR_MANY_GRP', int(GASPI_ERR_MANY_GRP, c_long))
    call same('GASPI_ERR_MANY_SEG', int(GASPI_ERR_MANY_SEG, c_long))
    call same('GASPI_ERR_MEMALLOC', int(GASPI_ERR_MEMALLOC, c_long))
    call same('GASPI_ERR_NOINIT', int(GASPI_ERR_NOINIT, c_long))
    call same('GASPI_ERR_NULLPTR', int(GASPI_ERR_NULLPTR, c_long))
    call same('GASPI_ERR_QUEUE_FULL', int(GASPI_ERR_QUEUE_FULL, c_long))
    call same('GASPI_ERR_SN', int(GASPI_ERR_SN, c_long))
    call same('GASPI_ERR_SN_PORT', int(GASPI_ERR_SN_PORT, c_long))
    call same('GASPI_ERR_UNALIGN_OFF', int(GASPI_ERR_UNALIGN_OFF, c_long))
    call same('GASPI_ETHERNET', int(GASPI_ETHERNET, c_long))
    call same('GASPI_GROUP_ALL', int(GASPI_GROUP_ALL, c_long))
    call same('GASPI_IB', int(GASPI_IB, c_long))
    call same('GASPI_MEMORY_CUDA(3)', int(GASPI_MEMORY_CUDA(3), c_long))
    call same('GASPI_MEMORY_HIP(1)', int(GASPI_MEMORY_HIP(1), c_long))
    call same('GASPI_MEMORY_HOST', int(GASPI_MEMORY_HOST, c_long))
    call same('GASPI_MEM_INITIALIZED', int(GASPI_MEM_INITIALIZED, c_long))
    call same('GASPI_MEM_UNINITIALIZED', int(GASPI_MEM_UNINITIALIZED, c_long))
    call same('GASPI_OFI', int(GASPI_OFI, c_long))
    call same('GASPI_OP_MAX', int(GASPI_OP_MAX, c_long))
    call same('GASPI_OP_MIN', int(GASPI_OP_MIN, c_long))
    call same('GASPI_OP_SUM', int(GASPI_OP_SUM, c_long))
    call same('GASPI_QUEUE_FULL', int(GASPI_QUEUE_FULL, c_long))
    call same('GASPI_ROCE', int(GASPI_ROCE, c_long))
    call same('GASPI_STATE_CORRUPT', int(GASPI_STATE_CORRUPT, c_long))
    call same('GASPI_STATE_HEALTHY', int(GASPI_STATE_HEALTHY, c_long))
    call same('GASPI_STATISTIC_ARGUMENT_NONE', int(GASPI_STATISTIC_ARGUMENT_NONE, c_long))
    call same('GASPI_STATISTIC_ARGUMENT_RANK', int(GASPI_STATISTIC_ARGUMENT_RANK, c_long))
    call same('GASPI_SUCCESS', int(GASPI_SUCCESS, c_long))
    call same('GASPI_TEST', int(GASPI_TEST, c_long))
    call same('GASPI_TIMEOUT', int(GASPI_TIMEOUT, c_long))
    call same('GASPI_TOPOLOGY_DYNAMIC', int(GASPI_TOPOLOGY_DYNAMIC, c_long))
    call same('GASPI_TOPOLOGY_NONE', int(GASPI_TOPOLOGY_NONE, c_long))
    call same('GASPI_TOPOLOGY_STATIC', int(GASPI_TOPOLOGY_STATIC, c_long))
    call same('GASPI_TYPE_DOUBLE', int(GASPI_TYPE_DOUBLE, c_long))
    call same('GASPI_TYPE_FLOAT', int(GASPI_TYPE_FLOAT, c_long))
    call same('GASPI_TYPE_INT', int(GASPI_TYPE_INT, c_long))
    call same('GASPI_TYPE_LONG', int(GASPI_TYPE_LONG, c_long))
    call same('GASPI_TYPE_UINT', int(GASPI_TYPE_UINT, c_long))
    call same('GASPI_TYPE_ULONG', int(GASPI_TYPE_ULONG, c_long))
  end subroutine values

  ! Catches: a kind of another size.
  subroutine kinds()
    call same_size('gaspi_alloc_t', storage_size(0_gaspi_alloc_t))
    call same_size('gaspi_atomic_value_t', storage_size(0_gaspi_atomic_value_t))
    call same_size('gaspi_cycles_t', storage_size(0_gaspi_cycles_t))
    call same_size('gaspi_datatype_t', storage_size(0_gaspi_datatype_t))
    call same_size('gaspi_group_t', storage_size(0_gaspi_group_t))
    call same_size('gaspi_int', storage_size(0_gaspi_int))
    call same_size('gaspi_long', storage_size(0_gaspi_long))
    call same_size('gaspi_memory_description_t', storage_size(0_gaspi_memory_description_t))
    call same_size('gaspi_network_t', storage_size(0_gaspi_network_t))
    call same_size('gaspi_notification_id_t', storage_size(0_gaspi_notification_id_t))
    call same_size('gaspi_notification_t', storage_size(0_gaspi_notification_t))
    call same_size('gaspi_number_t', storage_size(0_gaspi_number_t))
    call same_size('gaspi_offset_t', storage_size(0_gaspi_offset_t))
    call same_size('gaspi_operation_t', storage_size(0_gaspi_operation_t))
    call same_size('gaspi_queue_id_t', storage_size(0_gaspi_queue_id_t))
    call same_size('gaspi_rank_t', storage_size(0_gaspi_rank_t))
    call same_size('gaspi_return_t', storage_size(0_gaspi_return_t))
    call same_size('gaspi_segment_id_t', storage_size(0_gaspi_segment_id_t))
    call same_size('gaspi_short', storage_size(0_gaspi_short))
    call same_size('gaspi_size_t', storage_size(0_gaspi_size_t))
    call same_size('gaspi_state_t', storage_size(0_gaspi_state_t))
    call same_size('gaspi_statistic_argument_t', storage_size(0_gaspi_statistic_argument_t))
    call same_size('gaspi_statistic_counter_t', storage_size(0_gaspi_statistic_counter_t))
    call same_size('gaspi_timeout_t', storage_size(0_gaspi_timeout_t))
    call same_size('gaspi_topology_t', storage_size(0_gaspi_topology_t))
    call same_size('gaspi_uchar', storage_size(0_gaspi_uchar))
    call same_size('gaspi_uint', storage_size(0_gaspi_uint))
    call same_size('gaspi_ulong', storage_size(0_gaspi_ulong))
    call same_size('gaspi_ushort', storage_size(0_gaspi_ushort))
    call same_size('gaspi_time_t', storage_size(0.0_gaspi_time_t))
    call same_size('gaspi_float', storage_size(0.0_gaspi_float))
    call same_size('gaspi_double', storage_size(0.0_gaspi_double))
    call same_size('gaspi_char', storage_size(gaspi_char_' '))
    call check(gaspi_char == c_char, 'a character')
    call check(gaspi_string_t == c_char, 'a string is of characters')
    call check(gaspi_returns_t == gaspi_return_t, 'gaspi_returns_t has those of a process')
    call check(gaspi_state_vector_t == gaspi_state_t, 'gaspi_state_vector_t has those of a process')
  end subroutine kinds

  ! Catches: a component in another place; a structure that does not arrive whole by value.
  subroutine config()
    type(gaspi_config_t) :: c
    type(gaspi_dev_config_t) :: device

    call same_size('gaspi_config_t', int(8 * c_sizeof(c)))
    call same_size('gaspi_dev_config_t', int(8 * c_sizeof(device)))
    call spec_c_fill(c)
    call check_equal(c%group_max, 1, 'group_max')
    call check_equal(c%segment_max, 2, 'segment_max')
    call check_equal(c%queue_num, 3, 'queue_num')
    call check_equal(c%queue_size_max, 4, 'queue_size_max')
    call check_equal(int(c%transfer_size_max), 5, 'transfer_size_max')
    call check_equal(c%notification_num, 6, 'notification_num')
    call check_equal(c%passive_queue_size_max, 7, 'passive_queue_size_max')
    call check_equal(int(c%passive_transfer_size_max), 8, 'passive_transfer_size_max')
    call check_equal(int(c%allreduce_buf_size), 9, 'allreduce_buf_size')
    call check_equal(c%allreduce_elem_max, 10, 'allreduce_elem_max')
    call check_equal(c%network, GASPI_OFI, 'network')
    call check_equal(c%build_infrastructure, GASPI_TOPOLOGY_DYNAMIC, 'build_infrastructure')
    call check(c_associated(c%user_defined), 'user_defined')
    call check_equal(c%rw_list_elem_max, 13, 'rw_list_elem_max')
    call check_equal(c%logger, 14, 'logger')
    call check_equal(c%sn_port, 15, 'sn_port')
    call check_equal(c%net_info, 16, 'net_info')
    call check_equal(c%user_net, 17, 'user_net')
    call check_equal(c%sn_persistent, 18, 'sn_persistent')
    call check_equal(int(c%sn_timeout), 19, 'sn_timeout')
    device = c%dev_config
    call check_equal(device%network, GASPI_ROCE, 'dev_config%network')
    call check(c_associated(device%params), 'dev_config%params')
    call check_equal(spec_c_differs(c), 0, 'components that differ when it comes back by value')
  end subroutine config
end module constants
