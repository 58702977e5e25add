// Processes: start and end, connections, signals, and small questions between them (chapter 5).
#pragma once

#include <GASPI.h>

#include <string>

#include "api/gaspi/control.h"
#include "api/gaspi/deadline.h"

namespace causeway::gaspi {

struct World;

// The wishes in force, until the start; what came of them is in World. Refuses new ones after it.
gaspi_config_t wishes();
void set_wishes(const gaspi_config_t& wishes);

// What gaspi_proc_init() and gaspi_proc_term() return, or a refusal.
gaspi_return_t start(Deadline& deadline);
gaspi_return_t finish(Deadline& deadline);

gaspi_return_t kill_process(World& world, uint32_t rank, Deadline& deadline);
gaspi_return_t connect(World& world, uint32_t rank, Deadline& deadline);
gaspi_return_t disconnect(World& world, uint32_t rank, Deadline& deadline);
gaspi_return_t ping(World& world, uint32_t rank, Deadline& deadline);
void print_line(uint32_t from, const std::string& text);

void on_process_message(World& world, uint32_t from, ControlMessage message, const Header& header,
                        const std::string& text);

}  // namespace causeway::gaspi
