# SPDX-License-Identifier: BSD-3-Clause
"""A launcher on one host that offers nothing but PMI over PMI_FD, such as Flux.

pmi_launcher.py SERVER RANKS COMMAND...   SERVER: 1 or 2, the only version that it speaks; hosts: version 1 without the
nodes of ranks; slurm: version 1 as in Slurm's plugin pmi2, which takes one read of at most 1024 bytes for a command,
and answers neither other texts nor a second "init". Ends with the highest exit code, 128 + N for signal N.
"""
import os
import socket
import subprocess
import sys
import threading

kind, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
version = 2 if kind == "2" else 1
barrier = threading.Barrier(ranks)
values = {} if kind == "hosts" else {"PMI_process_mapping": f"(vector,(0,1,{ranks}))"}


def fields(message, separator):
    return dict(part.split("=", 1) for part in message.strip().split(separator) if "=" in part)


def answer_to(rank, command, given):
    """Returns the rest of the answer after "cmd=NAME" and its name; version 2 derives the name from the command."""
    if command in ("put", "kvs-put"):
        values[given["key"]] = given["value"]
        return "put_result", {"rc": 0}
    if command in ("barrier_in", "kvs-fence"):
        barrier.wait()
        return "barrier_out", {"rc": 0}
    if command in ("get", "kvs-get", "info-getjobattr"):
        value = values.get(given["key"])
        if version == 1:
            return "get_result", {"rc": -1} if value is None else {"rc": 0, "value": value}
        return "", {"rc": 0, "found": "FALSE"} if value is None else {"rc": 0, "found": "TRUE", "value": value}
    if command == "fullinit":
        return "", {"pmi-version": 2, "pmi-subversion": 0, "rank": rank, "size": ranks, "appnum": 0, "rc": 0}
    if command == "get_maxes":
        return "maxes", {"kvsname_max": 64, "keylen_max": 64, "vallen_max": 1024 if kind == "slurm" else 256}
    if command == "get_my_kvsname":
        return "my_kvsname", {"kvsname": "job"}
    if command == "finalize":
        return "finalize_ack", {"rc": 0}
    sys.exit(f"pmi_launcher.py: unknown command {command}")


def serve(rank, connection):
    stream = connection.makefile("rwb")
    framed = initialized = False
    while True:
        if kind == "slurm":
            message = connection.recv(1024)
        else:
            message = stream.read(int(stream.read(6) or 0)) if framed else stream.readline()
        if not message:
            return
        if kind == "slurm" and (not message.startswith(b"cmd=") or initialized and message.startswith(b"cmd=init ")):
            continue
        given = fields(message.decode(), ";" if framed else " ")
        name = given["cmd"]
        if name == "abort":
            os._exit(int(given.get("exitcode", 1)))
        if name == "init":
            accepted = int(given["pmi_version"]) == version
            stream.write(f"cmd=response_to_init pmi_version={version} rc={0 if accepted else -1}\n".encode())
            stream.flush()
            framed = accepted and version == 2
            initialized = accepted
            continue
        answer, rest = answer_to(rank, name, given)
        separator = ";" if framed else " "
        text = "cmd=" + (name + "-response" if framed else answer) + separator
        text += separator.join(f"{key}={value}" for key, value in rest.items()) + (";" if framed else "\n")
        stream.write((f"{len(text):6}" + text if framed else text).encode())
        stream.flush()


processes = []
for rank in range(ranks):
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(ranks),
                   "PMI_JOBID": "job"}
    processes.append(subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()]))
    theirs.close()
    threading.Thread(target=serve, args=(rank, ours), daemon=True).start()
codes = [process.wait() for process in processes]
sys.exit(max(code if code >= 0 else 128 - code for code in codes))
