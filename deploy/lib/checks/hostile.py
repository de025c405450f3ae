"""Requests of a hostile client, as many as asked for: those of hostile_requests.py.

Usage: hostile.py URL COUNT [SEED [PID]]. WEBHOOK_SECRET, SERVICE_KEY and JWT_SECRET, of the environment, let some of them in;
clients are the users whom client_tokens.numbered_user numbers, because each may ask only so often, and KNOWN_IDS has ids of the
host's rows. Before so many, each body comes cut at every byte. PID is the service's, whose memory is then looked at.

Prints the seed, the statuses, the rate and the memory; exits 1 when an answer is none or 500, the service does not answer
afterwards, its memory has grown by more than 20 MB after the first tenth, or a request has taken 5 ms of the processor on
average. Several processes ask, each on one connection over
which requests follow each other without waiting; those that a connection's end left unanswered are sent again."""

import collections
import multiprocessing
import os
import random
import re
import socket
import sys
import time
import urllib.parse

from hostile_requests import Forge

GROWTH_MAX = 20_000_000
# A debug build takes 0.7 ms. One text of marks that is compared as a text takes seconds.
SECONDS_MAX = 0.005
PROCESSES = 8
PIPELINED = 24
CONNECTS_MAX = 100


class Connection:
    """Asks one thing after another without waiting for answers, and connects again when the service has closed."""

    LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)

    def __init__(self, address, statuses):
        self.address, self.statuses = address, statuses
        self.socket, self.unread = None, b""

    def connect(self):
        for _ in range(100):
            try:
                self.socket, self.unread = socket.create_connection(self.address, timeout=30), b""
                return
            except OSError:
                self.statuses["refused connections"] += 1
                time.sleep(0.05)
        raise SystemExit("the service takes no connections")

    def ask(self, messages):
        """Counts the statuses, 0 for a request that gets no answer even alone on a connection of its own."""
        messages, count = collections.deque(messages), len(messages)
        while messages:
            is_fresh = self.socket is None
            if is_fresh:
                self.connect()
            answered = self.exchange(list(messages)[:count], messages)
            if answered < count:
                self.socket.close()
                self.socket = None
            if answered or not is_fresh:
                count = len(messages)
            elif count > 1:
                count = 1
            else:
                self.note(0, messages.popleft())
                count = len(messages)

    def exchange(self, batch, messages):
        try:
            self.socket.sendall(b"".join(batch))
        except OSError:
            pass
        answered = 0
        while answered < len(batch) and (status := self.status()):
            self.note(status, messages.popleft())
            answered += 1
        return answered

    def note(self, status, message):
        self.statuses[status] += 1
        if status in (0, 500):
            print("%d to %r" % (status, message[:600]), flush=True)

    def status(self):
        """Of the next final answer; 0 when the connection ends before."""
        while True:
            while (end := self.unread.find(b"\r\n\r\n")) < 0:
                if not self.receive():
                    return 0
            status, length = int(self.unread[9:12]), self.LENGTH.search(self.unread, 0, end + 2)
            end += 4 + (int(length[1]) if length and status != 204 else 0)
            while len(self.unread) < end:
                if not self.receive():
                    return 0
            self.unread = self.unread[end:]
            if status >= 200:
                return status

    def receive(self):
        try:
            piece = self.socket.recv(65536)
        except OSError:
            return False
        self.unread += piece
        return bool(piece)


def rounds(forge, count):
    """Requests that may be sent at once: the cuts, and so many others."""
    cuts = list(forge.cuts()) if count is None else []
    for start in range(0, len(cuts), PIPELINED):
        yield cuts[start:start + PIPELINED]
    messages = []
    for number in range(count or 0):
        message, is_last = forge.request()
        messages.append(message)
        if is_last or len(messages) == PIPELINED or number == count - 1:
            yield messages
            messages = []


def work(address, seed, count):
    statuses = collections.Counter()
    connection = Connection(address, statuses)
    for messages in rounds(Forge(random.Random(seed)), count):
        connection.ask(messages)
    return statuses


def resident(process):
    with open("/proc/%d/status" % process, encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


def processor_seconds(process):
    with open("/proc/%d/stat" % process, encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    url = urllib.parse.urlsplit(sys.argv[1])
    address, count = (url.hostname, url.port), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().getrandbits(32)
    process = int(sys.argv[4]) if len(sys.argv) > 4 else None
    print("seed %d" % seed, flush=True)
    statuses, memory, start = collections.Counter(), [], time.monotonic()
    processor = processor_seconds(process) if process else 0
    with multiprocessing.Pool(PROCESSES) as pool:
        for part, total in enumerate([None, count // 10, count - count // 10]):
            shares = [None] if total is None else [(total + n) // PROCESSES for n in range(PROCESSES)]
            orders = [(address, "%d/%d/%d" % (seed, part, n), share) for n, share in enumerate(shares)]
            for found in pool.starmap(work, orders, chunksize=1):
                statuses += found
            memory.append(resident(process) if process else 0)
    answered, seconds = sum(statuses.values()), time.monotonic() - start
    Connection(address, health := collections.Counter()).ask([b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"])
    print("%d requests, %d a second: %s" % (
        answered, answered / seconds, ", ".join("%d x %s" % (n, s) for s, n in sorted(statuses.items(), key=str))))
    if process:
        print("memory: %.1f MB after a tenth, %.1f MB at the end" % (memory[1] / 1e6, memory[2] / 1e6))
        processor = (processor_seconds(process) - processor) / answered
        print("processor: %.2f ms a request" % (processor * 1000))
    is_harmed = statuses[0] or statuses[500] or health != {200: 1} or memory[2] - memory[1] > GROWTH_MAX
    is_harmed = is_harmed or processor > SECONDS_MAX
    sys.exit(1 if is_harmed else 0)


main()
