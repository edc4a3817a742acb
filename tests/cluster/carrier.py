# SPDX-License-Identifier: BSD-3-Clause
"""An agent whose data is sent over the network of the hosts, as by ssh, and stops when a cable is cut.
carrier.py serve             on each host: prints "ready" and runs the received commands, until it is ended
carrier.py HOST COMMAND...   runs the command on the host, with standard input, output, error and its exit code"""
import os, socket, struct, subprocess, sys, threading

PORT = 5140


def pump(stream, connection, kind, lock):
    while data := stream.read1(1 << 16):
        with lock:
            connection.sendall(struct.pack("<BI", kind, len(data)) + data)


def run_one(connection):
    incoming = connection.makefile("rb")
    length, = struct.unpack("<I", incoming.read(4))
    child = subprocess.Popen(["sh", "-c", incoming.read(length).decode()], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    lock = threading.Lock()
    pumps = [threading.Thread(target=pump, args=(open(s.fileno(), "rb", closefd=False), connection, k, lock), daemon=True)
             for k, s in ((1, child.stdout), (2, child.stderr))]

    def feed():
        try:
            while data := incoming.read1(1 << 16):
                child.stdin.write(data)
        except OSError:
            pass
        child.stdin.close()

    for thread in pumps + [threading.Thread(target=feed, daemon=True)]:
        thread.start()
    code = child.wait()
    for thread in pumps:
        thread.join()
    connection.sendall(struct.pack("<BIB", 0, 1, code & 255))
    connection.close()


def serve():
    server = socket.create_server(("", PORT), backlog=16)
    print("ready", flush=True)
    while True:
        threading.Thread(target=run_one, args=(server.accept()[0],), daemon=True).start()


def call(host, command):
    try:
        connection = socket.create_connection((host, PORT), timeout=5)
    except OSError as error:
        sys.exit(f"carrier: {host}: {error}")
    connection.settimeout(None)
    connection.sendall(struct.pack("<I", len(command.encode())) + command.encode())

    def feed():
        while data := os.read(0, 1 << 16):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=feed, daemon=True).start()
    incoming = connection.makefile("rb")
    while head := incoming.read(5):
        kind, length = struct.unpack("<BI", head)
        data = incoming.read(length)
        if kind == 0:
            os._exit(data[0])
        os.write(kind, data)
    os._exit(255)


serve() if sys.argv[1] == "serve" else call(sys.argv[1], " ".join(sys.argv[2:]))
