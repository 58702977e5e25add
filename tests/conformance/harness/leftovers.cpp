#include "leftovers.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace causeway::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> objects_of(const std::string& job_id) {
  std::vector<fs::path> found;
  if (job_id.empty()) return found;  // would be in every name
  std::error_code ignored;
  for (fs::directory_iterator it("/dev/shm", ignored), end; it != end; it.increment(ignored)) {
    if (ignored) break;
    if (it->path().filename().string().find(job_id) != std::string::npos) {
      found.push_back(it->path());
    }
  }
  return found;
}

}  // namespace

std::string left_in_shm(const std::string& job_id) {
  const std::vector<fs::path> found = objects_of(job_id);
  return found.empty() ? "" : found.front().string();
}

void sweep_shm(const std::string& job_id) {
  std::error_code ignored;
  for (const fs::path& path : objects_of(job_id)) fs::remove_all(path, ignored);
}

}  // namespace causeway::conformance
