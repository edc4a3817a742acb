// SPDX-License-Identifier: BSD-3-Clause
// tutti-daemon: mpiexec's part on another node, started by it through an agent, which carries what they say.
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "launcher/launch.hpp"
#include "launcher/nodes/daemon.hpp"
#include "runtime/base/error.hpp"

namespace {

using namespace tutti::launcher;

int serve() {
    Daemon member;
    try {
        if (!member.receive()) return 1;
        launch(member.job(), member.allocation(), &member);
        return 0;
    } catch (Complaint const& complaint) { member.fail(complaint); } catch (tutti::Error const& error) {
        member.fail(Complaint(error.what(), 1));
    }
    return 1;
}

}   // namespace

int main(int argc, char** argv) {
    bool const by_hand = argc > 1 || isatty(STDIN_FILENO) == 1;
    if (!by_hand) return serve();
    bool const version = argc == 2 && std::strcmp(argv[1], "--version") == 0;
    if (version) std::puts("tutti-daemon of Tutti " TUTTI_VERSION);
    else std::fputs("tutti-daemon: mpiexec starts this program on other nodes by itself.\n", stderr);
    return version ? 0 : 2;
}
