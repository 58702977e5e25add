// Shows this rank to `causeway ps` and `causeway top` (base/status_page.h).
#pragma once

#include <causeway/plugin.h>

#include "base/status_page.h"

namespace causeway {

// The process has joined a job. While one thread is in the library.
void show_status(const cwy_job& job);

// A rank that runs answers questions for its counts: a thread of its own sleeps until there is one.
void show_phase(StatusPage::Phase phase);

// Objects of libraries end next: conduits are asked no more, and a thread that asks them comes out.
void end_status();

}  // namespace causeway
