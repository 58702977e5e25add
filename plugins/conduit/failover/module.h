// The calls of the conduit's table, and which front serves given options.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../common/module_table.h"
#include "objects.h"

namespace causeway::failover {

Front* front_of(const cwy_options* opts);

struct Conduit {
  static constexpr uint32_t concurrency = CWYC_SERIAL;
  static conduit::Call<&cwyc_ops::am_short> am_short;
  static conduit::Call<&cwyc_ops::am_medium> am_medium;
  static conduit::Call<&cwyc_module::domain_open> domain_open;
  static conduit::Call<&cwyc_module::domain_close> domain_close;
  static conduit::Call<&cwyc_module::ep_open> ep_open;
  static conduit::Call<&cwyc_module::ep_close> ep_close;
  static conduit::Call<&cwyc_module::ep_query> ep_query;
  static conduit::Call<&cwyc_module::ep_address> ep_address;
  static conduit::Call<&cwyc_module::wiring> wiring;
  static conduit::Call<&cwyc_module::ep_threads> ep_threads;
  static conduit::Call<&cwyc_module::wait_fd> wait_fd;
  static conduit::Call<&cwyc_module::ep_stats> ep_stats;
  static conduit::Call<&cwyc_module::ep_traffic> ep_traffic;
  static conduit::Call<&cwyc_module::reach> reach;
  static conduit::Call<&cwyc_module::connect> connect;
  static conduit::Call<&cwyc_module::disconnect> disconnect;
  static conduit::Call<&cwyc_module::purge> purge;
  static conduit::Call<&cwyc_module::progress> progress;
  static conduit::Call<&cwyc_module::arm> arm;
};

}  // namespace causeway::failover
