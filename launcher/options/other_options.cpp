// SPDX-License-Identifier: BSD-3-Clause
// Options of other launchers that change nothing here, and those that are refused.
#include "launcher/allocation/hosts.hpp"
#include "launcher/options/groups.hpp"

namespace tutti::launcher::groups {
namespace {

constexpr Option that_change_nothing[] = {
    {"--oversubscribe", "", "OP", "Ranks may outnumber cores.", nullptr, Effect::none},
    {"--allow-run-as-root", "", "OP", "Root may run ranks.", nullptr, Effect::none},
    {"--use-hwthread-cpus", "", "OP", "Hardware threads count when ranks are placed.", nullptr, Effect::none},
    {"-disable-hostname-propagation -enable-hostname-propagation --do-not-resolve", "", "HO",
     "No name of a host is resolved on one node.", nullptr, Effect::none},
    {"-localhost", "NAME", "H", "mpiexec knows this node without its name.", nullptr, Effect::none},
    {"--byslot", "", "OP", "Ranks fill one node after the other.", nullptr, Effect::none},
    {"--hetero-nodes --novm --use-regexp --enable-instant-on-support --fwd-mpirun-port -pmi-port --set-sid", "", "HOP",
     "mpiexec reaches its daemons and ranks in ways of its own.", nullptr, Effect::none},
    {"--noprefix --no-app-prefix", "", "OP",
     "Tutti is expected in the same folder on all nodes, unless --prefix names another one.", nullptr, Effect::none},
    {"--pmix-prefix --app-pmix-prefix", "FOLDER", "P", "mpiexec does not use PMIx.", nullptr, Effect::none},
    {"-topolib -demux --personality --cartofile -cf", "NAME", "HOP",
     "mpiexec uses hwloc and poll, and treats programs of MPICH and Open MPI alike.", nullptr, Effect::none},
    {"-disable-x", "", "H", "ssh is called with -x.", nullptr, Effect::none},
    {"--leave-session-attached --debug-daemons --debug-daemons-file", "", "OP",
     "Daemons stay attached, and what they print comes to mpiexec's standard error.", nullptr, Effect::none},
    {"--tmpdir", "FOLDER", "P", "Nothing is written to a temporary folder.", nullptr, Effect::none},
    {"--report-state-on-timeout", "", "OP", "-timeout shows what each rank waits for, and where.", nullptr,
     Effect::none},
    {"--get-stack-traces", "", "OP",
     "-timeout shows each rank's MPI call, with its source line; gdb -p PROCESS shows the stack, and -v names "
     "processes.",
     nullptr, Effect::none},
    {"--show-progress", "", "OP", "-v says what is started where.", nullptr, Effect::none},
    {"--no-aggregate-help", "", "P", "What several ranks report is printed once.", nullptr, Effect::none},
    {"--report-child-jobs-separately", "", "OP", "Ranks start no ranks.", nullptr, Effect::none},
    {"-soft", "NUMBERS", "SP", "-soft allows fewer ranks than -n; all of them are started.", nullptr, Effect::none},
    {"--pset", "NAME", "P", "MPI_COMM_WORLD is the only set of processes.", nullptr, Effect::none},
    {"-usize", "N", "H", "Processes cannot be started by MPI here, so the universe is MPI_COMM_WORLD.", nullptr,
     Effect::none},
    {"--parseable --parsable -p", "", "P", "The output has one form, for people and programs.", nullptr, Effect::none},
};

constexpr Option that_are_refused[] = {
    {"--debug --debugger -tv -d --debug-devel --stop-on-exec --stop-in-init --stop-in-app", "", "HOP",
     "-gdb starts each rank under a debugger, and -v says what is started where.", nullptr, Effect::refused},
    {"-membind", "POLICY", "H", "numactl --membind=0 ./a.out in the place of ./a.out binds memory.", nullptr,
     Effect::refused},
    {"--preload-binary --preload-files --sstore-load", "", "OP",
     "Copy files to the nodes before the start, by scp or a shared folder.", nullptr, Effect::refused},
    {"--set-cwd-to-session-dir", "", "OP", "There is no session folder; -wdir names a folder.", nullptr,
     Effect::refused},
    {"-hybrid-hosts", "", "H", "-wdir names a folder, and --daemon the file of tutti-daemon, on all nodes.", nullptr,
     Effect::refused},
    {"--xml --xml-file", "", "OP", "-outfile-pattern and --output-filename keep the output of ranks apart.", nullptr,
     Effect::refused},
    {"--tune -am --amca", "", "OP", "Settings are variables (TUTTI_…), which tutti-info lists; -genv sets one.",
     nullptr, Effect::refused},
    {"-file", "NAME", "SP", "-configfile reads options and programs from a file.", nullptr, Effect::refused},
    {"-gpu-subdevs-per-proc", "N", "H", "A script can set ZE_AFFINITY_MASK by MPI_LOCALRANKID.", nullptr,
     Effect::refused},
    {"--gpu-support", "BOOL", "P", "Buffers must be in the memory of the host.", nullptr, Effect::refused},
    {"--with-ft", "KIND", "P",
     "Tutti has no MPI functions for failed ranks; --enable-recovery lets the other ranks go on.", nullptr,
     Effect::refused},
    {"--max-restarts", "N", "OP", "Ranks are not started again.", nullptr, Effect::refused},
    {"--max-vm-size", "N", "OP", "-hosts names the nodes on which daemons start.", nullptr, Effect::refused},
    {"--launch-agent", "COMMAND", "OP",
     "--daemon names the file of tutti-daemon on other nodes, --launcher-agent what starts it.", nullptr,
     Effect::refused},
    {"--dvm --hnp --add-host --add-hostfile --keepalive", "", "OP",
     "There is no server that stays between jobs; -hosts and -hostfile name the nodes of each.", nullptr,
     Effect::refused},
    {"-nameserver --ompi-server", "ADDRESS", "HO",
     "Tutti has no MPI_Publish_name and no MPI_Comm_accept, so there is no name server.", nullptr, Effect::refused},
    {"--report-uri", "WHERE", "OP", "There is no server that another program could call.", nullptr, Effect::refused},
    {"-pmi_args", "", "H", "A program that is started on its own starts no mpiexec.", nullptr, Effect::refused},
    {"-profile", "", "H", "--stats and --report show where the ranks' time goes; mpiexec has no profile of its own.",
     nullptr, Effect::refused},
    {"--output-proctable", "", "OP", "-v names each rank's process.", nullptr, Effect::refused},
    {"--display-comm --display-comm-finalize", "", "P", "--stats shows by which way ranks have reached each other.",
     nullptr, Effect::refused},
    {"--stream-buffering", "N", "P",
     "Output arrives in lines; stdbuf -o0 ./a.out in the place of ./a.out changes a rank's.", nullptr, Effect::refused},
};

}   // namespace

std::span<Option const> accepted() { return that_change_nothing; }
std::span<Option const> refused() { return that_are_refused; }

}   // namespace tutti::launcher::groups
