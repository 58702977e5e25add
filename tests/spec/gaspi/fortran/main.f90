! Every procedure, kind and constant of GASPI_C_BINDING and gaspi_ext.
program spec_gaspi_fortran
  use testing
  use constants, only: values, kinds, config
  use process, only: numbers, states, disconnected, pings
  use groups, only: halves
  use segments, only: allocated, bound, high_ids
  use transfer, only: writes, reads, notes, lists, queues
  use passive_atomic, only: ring, fetch_add, compare_swap
  use collectives, only: barriers, predefined, user_defined, user_defined_pointers
  use info, only: getters, times, texts, statistics, host
  implicit none
  type(gaspi_config_t) :: wishes

  ! Catches: a configuration that does not reach the library by value.
  call require(gaspi_config_get(wishes), 'gaspi_config_get')
  wishes%queue_num = 5
  wishes%notification_num = 70000
  call require(gaspi_config_set(wishes), 'gaspi_config_set')
  call start()
  call run('process.configured', configured)
  call run('constants.values', values)
  call run('constants.kinds', kinds)
  call run('constants.config', config)
  call run('process.numbers', numbers)
  call run('process.states', states)
  call run('process.disconnected', disconnected, 2)
  call run('process.pings', pings)
  call run('groups.halves', halves)
  call run('segments.allocated', allocated)
  call run('segments.bound', bound)
  call run('segments.high_ids', high_ids)
  call run('transfer.writes', writes)
  call run('transfer.reads', reads)
  call run('transfer.notes', notes)
  call run('transfer.lists', lists)
  call run('transfer.queues', queues)
  call run('passive.ring', ring)
  call run('atomic.fetch_add', fetch_add)
  call run('atomic.compare_swap', compare_swap)
  call run('collectives.barriers', barriers)
  call run('collectives.predefined', predefined)
  call run('collectives.user_defined', user_defined)
  call run('collectives.user_defined_pointers', user_defined_pointers)
  call run('info.getters', getters)
  call run('info.times', times)
  call run('info.texts', texts)
  call run('info.statistics', statistics)
  call run('info.host', host)
  call finish()

contains

  subroutine configured()
    integer(gaspi_number_t) :: n

    call check_ok(gaspi_queue_num(n), 'gaspi_queue_num')
    call check_equal(n, 5, 'queues')
    call check_ok(gaspi_notification_num(n), 'gaspi_notification_num')
    call check_equal(n, 70000, 'notifications')
  end subroutine configured
end program spec_gaspi_fortran
