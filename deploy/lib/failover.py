"""The host application of deploy/failover, and its watchers.

play: ten writers insert messages, 50 a second together, over libpq's list of hosts. Each has an id of the application's, and is
tried again until it is acknowledged, so a commit whose answer was lost is not made twice. Two watchers ask /readyz. After SIGTERM
it waits until the service has decided about everything, judges, and adds a row to rows.jsonl. Exits 1 when a bound is missed.

table: prints the rows as a table in markdown.
"""

import argparse
import collections
import http.client
import json
import pathlib
import random
import signal
import sys
import threading
import time
import urllib.request
import uuid

import psycopg2
from failover_judge import COLUMNS, judge, lost, shown, table

WRITERS = 10
PAUSE = 0.2
SERVICES = {"tacet-1": 8081, "tacet-2": 8082}
DRAIN_MAX = 75.0
# A commit whose connection went silent is tried elsewhere after a second.
CONNECTION = "port=5432 dbname=tacet connect_timeout=2 tcp_user_timeout=1000 target_session_attrs=read-write"


class Load:
    """The writers, and their own book of what was acknowledged."""

    def __init__(self, options, conversations):
        self.options, self.conversations = options, conversations
        self.tried, self.acknowledged = {}, []
        self.lock, self.ending = threading.Lock(), threading.Event()
        self.book = open(options.state / "acknowledged", "w", buffering=1)
        self.writers = [threading.Thread(target=self.write, args=(n,), daemon=True) for n in range(WRITERS)]
        for writer in self.writers:
            writer.start()

    def write(self, number):
        connection = None
        due = time.time() + PAUSE * number / WRITERS
        while not self.ending.is_set():
            time.sleep(max(0.0, due - time.time()))
            due = max(due + PAUSE, time.time())
            message, conversation = str(uuid.uuid4()), random.choice(self.conversations)
            self.tried[message] = conversation
            connection = self.commit(connection, message, conversation)

    def commit(self, connection, message, conversation):
        while True:
            try:
                if connection is None:
                    connection = connect(self.options.hosts, "app")
                    connection.autocommit = True
                connection.cursor().execute(
                    "insert into public.messages (id, conversation_id, from_id, text) values (%s, %s, %s, 'Are you coming?')"
                    " on conflict (id) do nothing", (message, conversation[0], conversation[1]))
                with self.lock:
                    self.acknowledged.append((time.time(), connection.info.host, message))
                    self.book.write(f"{message} {connection.info.host}\n")
                return connection
            except psycopg2.Error:
                if connection is not None:
                    connection.close()
                    connection = None
                if self.ending.is_set():
                    return None
                time.sleep(0.1)

    def end(self):
        self.ending.set()
        for writer in self.writers:
            writer.join(15)
        self.acknowledged.sort()


class Watcher:
    """What /readyz of one service says, by the time it changes. 0: no answer within a second."""

    def __init__(self, port):
        self.port, self.changes = port, []
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            status = self.ask()
            if not self.changes or self.changes[-1][1] != status:
                self.changes.append((time.time(), status))
            time.sleep(0.05)

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def is_ready(self):
        return self.changes[-1][1] == 200

    def first(self, status, since):
        return next((at for at, was in self.changes if was == status and at >= since), None)


class Pushes:
    """The pushes that the simulator has accepted since this was made: (message, token) to [(arrival, collapse id)]."""

    def __init__(self, control):
        self.control, self.after = control, 0
        self.forget()
        self.read()
        self.forget()

    def forget(self):
        self.of, self.refused = collections.defaultdict(list), 0

    def read(self):
        while page := self.page():
            for push in page:
                self.after = max(self.after, push["number"])
                if push["status"] == 200:
                    key = json.loads(push["payload"])["message_id"], push["token"]
                    self.of[key].append((push["arrived_us"] / 1e6, push["collapse_id"]))
                else:
                    self.refused += 1

    def page(self):
        with urllib.request.urlopen(f"{self.control}/pushes?after={self.after}&limit=5000", timeout=20) as answer:
            return json.load(answer)["pushes"]

    def arrivals(self):
        """When the first push of each message came."""
        first = {}
        for (message, _), pushes in self.of.items():
            first[message] = min([first.get(message, float("inf"))] + [at for at, _ in pushes])
        return first


def connect(hosts, user):
    """Hosts in any order: libpq tries them one after another, and one of them may be silent."""
    shuffled = random.sample(hosts.split(","), 3)
    return psycopg2.connect(f"host={','.join(shuffled)} user={user} {CONNECTION}")


def ask(options, statement, *arguments):
    connection = connect(options.hosts, "tacet")
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, arguments)
            return cursor.fetchall()
    finally:
        connection.close()


def find_conversations(options):
    return ask(options, """
        select r.conversation_id::text, s.user_id::text, array_agg(t.device_token)
        from public.push_tokens t
        join public.conversation_participants r on r.user_id = t.user_id
        join public.conversation_participants s on s.conversation_id = r.conversation_id and s.user_id <> r.user_id
        group by 1, 2""")


def drain(options, load, watchers, pushes):
    """Waits until each message in the database has its pushes, nothing is left to decide and the services are ready.

    Returns the messages, and how much is left."""
    deadline = time.time() + DRAIN_MAX
    there, left = None, None
    while True:
        try:
            there = {m for m, in ask(options, "select id::text from public.messages where id::text = any(%s)", list(load.tried))}
            left = ask(options, "select (select count(*) from tacet.inbox) + (select count(*) from tacet.deliveries)")[0][0]
        except psycopg2.OperationalError as error:
            print(f"  {error}".rstrip(), flush=True)
        pushes.read()
        is_whole = there is not None and not lost(load, pushes, there)
        if is_whole and left == 0 and all(watcher.is_ready() for watcher in watchers) or time.time() > deadline:
            return there, left
        time.sleep(0.5)


def play(options):
    # Python threads may be anywhere when the signal comes.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pushes = Pushes(options.control)
    watchers = [Watcher(port) for port in SERVICES.values()]
    load = Load(options, find_conversations(options))
    signal.sigwait({signal.SIGTERM})
    load.end()
    there, left = drain(options, load, watchers, pushes)
    row, misses = judge(options, load, watchers, pushes, there, left)
    with open(options.state / "rows.jsonl", "a") as file:
        file.write(json.dumps({**row, "misses": misses}) + "\n")
    print("  " + ", ".join(f"{COLUMNS[key]} {shown(row.get(key))}" for key in list(COLUMNS)[1:]), flush=True)
    for miss in misses:
        print(f"  MISSED: {miss}", flush=True)
    return 1 if misses else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("play")
    for name in ("fault", "kind", "hosts", "control", "leader"):
        playing.add_argument(f"--{name}", required=True)
    playing.add_argument("--state", required=True, type=pathlib.Path)
    playing.add_argument("--synchronous", action="store_true")
    commands.add_parser("table").add_argument("rows", type=pathlib.Path)
    options = parser.parse_args()
    if options.command == "table":
        return table(options.rows)
    return play(options)


sys.exit(main())
