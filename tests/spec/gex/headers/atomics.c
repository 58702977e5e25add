/* gasnet_ratomic.h as the only header, in every language level; twice, and every call expanded. */
#include <gasnet_ratomic.h>

#define USE(suffix, type)                                                                  \
  int use_##suffix(gex_AD_t ad, void* word, gex_OP_t unknown);                             \
  int use_##suffix(gex_AD_t ad, void* word, gex_OP_t unknown) {                            \
    type result = 0;                                                                       \
    gex_Event_Wait(gex_AD_OpNB_##suffix(ad, &result, 0, word, unknown, 1, 2, 0));          \
    gex_Event_Wait(gex_AD_OpNB_##suffix(ad, &result, 0, word, GEX_OP_FCAS, 1, 2, 0));      \
    gex_Event_Wait(gex_AD_OpNB_##suffix(ad, &result, 0, word, GEX_OP_SWAP, 1, 2, 0));      \
    gex_AD_OpNBI_##suffix(ad, NULL, 0, word, GEX_OP_SET, 1, 0, GEX_FLAG_AD_ACQ);           \
    return gex_AD_OpNBI_##suffix(ad, NULL, 0, word, GEX_OP_ADD, 1, 0, GEX_FLAG_IMMEDIATE); \
  }

USE(I32, int32_t)
USE(U32, uint32_t)
USE(I64, int64_t)
USE(U64, uint64_t)
USE(FLT, float)
USE(DBL, double)

gex_AD_t make(gex_TM_t tm);
gex_AD_t make(gex_TM_t tm) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, tm, GEX_DT_I32, GEX_OP_ADD | GEX_OP_FCAS, GEX_FLAG_AD_FAVOR_MY_NBRHD);
  if (gex_AD_QueryDT(ad) != GEX_DT_I32 || gex_AD_QueryTM(ad) != tm ||
      gex_AD_QueryOps(ad) != (GEX_OP_ADD | GEX_OP_FCAS) || gex_AD_QueryFlags(ad) == 0)
    gex_AD_Destroy(ad);
  gex_AD_SetCData(ad, gex_AD_QueryCData(ad));
  return ad;
}
