"""Makes the real service do something for the user who subscribes: the commands of firefox_push.py.

act.py insert|push TEXT TAG | read TAG | fetch | rotate. What it needs to know stands in the JSON file that ACT names.
"""

import json
import os
import subprocess
import sys
import urllib.request

with open(os.environ["ACT"], encoding="utf-8") as file:
    KNOWN = json.load(file)


def sql(statement, **variables):
    names = [part for name, value in variables.items() for part in ("-v", f"{name}={value}")]
    subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *names, KNOWN["database"]], input=statement, text=True, check=True)


def ask(path, proof, document):
    request = urllib.request.Request(
        KNOWN["service"] + path, json.dumps(document).encode(), method="POST",
        headers={"authorization": f"Bearer {proof}", "content-type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


def insert(text, tag):
    sql(
        "insert into messages (id, conversation_id, from_id, text) values (:'tag', :'conversation', :'sender', :'text')",
        tag=tag, conversation=KNOWN["conversation"], sender=KNOWN["sender"], text=text)


def push(text, tag):
    ask("/v1/pushes", KNOWN["key"], {"user_id": KNOWN["user"], "title": "A push", "body": text, "collapse_id": tag})


def read(tag):
    ask(f"/v1/conversations/{KNOWN['conversation']}/read", KNOWN["token"], {"up_to_message_id": tag})


def fetch():
    document = {"user_id": KNOWN["user"], "title": "A push", "body": "Fetched by the worker", "channel": "fetch"}
    ask("/v1/pushes", KNOWN["key"], document)


def rotate():
    """The test restarts the service; it listens at one pipe and answers at the other."""
    with open(KNOWN["ask"], "w", encoding="utf-8") as pipe:
        pipe.write("rotate\n")
    with open(KNOWN["done"], encoding="utf-8") as pipe:
        pipe.read()


COMMANDS = {"insert": insert, "push": push, "read": read, "fetch": fetch, "rotate": rotate}
COMMANDS[sys.argv[1]](*sys.argv[2:])
