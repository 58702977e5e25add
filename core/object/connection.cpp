// A connection's memory, and the report of its being made.
#include <cstring>
#include <new>

#include "connection/conduit_set.h"
#include "connection/peer.h"
#include "loader/one_line.h"

namespace causeway {

void ConnectOp::report(cwyc_op* op, uint32_t, cwy_status status, const cwy_detail* detail) {
  auto* const it = reinterpret_cast<ConnectOp*>(op);
  if (status != CWY_OK && detail != nullptr) it->why = given(detail->text, "");
  it->status.store(status, std::memory_order_release);
}

Connection* Connection::make(Peer* peer, ConduitEp* cep) {
  const size_t bytes = sizeof(Connection) + cep->attr.conn_size;
  void* memory = ::operator new (bytes, std::align_val_t{alignof(Connection)});
  std::memset(memory, 0, bytes);
  auto* c = new (memory) Connection;
  c->peer = peer;
  c->cep = cep;
  c->attr = &cep->classes[0];
  c->conn.ops = &cep->ops[0];
  c->conn.core = c;
  c->conn.ep = cep->ep;
  c->conn.peer = {peer->rank, peer->epoch};
  return c;
}

void Connection::destroy() {
  this->~Connection();
  ::operator delete (this, std::align_val_t{alignof(Connection)});
}

}  // namespace causeway
