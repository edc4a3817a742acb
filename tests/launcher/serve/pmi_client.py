# SPDX-License-Identifier: BSD-3-Clause
"""A rank that speaks PMI without MPI: pmi_client.py VERSION [ACTION RANK]. All ranks exchange keys in two rounds and print
what they have received; at ACTION, the rank RANK ends in another way."""
import os
import socket
import sys
import time

version = int(sys.argv[1])
action, actor = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 3 else ("none", -1)
server = socket.socket(fileno=int(os.environ["PMI_FD"]))
received = b""


def take(count):
    """Returns that many bytes of the server, or a line if count is 0."""
    global received
    while len(received) < count or (count == 0 and b"\n" not in received):
        part = server.recv(4096)
        if not part:
            sys.exit("the server has closed the connection")
        received += part
    end = count or received.index(b"\n") + 1
    result, received = received[:end], received[end:]
    return result.decode().rstrip("\n")


def fields_of(text, separator):
    text = text.replace(";;", "\0")
    return {name: value.replace("\0", ";") for name, _, value in
            (field.partition("=") for field in text.split(separator) if "=" in field)}


def ask_one(command, **fields):
    text = " ".join([f"cmd={command}"] + [f"{name}={value}" for name, value in fields.items()]) + "\n"
    server.sendall(text[:7].encode())   # the server must join what arrives in pieces
    server.sendall(text[7:].encode())
    return fields_of(take(0), " ")


def send_two(command, **fields):
    text = "".join([f"cmd={command};"] + ["%s=%s;" % (name, str(value).replace(";", ";;"))
                                          for name, value in fields.items()])
    server.sendall(f"{len(text):6}{text}".encode())


def answer_two():
    return fields_of(take(int(take(6))), ";")


def ask_two(command, **fields):
    send_two(command, **fields)
    return answer_two()


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")


check("init", ask_one("init", pmi_version=version, pmi_subversion=2 - version)["rc"], "0")
rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
if version == 1:
    limits = ask_one("get_maxes")
    check("limits", [int(limits[name]) >= 64 for name in ("kvsname_max", "keylen_max", "vallen_max")], [True] * 3)
    space = ask_one("get_my_kvsname")["kvsname"]
    check("get_appnum", ask_one("get_appnum")["appnum"], os.environ["PMI_APPNUM"])
    check("get_universe_size", ask_one("get_universe_size")["size"], str(size))
    check("lookup_name", ask_one("lookup_name", service="x")["rc"], "-1")
    server.sendall(b"mcmd=spawn\nnprocs=2\nexecname=x\ntotspawns=2\nspawnssofar=1\nendcmd\n"
                   b"mcmd=spawn\nnprocs=2\nexecname=x\ntotspawns=2\nspawnssofar=2\nendcmd\n")
    check("spawn", take(0).split()[:2], ["cmd=spawn_result", "rc=-1"])
    name = lambda command, **fields: ask_one(command + "_name", **fields)
    put = lambda key, value: ask_one("put", kvsname=space, key=key, value=value)["rc"] == "0"
    get = lambda key: ask_one("get", kvsname=space, key=key)
    mapping = get("PMI_process_mapping")["value"]
    barrier = lambda: check("barrier", ask_one("barrier_in")["cmd"], "barrier_out")
    found = lambda answer: answer["value"] if answer["rc"] == "0" else None
else:
    answer = ask_two("fullinit", pmirank=rank, threaded="TRUE", thrid=7)
    check("fullinit", [answer[name] for name in ("rc", "rank", "size", "appnum", "thrid")],
          ["0", str(rank), str(size), os.environ["PMI_APPNUM"], "7"])
    job = ask_two("job-getid")["jobid"]
    mapping = ask_two("info-getjobattr", key="PMI_process_mapping")["value"]
    check("universeSize", ask_two("info-getjobattr", key="universeSize")["value"], str(size))
    check("unknown attribute", ask_two("info-getjobattr", key="other")["found"], "FALSE")
    check("spawn", ask_two("spawn", ncmds=1, preputcount=0)["rc"] != "0", True)
    check("name-lookup", ask_two("name-lookup", name="x")["rc"] != "0", True)
    name = lambda command, **fields: ask_two(
        "name-" + command, **{"name" if field == "service" else field: value for field, value in fields.items()})
    put = lambda key, value: ask_two("kvs-put", key=key, value=value)["rc"] == "0"
    get = lambda key: ask_two("kvs-get", jobid=job, srcid=-1, key=key)
    barrier = lambda: check("fence", ask_two("kvs-fence")["rc"], "0")
    found = lambda answer: answer["value"] if answer["found"] == "TRUE" else None
    # the first rank of the node puts what the others wait for
    if os.environ["MPI_LOCALRANKID"] == "0":
        time.sleep(0.1)
        check("info-putnodeattr", ask_two("info-putnodeattr", key="node", value="a;b")["rc"], "0")
    check("info-getnodeattr", ask_two("info-getnodeattr", key="node", wait="TRUE")["value"], "a;b")
    check("a long attribute", ask_two("info-putnodeattr", key="long", value="x" * 1024)["rc"], "1")
    # while a thread waits in a fence, another one sends a request
    if rank == 0:
        time.sleep(0.1)
    send_two("kvs-fence", thrid=1)
    send_two("job-getid", thrid=2)
    check("threads", {answer["thrid"]: answer["cmd"] for answer in (answer_two(), answer_two())},
          {"1": "kvs-fence-response", "2": "job-getid-response"})
    check("no attribute", ask_two("info-getnodeattr", key="none", wait="FALSE")["found"], "FALSE")

for turn in range(2):
    value = f"{rank}.{turn}." + "x" * 900
    check("put", put(f"key-{rank}", value), True)
    barrier()
    for other in range(size):
        check("get", found(get(f"key-{other}")), f"{other}.{turn}." + "x" * 900)
    check("get of no key", found(get("none")), None)
    barrier()
# the last rank publishes what all ranks look up
publisher = rank == size - 1
if publisher:
    check("publish", name("publish", service="svc", port="port#0$1")["rc"], "0")
    check("publish again", name("publish", service="svc", port="other")["rc"] == "0", False)
barrier()
check("lookup", [name("lookup", service="svc").get(key) for key in ("rc", "port")], ["0", "port#0$1"])
barrier()
if publisher:
    check("unpublish", name("unpublish", service="svc")["rc"], "0")
barrier()
check("lookup of nothing", name("lookup", service="svc")["rc"] == "0", False)
check("the longest value", put("long", "x" * 1023), True)
check("a longer value is refused", put("long", "x" * 1024), False)
print(rank, size, mapping, flush=True)
if rank == actor:
    if action == "abort":
        if version == 1:
            server.sendall(b"cmd=abort exitcode=17\n")
        else:
            send_two("abort", isworld="TRUE", msg="no;\nway")
        time.sleep(1000)
    if action == "exit":
        sys.exit(0)
    if action == "half":
        server.sendall(b"cmd=barr" if version == 1 else b"    40cmd=kvs-")
        os._exit(0)
    if action == "unknown":
        print(ask_one("dance\x1b[1m" + "x" * 100))
    if action == "garbage":
        server.sendall(b"no message\n")
        time.sleep(1000)
elif action != "none":
    barrier()
check("finalize", "finalize" in (ask_one if version == 1 else ask_two)("finalize")["cmd"], True)
