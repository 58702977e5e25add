// The tables of aliases (connection/peer.h): each operation goes to the connection that the alias
// stands for, and messages carry the pair of endpoints.
#pragma once

namespace causeway {

struct ConduitEp;

// Makes `alias` and `device` of an endpoint whose native tables are complete.
void make_alias_tables(ConduitEp& cep);

}  // namespace causeway
