// The end of a process that is ended on purpose.
#pragma once

namespace causeway::gaspi {

// The launcher ends ranks with SIGQUIT, of which the runtimes of Fortran compilers write a
// backtrace, each rank its own: nothing is wrong there. A handler of the program's stays.
void end_without_backtrace();

}  // namespace causeway::gaspi
