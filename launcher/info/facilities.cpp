// SPDX-License-Identifier: BSD-3-Clause
// Trying the facilities of processor and kernel.
#include "launcher/info/facilities.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/memory/placement/survey.hpp"
#include "runtime/memory/xpmem.hpp"

namespace tutti::info {
namespace {

Facility memfd() {
    int descriptor = memfd_create("tutti-info", MFD_CLOEXEC);
    int why = errno;
    if (descriptor >= 0) close(descriptor);
    return {"memfd", descriptor >= 0, descriptor >= 0 ? "" : std::strerror(why),
            "the shared memory of a job; nothing works without it"};
}

// A sibling's memory, as between two ranks: Yama may allow a parent what it forbids a brother.
bool read_from(pid_t peer, int const* address, int expected, std::string& why) {
    int got = 0;
    iovec here{&got, sizeof got}, there{const_cast<int*>(address), sizeof got};
    bool ok = process_vm_readv(peer, &here, 1, &there, 1, 0) == sizeof got && got == expected;
    if (!ok) why = std::strerror(errno);
    return ok;
}

pid_t sleeping_child() {
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()));   // as a rank does with mpiexec
#endif
    while (true) pause();
}

Facility cma() {
    std::signal(SIGCHLD, SIG_DFL);   // with a parent that ignored it nothing would be known of the reader's end
    static int number;               // at the same address in parent and children
    number = 4711;
    pid_t peer = sleeping_child();
    int answer[2];
    if (peer < 0 || pipe(answer) != 0) return {"CMA", false, "no process to try it on", ""};
    pid_t reader = fork();
    std::string why;
    if (reader == 0) {
        usleep(20'000);   // the peer has to allow it first
        bool ok = read_from(peer, &number, 4711, why);
        if (write(answer[1], why.data(), why.size()) < 0) _exit(2);
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    waitpid(reader, &status, 0);
    close(answer[1]);
    char text[128] = {};
    if (read(answer[0], text, sizeof text - 1) < 0) text[0] = 0;
    close(answer[0]);
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
    return {"CMA", status == 0, status == 0 ? "" : text,
            "copies large messages straight between processes (process_vm_readv)"};
}

Facility xpmem() {
    bool const device = access("/dev/xpmem", R_OK | W_OK) == 0;
    void* const library = dlopen(xpmem_library, RTLD_LAZY | RTLD_LOCAL);
    if (library) dlclose(library);
    std::string const why = !device    ? std::string("there is no /dev/xpmem for us")
                            : !library ? join("there is no ", xpmem_library)
                                       : std::string();
    return {"XPMEM", device && library, why, "attaches to memory outside of arenas"};
}

Facility huge_pages() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    std::string all, word;
    std::getline(file, all);
    std::size_t open = all.find('['), end = all.find(']');
    if (open != std::string::npos && end != std::string::npos) word = all.substr(open + 1, end - open - 1);
    bool there = word == "always" || word == "advise" || word == "within_size" || word == "force";
    return {"huge pages for shared memory", there,
            word.empty() ? "the kernel does not tell" : join("shmem_enabled is ", word), "asked for in arenas"};
}

Facility numa() {
    Trial trial = try_placement(kernel_numa());
    return {"placing memory on NUMA nodes", trial.places, std::move(trial.sentence),
            "each rank's memory comes from where the rank runs"};
}

Facility vectors(char const* name, bool there, char const* use) { return {name, there, "", use}; }

}   // namespace

std::vector<Facility> facilities() {
    std::vector<Facility> all{memfd(), cma(), xpmem(), huge_pages(), numa()};
#ifdef __x86_64__
    __builtin_cpu_init();
    all.push_back(vectors("AVX2", __builtin_cpu_supports("avx2"), "reductions and copies, 32 bytes at a time"));
    all.push_back(vectors("AVX-512", __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"),
                          "reductions and copies, 64 bytes at a time"));
#endif
    return all;
}

}   // namespace tutti::info
