// The name of a job of our launcher, which is also that of its session directory; and secrets.
#pragma once

#include <string>

namespace causeway {

// "causeway-<uid>-": how the names of this user's jobs begin.
std::string job_id_prefix();

// "causeway-<uid>-<pid>-<random>", with the number of the calling process.
std::string new_job_id();

// 16 bytes that nobody can guess.
std::string new_secret();

}  // namespace causeway
