// "Hosts" on this machine: network namespaces, each with a cable to a bridge at which the launcher
// listens. They end with the object; those of a process that was killed, with the next one that is
// made.
#pragma once

#include <string>
#include <vector>

namespace causeway::bench {

class Hosts {
 public:
  // Throws std::runtime_error where there cannot be any: root and iproute2 are needed.
  explicit Hosts(unsigned count);
  ~Hosts() { run("remove"); }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Of `causeway run`.
  std::vector<std::string> options() const;

 private:
  std::string run(const std::string& what) const;  // the last line of what failed, or nothing
  std::string name_, network_;
  unsigned count_;
};

}  // namespace causeway::bench
