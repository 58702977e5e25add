// The one client of this process that GASNet-1 calls mean.
#pragma once

namespace causeway {

class Client;
class Team;

// NULL until there is one.
Client* gasnet1_client();
// A client asked for GASNet-1: its primordial team becomes the one of gasnet_* calls. At most one
// per process; before other threads may be in the library.
void adopt_gasnet1_client(Client* client);

// Between gasnet_init and gasnet_attach the client exists, but most calls are not allowed yet.
enum class Gasnet1Stage { none, initialised, attached };
Gasnet1Stage gasnet1_stage();
void set_gasnet1_stage(Gasnet1Stage stage);

// The team that calls mean which GASNet-EX did not deprecate (barrier, segment information): the
// GASNet-1 client's, else the first client's. Ends the job, naming `call`, where there is none.
Team& gasnet1_team(const char* call);

}  // namespace causeway
