"""An open loop of heartbeats: heartbeats.py PORT USERS_FILE INTERVAL SECONDS

USERS_FILE has a line for each user: id, conversation, HS256 secret in hexadecimal. Each user has a connection and a token of
their own and says PUT last-seen once in INTERVAL seconds, at an evenly spread moment, whether or not the answer to the last
one has come; requests of a slow user wait in the connection, and their time counts from when they were due. Prints what was
sent, answered and failed, and how long answers took.
"""

import asyncio
import collections
import resource
import sys
import time

from client_tokens import token


class Tally:
    def __init__(self):
        self.sent = 0
        self.times = []
        self.failures = collections.Counter()


class User(asyncio.Protocol):
    """One connection; answers come in the order of their requests and have no content, or are failures."""

    def __init__(self, line, tally):
        user, conversation, secret = line.split()
        self.tally = tally
        self.due = collections.deque()
        self.buffer = b""
        self.transport = None
        self.request = (
            f"PUT /v1/conversations/{conversation}/last-seen HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token(user, bytes.fromhex(secret))}\r\nContent-Length: 0\r\n\r\n"
        ).encode()

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, _):
        self.transport = None
        self.tally.failures["connection lost"] += len(self.due)
        self.due.clear()

    def beat(self, moment):
        self.tally.sent += 1
        if not self.transport:
            self.tally.failures["no connection"] += 1
            return
        self.due.append(moment)
        self.transport.write(self.request)

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, rest = self.buffer.split(b"\r\n\r\n", 1)
            lines = head.lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            self.answered(lines[0].split()[1].decode())

    def answered(self, status):
        due = self.due.popleft()
        if status == "204":
            self.tally.times.append(time.monotonic() - due)
        else:
            self.tally.failures[status] += 1


async def main():
    port, path, interval, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    tally = Tally()
    loop = asyncio.get_running_loop()
    with open(path, encoding="utf-8") as lines:
        users = [User(line, tally) for line in lines]
    for start in range(0, len(users), 200):
        connects = (loop.create_connection(lambda u=u: u, "127.0.0.1", port) for u in users[start:start + 200])
        await asyncio.gather(*connects)
    print("connected", flush=True)
    sys.stdin.readline()
    begin, count = time.monotonic(), int(len(users) * seconds / interval)
    for number in range(count):
        moment = begin + number * interval / len(users)
        if (wait := moment - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        users[number % len(users)].beat(moment)
    end = time.monotonic() + 10
    while any(user.due for user in users) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    unanswered = sum(len(user.due) for user in users)
    if unanswered:
        tally.failures["no answer in 10 s"] += unanswered
    times = sorted(tally.times) or [0.0]
    failed = sum(tally.failures.values())
    for failure, times_failed in tally.failures.most_common():
        print(f"failure {failure}: {times_failed}", file=sys.stderr)
    print(tally.sent, len(tally.times), failed, *(f"{times[int((len(times) - 1) * share)] * 1000:.2f}" for share in (0.5, 0.99, 1)))


asyncio.run(main())
