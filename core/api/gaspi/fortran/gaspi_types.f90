! gaspi_types: the kinds, derived types and constants of GASPI 17.1 (chapter 4), as GASPI.h has them.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Fortran has no unsigned integers: a kind here has the size of the C type, and values in the upper
! half of its range are negative. Rank 40000 is int(40000 - 65536, gaspi_rank_t), segment 200 is
! int(200 - 256, gaspi_segment_id_t).
!
! C's pointer types (gaspi_pointer_t, gaspi_const_pointer_t, gaspi_reduce_state_t) are type(c_ptr)
! of iso_c_binding, gaspi_reduce_operation_t is type(c_funptr).
module gaspi_types
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer, parameter :: gaspi_char = c_char
  integer, parameter :: gaspi_uchar = c_signed_char
  integer, parameter :: gaspi_short = c_short
  integer, parameter :: gaspi_ushort = c_short
  integer, parameter :: gaspi_int = c_int
  integer, parameter :: gaspi_uint = c_int
  integer, parameter :: gaspi_long = c_long
  integer, parameter :: gaspi_ulong = c_long
  integer, parameter :: gaspi_float = c_float
  integer, parameter :: gaspi_double = c_double

  integer, parameter :: gaspi_rank_t = c_short
  integer, parameter :: gaspi_group_t = c_signed_char
  integer, parameter :: gaspi_queue_id_t = c_signed_char
  integer, parameter :: gaspi_segment_id_t = c_signed_char
  integer, parameter :: gaspi_number_t = c_int
  integer, parameter :: gaspi_notification_id_t = c_int
  integer, parameter :: gaspi_notification_t = c_int
  integer, parameter :: gaspi_statistic_counter_t = c_int
  integer, parameter :: gaspi_size_t = c_long
  integer, parameter :: gaspi_offset_t = c_long
  integer, parameter :: gaspi_atomic_value_t = c_long
  integer, parameter :: gaspi_timeout_t = c_long ! milliseconds
  integer, parameter :: gaspi_cycles_t = c_long
  integer, parameter :: gaspi_alloc_t = c_long
  integer, parameter :: gaspi_time_t = c_double ! of reals; milliseconds
  integer, parameter :: gaspi_memory_description_t = c_int
  integer, parameter :: gaspi_string_t = c_char ! of characters

  ! C's enumerations.
  integer, parameter :: gaspi_return_t = c_int
  integer, parameter :: gaspi_state_t = c_int
  integer, parameter :: gaspi_network_t = c_int
  integer, parameter :: gaspi_topology_t = c_int
  integer, parameter :: gaspi_operation_t = c_int
  integer, parameter :: gaspi_datatype_t = c_int
  integer, parameter :: gaspi_statistic_argument_t = c_int

  ! Vectors with an entry for every process: the kind of an entry.
  integer, parameter :: gaspi_returns_t = gaspi_return_t
  integer, parameter :: gaspi_state_vector_t = gaspi_state_t

  integer, parameter :: GASPI_MAJOR_VERSION = 17
  integer, parameter :: GASPI_MINOR_VERSION = 1

  ! 3.11 and 4.2.2
  integer(gaspi_return_t), parameter :: GASPI_ERROR = -1
  integer(gaspi_return_t), parameter :: GASPI_SUCCESS = 0
  integer(gaspi_return_t), parameter :: GASPI_TIMEOUT = 1
  integer(gaspi_return_t), parameter :: GASPI_ERR_EMFILE = 2
  integer(gaspi_return_t), parameter :: GASPI_ERR_ENV = 3
  integer(gaspi_return_t), parameter :: GASPI_ERR_SN_PORT = 4
  integer(gaspi_return_t), parameter :: GASPI_ERR_CONFIG = 5
  integer(gaspi_return_t), parameter :: GASPI_ERR_NOINIT = 6
  integer(gaspi_return_t), parameter :: GASPI_ERR_INITED = 7
  integer(gaspi_return_t), parameter :: GASPI_ERR_NULLPTR = 8
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_SEGSIZE = 9
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_SEG = 10
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_GROUP = 11
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_RANK = 12
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_QUEUE = 13
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_LOC_OFF = 14
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_REM_OFF = 15
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_COMMSIZE = 16
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_NOTIF_VAL = 17
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_NOTIF_ID = 18
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_NUM = 19
  integer(gaspi_return_t), parameter :: GASPI_ERR_INV_SIZE = 20
  integer(gaspi_return_t), parameter :: GASPI_ERR_MANY_SEG = 21
  integer(gaspi_return_t), parameter :: GASPI_ERR_MANY_GRP = 22
  integer(gaspi_return_t), parameter :: GASPI_QUEUE_FULL = 23
  integer(gaspi_return_t), parameter :: GASPI_ERR_QUEUE_FULL = GASPI_QUEUE_FULL
  integer(gaspi_return_t), parameter :: GASPI_ERR_UNALIGN_OFF = 24
  integer(gaspi_return_t), parameter :: GASPI_ERR_ACTIVE_COLL = 25
  integer(gaspi_return_t), parameter :: GASPI_ERR_DEVICE = 26
  integer(gaspi_return_t), parameter :: GASPI_ERR_SN = 27
  integer(gaspi_return_t), parameter :: GASPI_ERR_MEMALLOC = 28

  ! 4.2.1, 4.2.3 and 4.2.4
  integer(gaspi_timeout_t), parameter :: GASPI_BLOCK = -1
  integer(gaspi_timeout_t), parameter :: GASPI_TEST = 0
  integer(gaspi_state_t), parameter :: GASPI_STATE_HEALTHY = 0
  integer(gaspi_state_t), parameter :: GASPI_STATE_CORRUPT = 1
  integer(gaspi_alloc_t), parameter :: GASPI_ALLOC_DEFAULT = 0
  integer(gaspi_alloc_t), parameter :: GASPI_MEM_UNINITIALIZED = 0
  integer(gaspi_alloc_t), parameter :: GASPI_MEM_INITIALIZED = 1

  ! 6.2.2
  integer(gaspi_group_t), parameter :: GASPI_GROUP_ALL = 0

  ! Wishes for a network, and for connections made at start.
  integer(gaspi_network_t), parameter :: GASPI_IB = 0
  integer(gaspi_network_t), parameter :: GASPI_ROCE = 1
  integer(gaspi_network_t), parameter :: GASPI_ETHERNET = 2
  integer(gaspi_network_t), parameter :: GASPI_OFI = 5
  integer(gaspi_topology_t), parameter :: GASPI_TOPOLOGY_NONE = 0
  integer(gaspi_topology_t), parameter :: GASPI_TOPOLOGY_STATIC = 1
  integer(gaspi_topology_t), parameter :: GASPI_TOPOLOGY_DYNAMIC = 2

  ! 11.3.2 and 11.3.3
  integer(gaspi_operation_t), parameter :: GASPI_OP_MIN = 0
  integer(gaspi_operation_t), parameter :: GASPI_OP_MAX = 1
  integer(gaspi_operation_t), parameter :: GASPI_OP_SUM = 2
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_INT = 0
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_UINT = 1
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_FLOAT = 2
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_DOUBLE = 3
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_LONG = 4
  integer(gaspi_datatype_t), parameter :: GASPI_TYPE_ULONG = 5

  ! 14.1.2
  integer(gaspi_statistic_argument_t), parameter :: GASPI_STATISTIC_ARGUMENT_NONE = 0
  integer(gaspi_statistic_argument_t), parameter :: GASPI_STATISTIC_ARGUMENT_RANK = 1

  ! 5.2.1, in the order of GASPI.h, where each component's default and limit stand.
  type, bind(C) :: gaspi_dev_config_t
    integer(gaspi_network_t) :: network
    type(c_ptr) :: params
  end type gaspi_dev_config_t

  type, bind(C) :: gaspi_config_t
    integer(gaspi_number_t) :: group_max
    integer(gaspi_number_t) :: segment_max
    integer(gaspi_number_t) :: queue_num
    integer(gaspi_number_t) :: queue_size_max
    integer(gaspi_size_t) :: transfer_size_max
    integer(gaspi_number_t) :: notification_num
    integer(gaspi_number_t) :: passive_queue_size_max
    integer(gaspi_size_t) :: passive_transfer_size_max
    integer(gaspi_size_t) :: allreduce_buf_size
    integer(gaspi_number_t) :: allreduce_elem_max
    integer(gaspi_network_t) :: network
    integer(gaspi_number_t) :: build_infrastructure
    type(c_ptr) :: user_defined
    ! beyond 17.1
    integer(gaspi_number_t) :: rw_list_elem_max
    integer(gaspi_number_t) :: logger
    integer(gaspi_number_t) :: sn_port
    integer(gaspi_number_t) :: net_info
    integer(gaspi_number_t) :: user_net
    integer(gaspi_number_t) :: sn_persistent
    integer(gaspi_timeout_t) :: sn_timeout
    type(gaspi_dev_config_t) :: dev_config
  end type gaspi_config_t

  ! 7.2: what gaspi_segment_bind and gaspi_segment_use are given. Functions where C has macros with
  ! an argument: of the number of a device.
  integer(gaspi_memory_description_t), parameter :: GASPI_MEMORY_HOST = 0

contains

  pure integer(gaspi_memory_description_t) function GASPI_MEMORY_CUDA(device)
    integer, intent(in) :: device
    GASPI_MEMORY_CUDA = ior(65536_gaspi_memory_description_t, &
                            int(device, gaspi_memory_description_t))
  end function GASPI_MEMORY_CUDA

  pure integer(gaspi_memory_description_t) function GASPI_MEMORY_HIP(device)
    integer, intent(in) :: device
    GASPI_MEMORY_HIP = ior(131072_gaspi_memory_description_t, &
                           int(device, gaspi_memory_description_t))
  end function GASPI_MEMORY_HIP
end module gaspi_types
