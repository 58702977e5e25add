// Regions: memory of one member that others of its team reach during a run. The functions are the
// services of causeway/collective.h.
#pragma once

#include <causeway/collective.h>

namespace causeway {

class TeamRuns;

// CWY_ERR_UNSUPPORTED for memory that is neither in the bound segment nor in the scratch, where the
// kernel is not to copy it either.
cwy_status expose_region(TeamRuns& runs, cwyl_seq seq, void* addr, uint64_t length,
                         cwyl_region* out);
void* direct_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                    uint64_t offset);
cwy_status put_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, const void* src, uint64_t length, uint32_t* done);
cwy_status get_region(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                      uint64_t offset, void* dst, uint64_t length, uint32_t* done);
cwy_status put_region_signal(TeamRuns& runs, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                             uint64_t offset, const void* src, uint64_t length, uint32_t signal,
                             uint32_t* done);

}  // namespace causeway
