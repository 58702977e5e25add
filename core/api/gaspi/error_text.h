// The meaning of error codes, in words.
#pragma once

#include <GASPI.h>

namespace causeway::gaspi {

// NULL for a number that is no code.
inline const char* error_text(gaspi_return_t code) {
  switch (code) {
    case GASPI_ERROR:
      return "general error";
    case GASPI_SUCCESS:
      return "success";
    case GASPI_TIMEOUT:
      return "timeout";
    case GASPI_ERR_EMFILE:
      return "too many open files";
    case GASPI_ERR_ENV:
      return "the environment is not what was expected";
    case GASPI_ERR_SN_PORT:
      return "a port is in use";
    case GASPI_ERR_CONFIG:
      return "the configuration cannot be used";
    case GASPI_ERR_NOINIT:
      return "gaspi_proc_init() has not succeeded";
    case GASPI_ERR_INITED:
      return "gaspi_proc_init() has been called already";
    case GASPI_ERR_NULLPTR:
      return "a pointer is NULL";
    case GASPI_ERR_INV_SEGSIZE:
      return "invalid size of a segment";
    case GASPI_ERR_INV_SEG:
      return "invalid segment";
    case GASPI_ERR_INV_GROUP:
      return "invalid group";
    case GASPI_ERR_INV_RANK:
      return "invalid rank";
    case GASPI_ERR_INV_QUEUE:
      return "invalid queue";
    case GASPI_ERR_INV_LOC_OFF:
      return "invalid local offset";
    case GASPI_ERR_INV_REM_OFF:
      return "invalid remote offset";
    case GASPI_ERR_INV_COMMSIZE:
      return "invalid size of a transfer";
    case GASPI_ERR_INV_NOTIF_VAL:
      return "invalid value of a notification";
    case GASPI_ERR_INV_NOTIF_ID:
      return "invalid notification";
    case GASPI_ERR_INV_NUM:
      return "invalid number of elements";
    case GASPI_ERR_INV_SIZE:
      return "invalid size";
    case GASPI_ERR_MANY_SEG:
      return "too many segments";
    case GASPI_ERR_MANY_GRP:
      return "too many groups";
    case GASPI_QUEUE_FULL:
      return "the queue is full";
    case GASPI_ERR_UNALIGN_OFF:
      return "the offset is not aligned";
    case GASPI_ERR_ACTIVE_COLL:
      return "the group has an unfinished collective";
    case GASPI_ERR_DEVICE:
      return "device error";
    case GASPI_ERR_SN:
      return "the start-up network failed";
    case GASPI_ERR_MEMALLOC:
      return "memory cannot be had";
  }
  return nullptr;
}

}  // namespace causeway::gaspi
