// The meaning of error codes, in words.
#pragma once

#include <GASPI.h>

namespace causeway::gaspi {

struct ErrorText {
  gaspi_return_t code;
  const char* text;
};
inline constexpr ErrorText kErrorTexts[] = {
    {GASPI_ERROR, "general error"},
    {GASPI_SUCCESS, "success"},
    {GASPI_TIMEOUT, "timeout"},
    {GASPI_ERR_EMFILE, "too many open files"},
    {GASPI_ERR_ENV, "the environment is not what was expected"},
    {GASPI_ERR_SN_PORT, "a port is in use"},
    {GASPI_ERR_CONFIG, "the configuration cannot be used"},
    {GASPI_ERR_NOINIT, "gaspi_proc_init() has not succeeded"},
    {GASPI_ERR_INITED, "gaspi_proc_init() has been called already"},
    {GASPI_ERR_NULLPTR, "a pointer is NULL"},
    {GASPI_ERR_INV_SEGSIZE, "invalid size of a segment"},
    {GASPI_ERR_INV_SEG, "invalid segment"},
    {GASPI_ERR_INV_GROUP, "invalid group"},
    {GASPI_ERR_INV_RANK, "invalid rank"},
    {GASPI_ERR_INV_QUEUE, "invalid queue"},
    {GASPI_ERR_INV_LOC_OFF, "invalid local offset"},
    {GASPI_ERR_INV_REM_OFF, "invalid remote offset"},
    {GASPI_ERR_INV_COMMSIZE, "invalid size of a transfer"},
    {GASPI_ERR_INV_NOTIF_VAL, "invalid value of a notification"},
    {GASPI_ERR_INV_NOTIF_ID, "invalid notification"},
    {GASPI_ERR_INV_NUM, "invalid number of elements"},
    {GASPI_ERR_INV_SIZE, "invalid size"},
    {GASPI_ERR_MANY_SEG, "too many segments"},
    {GASPI_ERR_MANY_GRP, "too many groups"},
    {GASPI_QUEUE_FULL, "the queue is full"},
    {GASPI_ERR_UNALIGN_OFF, "the offset is not aligned"},
    {GASPI_ERR_ACTIVE_COLL, "the group has an unfinished collective"},
    {GASPI_ERR_DEVICE, "device error"},
    {GASPI_ERR_SN, "the start-up network failed"},
    {GASPI_ERR_MEMALLOC, "memory cannot be had"},
};

// NULL for a number that is no code.
inline const char* error_text(gaspi_return_t code) {
  for (const ErrorText& known : kErrorTexts) {
    if (known.code == code) return known.text;
  }
  return nullptr;
}

}  // namespace causeway::gaspi
