#include <memory>

#include "socket_pair.h"

namespace causeway::bench::raw {

std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params) {
  return std::make_unique<SocketPair>(params);
}

}  // namespace causeway::bench::raw
