// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/job/inherited_segment.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/base/pid_namespace.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/base/text_streams.hpp"

namespace tutti {
namespace {

template <class... Parts>
bool read_variable(char const* name, Parts&... parts) {
    char const* const text = std::getenv(name);
    TextReader in(text ? text : "");
    return static_cast<bool>((in >> ... >> parts));
}

[[noreturn]] void give_up(int descriptor, std::string const& why) {
    fail(ErrorClass::other, "descriptor ", descriptor, ", by which mpiexec gives its ranks their shared memory, was ",
         "closed between mpiexec and this program, and that memory cannot be opened again (", why,
         "): see that what starts the program keeps it open (close_fds=False in Python, sudo -C ", descriptor + 1,
         "), or put it in front of mpiexec");
}

/// By the launcher's descriptor.
int open_again(int descriptor, std::uint64_t inode) {
    MemoryFile file{.descriptor = descriptor, .inode = inode};
    char at = 0;
    std::uint64_t space = 0;
    if (!read_variable(launch::launcher_variable, file.process, at, space) || at != '@')
        give_up(descriptor, join(launch::launcher_variable, " does not say who has it"));
    if (!same_numbers(pid_namespace(), space)) give_up(descriptor, "mpiexec is in another pid namespace");
    int const opened = open_memory_file(file);
    if (opened < 0)
        give_up(descriptor, join(MemoryFileName(file).text, ": ", errno ? std::strerror(errno) : "another file"));
    return opened;
}

}   // namespace

int inherited_segment(int descriptor) {
    std::uint64_t inode = 0;
    bool const known = read_variable(launch::segment_inode_variable, inode);
    if (!known || memory_file(descriptor).inode == inode) return descriptor;
    int const opened = open_again(descriptor, inode);
    if (fcntl(descriptor, F_GETFD) >= 0 || dup3(opened, descriptor, O_CLOEXEC) < 0) return opened;
    close(opened);
    return descriptor;
}

}   // namespace tutti
