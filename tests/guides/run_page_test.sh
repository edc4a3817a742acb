#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run_page.py accepts pages that show the output of their commands, and rejects pages with a wrong, missing or extra line
# or number.
. "$(dirname "$0")/../common.sh" "$1"
cd "$folder" || exit 1
cat > report << 'END'
rank 1 has 7
rank 0 has 7
error[MPI_ERR_RANK] MPI_Send: dest is 4 but the communicator has 3 ranks: 0 to 2 (on MPI_COMM_WORLD)
  rank 1  MPI_Send(1 MPI_INT to rank 4, tag 5, MPI_COMM_WORLD)  a.c:12 in main()
  help: ranks are numbered from 0 to size - 1
END
echo "mpiexec: rank 1 on $(hostname), process 815, ended the job with code 6." >> report
cat > table << 'END'
2 ranks: 3.25 us per step, pi is right
Times:
         bytes  default  slots  relay  default ran   best
             8     2.71   1.15   1.62        slots  slots
            16     2.90   1.36   1.10        slots  relay
END
cat > turned << 'END'
4 ranks on 2 cores
  bytes  1024  2048  4096
default  0.56     -  1.62
  slots  0.55  0.87  1.61

  bytes  default/slots  default ran     best
   1024           1.02        slots    slots
   2048           1.02        slots  default
END
cat > deadlock << 'END'
error[T05] deadlock: rank 1 waits for rank 0, which has called MPI_Finalize
  rank 0  MPI_Finalize()                a.c:16 in main()
  rank 1  MPI_Recv(1 MPI_INT, tag 0)    a.c:15 in main()
END
cat > types << 'END'
error[T06] rank 1 receives MPI_DOUBLE where rank 0 sends MPI_INT
  rank 0  MPI_Send(4 MPI_INT to rank 1, tag 0)        a.c:13 in main()  (its last call)
  rank 1  MPI_Recv(2 MPI_DOUBLE from rank 0, tag 0)   a.c:15 in main()
END
printf '#0  0x0000555555555198 in sum_of (values=0x0) at a.c:4\n' > stack
printf 'pi is 3.1416\nat 0.292 degrees\n' > result

# page FILE [SCRIPT]: whether run_page.py accepts a page that shows this file, edited by a script of sed, as its output.
page() {
    { printf '```sh\ncat %s\n```\n\n```text\n' "$1"; sed "s/$(hostname)/desk/; ${2:-}" "$1"; printf '```\n'; } > page.md
    python3 "$here/run_page.py" page.md > message 2>&1
}
accepted() { page "$@" || wrong "rejected: $*: $(cat message)"; }
rejected() {
    page "$@" && wrong "accepted: $*"
    grep -q 'should print' message || wrong "no message for $*: $(cat message)"
}

accepted report
accepted report 's/815/4711/'                                    # a process number
accepted report '1h; 1d; 2G'                                     # lines of two ranks in the other order
accepted report 's/  rank 1  /  ranks 0 and 1  /; s/mpiexec: rank 1/mpiexec: rank 0/'   # which ranks arrived in time
accepted report '3,4c…'                                          # lines that the page leaves out
for script in s/tag.5/tag.6/ s/a.c:12/a.c:13/ 's/has 7/has 8/' '2s/0/2/' 's/  rank 1  /  rank 0  /' 's/mpiexec: rank 1/mpiexec: rank 2/' \
    's/code 6/code 5/' 's/dest is 4/dest is 5/' 's/size - 1/size/' 1d 2d 3d 4d 5d 6d '1ione more' '$aone more' '1i…' \
    '3h; 3d; 4G' 's/^  help/help/'; do
    rejected report "$script"
done
accepted turned 's/on 2 cores/on 64 cores/; s/0.56/12.5/; s/0.87/0.9/; 7s/slots$/default/'   # names in the first column, sizes in the first line
for script in s/4.ranks/5.ranks/ s/2048/2047/ s/slots/chain/ '7s/slots$/chain/' s/-/0.71/ '3,4d' 's/  1.61//'; do rejected turned "$script"; done
accepted table 's/3.25 us/3.1 ms/; s/2.71/  12/; 4s/slots$/relay/'   # measured values, and the best algorithm
for script in 's/2 ranks/3 ranks/' 's/ 8 / 9 /' '3s/relay/linear/' '4s/slots$/linear/' 's/3.25 us/3.25/' 's/1.62/fast/' 's/   1.62//' \
    4d '4p' '4h; 4d; 5G' 's/right/wrong/'; do
    rejected table "$script"
done
accepted deadlock '2s/rank 0/ranks 0 and 2/'                     # another rank may reach MPI_Finalize
accepted deadlock '$a\  rank 3  MPI_Recv(1 MPI_INT, tag 0)  a.c:15 in main()  waiting for rank 1'
for script in '3s/rank 1/ranks 1 and 2/' '1s/rank 0/rank 2/' 's/a.c:16/a.c:17/' 2d 3d '2h; 2d; 3G'; do
    rejected deadlock "$script"
done
accepted types '2s/MPI_Send(\([^)]*\)) .*/send of \1/'               # the sender has called MPI_Finalize
for script in '2s/4 MPI_INT/8 MPI_INT/' '2s/tag 0/tag 1/' 2d '3s/15/16/' '2s/MPI_Send(\([^)]*\)) .*/send of \1, tag 0/' '2s/ (its.*//'; do
    rejected types "$script"
done
accepted stack s/5198/6abc/
for script in s/=0x0/=0x1/ s/sum/sun/; do rejected stack "$script"; done
for script in s/6// s/292/293/ 's/degrees/degree/'; do rejected result "$script"; done

printf '```sh\ntrue\n```\n' > page.md
python3 "$here/run_page.py" page.md || wrong "commands without output and without a block of text"
printf '```sh\necho one\n```\n' > page.md
python3 "$here/run_page.py" page.md 2> message && wrong "an output that the page does not show"
printf '```sh\necho one\n```\n\nText.\n\n```text\none\n```\n' > page.md
python3 "$here/run_page.py" page.md 2> message && wrong "a block of text that is not below its commands"
printf '```sh\necho one\n```\n\n![a picture](a.svg)\n' > page.md
python3 "$here/run_page.py" page.md || wrong "an output above a picture"
printf '<!-- needs a-package -->\n\n```sh\nfalse\n```\n' > page.md
python3 "$here/run_page.py" page.md || wrong "a command that needs a package"
python3 "$here/run_page.py" --foreign page.md 2> message && wrong "a failed command that needs a package"

# Outputs that were recorded elsewhere.
printf '```sh\ntests/run.sh\n```\n\n```text\nfirst\n…\nlast\n```\n' > page.md
python3 "$here/run_page.py" page.md || wrong "a command that is run elsewhere"
printf 'before\n\n$ tests/run.sh\nfirst\n$ echo two\ntwo\nlast\n' > log
python3 "$here/run_page.py" --recorded log page.md || wrong "a recorded output"
printf '$ tests/run.sh\nfirst\n' > log
python3 "$here/run_page.py" --recorded log page.md 2> message && wrong "a wrong recorded output"
printf 'first\ntwo\nlast\n' > log
python3 "$here/run_page.py" --recorded log page.md 2> message && wrong "an output that was not recorded"
printf '```sh\nfalse\n```\n' > page.md
python3 "$here/run_page.py" page.md 2> message && wrong "a command that failed"
finish
