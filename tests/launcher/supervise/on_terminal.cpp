// SPDX-License-Identifier: BSD-3-Clause
// on_terminal program args: runs a program in the foreground of a new terminal, passes its own standard input to it as
// typed input, and prints the output of the terminal.
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void run_on(char const* terminal, char** command) {
    setsid();
    int descriptor = open(terminal, O_RDWR);   // becomes the controlling terminal
    for (int number = 0; number <= 2; ++number) dup2(descriptor, number);
    execvp(command[0], command);
    _exit(127);
}

// Returns false if the other end is closed.
bool copy(int from, int to) {
    char buffer[4096];
    ssize_t n = read(from, buffer, sizeof buffer);
    return n > 0 && write(to, buffer, static_cast<size_t>(n)) == n;
}

}   // namespace

int main(int, char** argv) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return std::perror("no terminal"), 77;
    char const* name = ptsname(master);
    pid_t child = fork();
    if (child == 0) run_on(name, argv + 1);
    pollfd set[2] = {{master, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    while (poll(set, 2, -1) > 0) {
        if (set[0].revents && !copy(master, STDOUT_FILENO)) break;
        if (set[1].revents && !copy(STDIN_FILENO, master)) set[1].fd = -1;
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
