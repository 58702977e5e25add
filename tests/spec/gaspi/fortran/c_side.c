/* The C side of constants.f90: values and sizes by name. */
#include <GASPI.h>
#include <stdio.h>
#include <string.h>

#define VALUE(name) \
  { #name, (long)(name) }
#define SIZE(name) \
  { #name, (long)sizeof(name) }
struct entry {
  const char* name;
  long value;
};

static const struct entry values[] = {
    VALUE(GASPI_MAJOR_VERSION),
    VALUE(GASPI_MINOR_VERSION),
    VALUE(GASPI_ALLOC_DEFAULT),
    VALUE(GASPI_BLOCK),
    VALUE(GASPI_ERROR),
    VALUE(GASPI_ERR_ACTIVE_COLL),
    VALUE(GASPI_ERR_CONFIG),
    VALUE(GASPI_ERR_DEVICE),
    VALUE(GASPI_ERR_EMFILE),
    VALUE(GASPI_ERR_ENV),
    VALUE(GASPI_ERR_INITED),
    VALUE(GASPI_ERR_INV_COMMSIZE),
    VALUE(GASPI_ERR_INV_GROUP),
    VALUE(GASPI_ERR_INV_LOC_OFF),
    VALUE(GASPI_ERR_INV_NOTIF_ID),
    VALUE(GASPI_ERR_INV_NOTIF_VAL),
    VALUE(GASPI_ERR_INV_NUM),
    VALUE(GASPI_ERR_INV_QUEUE),
    VALUE(GASPI_ERR_INV_RANK),
    VALUE(GASPI_ERR_INV_REM_OFF),
    VALUE(GASPI_ERR_INV_SEG),
    VALUE(GASPI_ERR_INV_SEGSIZE),
    VALUE(GASPI_ERR_INV_SIZE),
    VALUE(GASPI_ERR_MANY_GRP),
    VALUE(GASPI_ERR_MANY_SEG),
    VALUE(GASPI_ERR_MEMALLOC),
    VALUE(GASPI_ERR_NOINIT),
    VALUE(GASPI_ERR_NULLPTR),
    VALUE(GASPI_ERR_QUEUE_FULL),
    VALUE(GASPI_ERR_SN),
    VALUE(GASPI_ERR_SN_PORT),
    VALUE(GASPI_ERR_UNALIGN_OFF),
    VALUE(GASPI_ETHERNET),
    VALUE(GASPI_GROUP_ALL),
    VALUE(GASPI_IB),
    VALUE(GASPI_MEMORY_CUDA(3)),
    VALUE(GASPI_MEMORY_HIP(1)),
    VALUE(GASPI_MEMORY_HOST),
    VALUE(GASPI_MEM_INITIALIZED),
    VALUE(GASPI_MEM_UNINITIALIZED),
    VALUE(GASPI_OFI),
    VALUE(GASPI_OP_MAX),
    VALUE(GASPI_OP_MIN),
    VALUE(GASPI_OP_SUM),
    VALUE(GASPI_QUEUE_FULL),
    VALUE(GASPI_ROCE),
    VALUE(GASPI_STATE_CORRUPT),
    VALUE(GASPI_STATE_HEALTHY),
    VALUE(GASPI_STATISTIC_ARGUMENT_NONE),
    VALUE(GASPI_STATISTIC_ARGUMENT_RANK),
    VALUE(GASPI_SUCCESS),
    VALUE(GASPI_TEST),
    VALUE(GASPI_TIMEOUT),
    VALUE(GASPI_TOPOLOGY_DYNAMIC),
    VALUE(GASPI_TOPOLOGY_NONE),
    VALUE(GASPI_TOPOLOGY_STATIC),
    VALUE(GASPI_TYPE_DOUBLE),
    VALUE(GASPI_TYPE_FLOAT),
    VALUE(GASPI_TYPE_INT),
    VALUE(GASPI_TYPE_LONG),
    VALUE(GASPI_TYPE_UINT),
    VALUE(GASPI_TYPE_ULONG),
};
static const struct entry sizes[] = {
    SIZE(gaspi_alloc_t),
    SIZE(gaspi_atomic_value_t),
    SIZE(gaspi_cycles_t),
    SIZE(gaspi_datatype_t),
    SIZE(gaspi_group_t),
    SIZE(gaspi_int),
    SIZE(gaspi_long),
    SIZE(gaspi_memory_description_t),
    SIZE(gaspi_network_t),
    SIZE(gaspi_notification_id_t),
    SIZE(gaspi_notification_t),
    SIZE(gaspi_number_t),
    SIZE(gaspi_offset_t),
    SIZE(gaspi_operation_t),
    SIZE(gaspi_queue_id_t),
    SIZE(gaspi_rank_t),
    SIZE(gaspi_return_t),
    SIZE(gaspi_segment_id_t),
    SIZE(gaspi_short),
    SIZE(gaspi_size_t),
    SIZE(gaspi_state_t),
    SIZE(gaspi_statistic_argument_t),
    SIZE(gaspi_statistic_counter_t),
    SIZE(gaspi_timeout_t),
    SIZE(gaspi_topology_t),
    SIZE(gaspi_uchar),
    SIZE(gaspi_uint),
    SIZE(gaspi_ulong),
    SIZE(gaspi_ushort),
    SIZE(gaspi_time_t),
    SIZE(gaspi_float),
    SIZE(gaspi_double),
    SIZE(gaspi_char),
    SIZE(gaspi_config_t),
    SIZE(gaspi_dev_config_t),
};

static long find(const struct entry* entries, size_t count, const char* name) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (strcmp(entries[i].name, name) == 0) return entries[i].value;
  }
  fprintf(stderr, "c_side.c does not know %s\n", name);
  return -99;
}

long spec_c_value(const char* name);
long spec_c_size(const char* name);
void spec_c_fill(gaspi_config_t* config);
int spec_c_differs(gaspi_config_t config);

long spec_c_value(const char* name) {
  return find(values, sizeof values / sizeof values[0], name);
}
long spec_c_size(const char* name) {
  return find(sizes, sizeof sizes / sizeof sizes[0], name);
}

/* Another value for every member. */
void spec_c_fill(gaspi_config_t* config) {
  memset(config, 0, sizeof *config);
  config->group_max = 1;
  config->segment_max = 2;
  config->queue_num = 3;
  config->queue_size_max = 4;
  config->transfer_size_max = 5;
  config->notification_num = 6;
  config->passive_queue_size_max = 7;
  config->passive_transfer_size_max = 8;
  config->allreduce_buf_size = 9;
  config->allreduce_elem_max = 10;
  config->network = GASPI_OFI;
  config->build_infrastructure = GASPI_TOPOLOGY_DYNAMIC;
  config->user_defined = config;
  config->rw_list_elem_max = 13;
  config->logger = 14;
  config->sn_port = 15;
  config->net_info = 16;
  config->user_net = 17;
  config->sn_persistent = 18;
  config->sn_timeout = 19;
  config->dev_config.network = GASPI_ROCE;
  config->dev_config.params = config;
}

int spec_c_differs(gaspi_config_t config) {
  gaspi_config_t whole;
  spec_c_fill(&whole);
  return (config.group_max != whole.group_max) + (config.segment_max != whole.segment_max) +
         (config.queue_num != whole.queue_num) + (config.queue_size_max != whole.queue_size_max) +
         (config.transfer_size_max != whole.transfer_size_max) +
         (config.allreduce_buf_size != whole.allreduce_buf_size) +
         (config.network != whole.network) + (config.user_defined == NULL) +
         (config.sn_timeout != whole.sn_timeout) +
         (config.dev_config.network != whole.dev_config.network) +
         (config.dev_config.params != config.user_defined);
}
