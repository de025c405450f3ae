"""A crowd of connections that want little: crowd.py PORT IDLE SLOW NAME

IDLE connections make one request, keep the connection and say nothing more. SLOW ones send a request's head byte by byte,
one a second, and come again when they are refused. Prints "ready" when all are connected. On SIGTERM exits 0 if the server
has closed none of the idle ones, else says how many and exits 1. NAME is for the process list.

A hundred connections come from each address of the loopback network, so that a limit for each peer does not matter.
"""

import resource
import selectors
import signal
import socket
import sys

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
PEER_CONNECTIONS = 100


def connect(port, number):
    peer = 2 + number // PEER_CONNECTIONS
    connection = socket.socket()
    connection.bind((f"127.0.{peer // 250}.{peer % 250 + 1}", 0))
    connection.settimeout(10)
    connection.connect(("127.0.0.1", port))
    return connection


def connect_idle(port, number):
    connection = connect(port, number)
    connection.sendall(HEAD + b"\r\n")
    answer = b""
    while not answer.endswith(b"}"):
        piece = connection.recv(4096)
        if not piece:
            sys.exit("a connection was closed before its first answer")
        answer += piece
    connection.setblocking(False)
    return connection


class Slow:
    """Sends its head for as long as it is let."""

    def __init__(self, port, number):
        self.port, self.number, self.connection = port, number, None
        self.reconnect()

    def reconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = connect(self.port, self.number)
        self.connection.setblocking(False)
        self.sent = 0

    def step(self):
        try:
            self.connection.send(HEAD[self.sent : self.sent + 1] or b"x")
            self.sent += 1
            if self.connection.recv(4096, socket.MSG_PEEK) is not None:
                self.reconnect()
        except BlockingIOError:
            pass
        except OSError:
            self.reconnect()


def is_open(connection):
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False


def main():
    port, idle_count, slow_count = map(int, sys.argv[1:4])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stopped, stopping = socket.socketpair()
    signal.signal(signal.SIGTERM, lambda *_: stopping.send(b"x"))
    idle = [connect_idle(port, number) for number in range(idle_count)]
    slow = [Slow(port, idle_count + number) for number in range(slow_count)]
    print("ready", flush=True)
    waiting = selectors.DefaultSelector()
    waiting.register(stopped, selectors.EVENT_READ)
    while not waiting.select(timeout=1):
        for connection in slow:
            connection.step()
    closed = sum(not is_open(connection) for connection in idle)
    if closed:
        sys.exit(f"{closed} idle connections were closed")


main()
