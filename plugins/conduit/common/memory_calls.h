// Declarations of the calls that a conduit to memory of the same host has. Included within the
// class that module_table.h makes the tables of, so without a guard.
//
// SPDX-License-Identifier: BSD-3-Clause

static causeway::conduit::Call<&cwyc_ops::put> put;
static causeway::conduit::Call<&cwyc_ops::get> get;
static causeway::conduit::Call<&cwyc_ops::putv> putv;
static causeway::conduit::Call<&cwyc_ops::getv> getv;
static causeway::conduit::Call<&cwyc_ops::atomic> atomic;
static causeway::conduit::Call<&cwyc_ops::am_short> am_short;
static causeway::conduit::Call<&cwyc_ops::am_medium> am_medium;
static causeway::conduit::Call<&cwyc_ops::am_long> am_long;
static causeway::conduit::Call<&cwyc_ops::am_prepare> am_prepare;
static causeway::conduit::Call<&cwyc_ops::am_commit> am_commit;
static causeway::conduit::Call<&cwyc_ops::am_cancel> am_cancel;
static causeway::conduit::Call<&cwyc_module::list_devices> list_devices;
static causeway::conduit::Call<&cwyc_module::domain_open> domain_open;
static causeway::conduit::Call<&cwyc_module::ep_open> ep_open;
static causeway::conduit::Call<&cwyc_module::ep_close> ep_close;
static causeway::conduit::Call<&cwyc_module::ep_query> ep_query;
static causeway::conduit::Call<&cwyc_module::ep_address> ep_address;
static causeway::conduit::Call<&cwyc_module::ep_threads> ep_threads;
static causeway::conduit::Call<&cwyc_module::ep_stats> ep_stats;
static causeway::conduit::Call<&cwyc_module::ep_traffic> ep_traffic;
static causeway::conduit::Call<&cwyc_module::reach> reach;
static causeway::conduit::Call<&cwyc_module::connect> connect;
static causeway::conduit::Call<&cwyc_module::mem_alloc> mem_alloc;
static causeway::conduit::Call<&cwyc_module::mem_reg> mem_reg;
static causeway::conduit::Call<&cwyc_module::mem_release> mem_release;
static causeway::conduit::Call<&cwyc_module::rkey_pack> rkey_pack;
static causeway::conduit::Call<&cwyc_module::rkey_open> rkey_open;
static causeway::conduit::Call<&cwyc_module::rkey_direct> rkey_direct;
static causeway::conduit::Call<&cwyc_module::progress> progress;
