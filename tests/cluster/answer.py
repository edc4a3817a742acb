# SPDX-License-Identifier: BSD-3-Clause
"""answer.py serve: sends the host name to each client at port 5000, until it is ended.
answer.py ask ADDRESS SECONDS: prints the answer and its time in milliseconds, or "no answer" and the reason."""
import socket, sys, time

if sys.argv[1] == "serve":
    server = socket.create_server(("", 5000), family=socket.AF_INET6, dualstack_ipv6=True, backlog=16)
    print("ready", flush=True)
    while True:
        caller, _ = server.accept()
        caller.sendall(f"{socket.gethostname()}".encode())
        caller.close()
else:
    start = time.monotonic()
    try:
        with socket.create_connection((sys.argv[2], 5000), timeout=float(sys.argv[3])) as caller:
            print(caller.recv(100).decode(), round((time.monotonic() - start) * 1000, 3))
    except OSError as error:
        print(f"no answer: {error}")
