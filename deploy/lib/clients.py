"""Clients that count what fails: clients.py PORT NEW KEPT SECONDS

NEW threads open a connection for each request; KEPT ones keep theirs until the server says or does otherwise. A kept
connection that was closed while it was idle is opened again, as every client does that looks before it writes. A request
fails when it cannot connect, gets no whole answer, or another status than 200. Prints what happened; failures are named.
"""

import collections
import select
import socket
import sys
import threading
import time

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
CLOSING = REQUEST + b"Connection: close\r\n\r\n"
KEEPING = REQUEST + b"\r\n"


class Failed(Exception):
    pass


class Client(threading.Thread):
    def __init__(self, port, keeps, until):
        super().__init__(daemon=True)
        self.port, self.keeps, self.until = port, keeps, until
        self.connection = None
        self.failures = collections.Counter()
        self.requests = self.connections = 0
        self.slowest = 0.0

    def run(self):
        while (start := time.monotonic()) < self.until:
            self.requests += 1
            try:
                self.request()
            except (OSError, Failed) as failure:
                self.failures[f"{type(failure).__name__} {failure}"] += 1
                self.close()
            self.slowest = max(self.slowest, time.monotonic() - start)

    def request(self):
        if not self.is_usable():
            self.connect()
        self.connection.sendall(KEEPING if self.keeps else CLOSING)
        head, closes = self.read_answer()
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Failed(head.split(b"\r\n")[0].decode())
        if closes or not self.keeps:
            self.close()

    def connect(self):
        self.close()
        self.connection = socket.socket()
        self.connection.settimeout(10)
        self.connection.connect(("127.0.0.1", self.port))
        self.connections += 1

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def is_usable(self):
        """Between two requests there is nothing to read but the end."""
        return self.connection and not select.select([self.connection], [], [], 0)[0]

    def read_answer(self):
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.read_some()
        head, body = answer.lower().split(b"\r\n\r\n", 1)
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.read_some()
        return answer, b"connection: close" in head

    def read_some(self):
        piece = self.connection.recv(4096)
        if not piece:
            raise Failed("closed without a whole answer")
        return piece


def main():
    port, new_count, kept_count, seconds = map(int, sys.argv[1:5])
    until = time.monotonic() + seconds
    clients = [Client(port, number >= new_count, until) for number in range(new_count + kept_count)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    failures = sum((client.failures for client in clients), collections.Counter())
    print(f"{sum(client.requests for client in clients)} requests")
    print(f"{sum(client.connections for client in clients)} connections")
    print(f"{max(client.slowest for client in clients):.3f} s, the slowest request")
    for failure, count in failures.most_common():
        print(f"{count} times: {failure}")
    print(f"{sum(failures.values())} failed")


main()
