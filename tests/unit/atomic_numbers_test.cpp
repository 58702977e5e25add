// The numbers of data types and operations that plugins, the conformance suite and the core use are
// the client header's. Plugins cannot see that header, and no path translates a number, so a
// difference would run one operation in place of another; here it does not compile.
#include <gasnet_fwd.h>
#include <gtest/gtest.h>

#include "../../plugins/conduit/common/cpu_atomics.h"
#include "../conformance/cases/atomic_model.h"
#include "atomics/names.h"

namespace causeway {
namespace {

namespace plugin = cpu_atomics;
namespace model = conformance;

#define SAME_TYPE(constant, common, checked)               \
  static_assert(GEX_DT_##constant == CWY_DT_##constant);   \
  static_assert(GEX_DT_##constant == 1u << plugin::common, \
                "plugins/conduit/common/cpu_atomics.h");   \
  static_assert(GEX_DT_##constant == 1u << model::checked, \
                "tests/conformance/cases/"                 \
                "atomic_model.h")
#define SAME_OPERATION(constant, common, checked)          \
  static_assert(GEX_OP_##constant == CWY_OP_##constant);   \
  static_assert(GEX_OP_##constant == 1u << plugin::common, \
                "plugins/conduit/common/cpu_atomics.h");   \
  static_assert(GEX_OP_##constant == 1u << model::checked, \
                "tests/conformance/cases/"                 \
                "atomic_model.h")
// With the fetching twin.
#define SAME_PAIR(constant, common, checked)                                      \
  SAME_OPERATION(constant, common, checked);                                      \
  static_assert(GEX_OP_F##constant == CWY_OP_F##constant);                        \
  static_assert(GEX_OP_F##constant == 1u << (plugin::common + plugin::fetching)); \
  static_assert(GEX_OP_F##constant == 1u << (model::checked + model::kFetching)); \
  static_assert(GEX_OP_TO_FETCHING(GEX_OP_##constant) == GEX_OP_F##constant);     \
  static_assert(GEX_OP_TO_NONFETCHING(GEX_OP_F##constant) == GEX_OP_##constant)

SAME_TYPE(I32, i32, kI32);
SAME_TYPE(U32, u32, kU32);
SAME_TYPE(I64, i64, kI64);
SAME_TYPE(U64, u64, kU64);
SAME_TYPE(FLT, flt, kFlt);
SAME_TYPE(DBL, dbl, kDbl);
SAME_PAIR(ADD, op_add, kAdd);
SAME_PAIR(SUB, op_sub, kSub);
SAME_PAIR(MULT, op_mult, kMult);
SAME_PAIR(MIN, op_min, kMin);
SAME_PAIR(MAX, op_max, kMax);
SAME_PAIR(INC, op_inc, kInc);
SAME_PAIR(DEC, op_dec, kDec);
SAME_PAIR(AND, op_and, kAnd);
SAME_PAIR(OR, op_or, kOr);
SAME_PAIR(XOR, op_xor, kXor);
SAME_OPERATION(SET, op_set, kSet);
SAME_OPERATION(CAS, op_cas, kCas);
SAME_OPERATION(SWAP, op_swap, kSwap);
SAME_OPERATION(GET, op_get, kGetOp);
SAME_OPERATION(FCAS, op_fcas, kFcas);
static_assert(GEX_OP_TO_FETCHING(GEX_OP_SET) == GEX_OP_SWAP);
static_assert(GEX_OP_TO_NONFETCHING(GEX_OP_FCAS) == GEX_OP_CAS);
static_assert(plugin::integer_operations == kAtomicOps);
static_assert(uint32_t{plugin::operation_count} == uint32_t{model::kOperations});

// What the interface's README tells authors of plugins.
static_assert(GEX_OP_MIN == 1u << 0 && GEX_OP_SUB == 1u << 1 && GEX_OP_MULT == 1u << 2 &&
              GEX_OP_ADD == 1u << 3 && GEX_OP_MAX == 1u << 4 && GEX_OP_INC == 1u << 5 &&
              GEX_OP_DEC == 1u << 6 && GEX_OP_AND == 1u << 7 && GEX_OP_OR == 1u << 8 &&
              GEX_OP_XOR == 1u << 9 && GEX_OP_FMIN == 1u << 10 && GEX_OP_SET == 1u << 20 &&
              GEX_OP_CAS == 1u << 21 && GEX_OP_SWAP == 1u << 22 && GEX_OP_GET == 1u << 23 &&
              GEX_OP_FCAS == 1u << 24);

// Would catch a mask that offers bitwise operations on floating-point words to the core.
TEST(AtomicNumbers, DeclaredMasksAreWhatTheTypeAllows) {
  uint64_t ops[16] = {};
  plugin::declare(ops);
  for (uint32_t type = 0; type < plugin::type_count; ++type) {
    EXPECT_EQ(ops[type], valid_ops(1u << type)) << dt_word(1u << type);
  }
}

}  // namespace
}  // namespace causeway
