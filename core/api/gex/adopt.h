// Other interfaces that a client of GASNet-EX asks for. Told by wiring.cpp, constant afterwards.
#pragma once

namespace causeway {

class Client;

// GEX_FLAG_USES_GASNET1.
using AdoptClient = void(Client* client);
extern AdoptClient* adopt_for_gasnet1;

}  // namespace causeway
