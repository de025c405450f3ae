"""Requests of a hostile client, as many as asked for: every body that the interface takes, cut, twisted and mislabelled.

Usage: hostile.py URL COUNT [SEED [PID]]. WEBHOOK_SECRET, SERVICE_KEY and CLIENT_TOKEN, of the environment, let some of them in. PID
is the service's, whose memory is then looked at. Prints the seed, the count, the statuses and the memory; exits 1 when an answer
is none or 500, the service does not answer afterwards, or its memory has grown by more than 20 MB after the first tenth."""

import collections
import json
import os
import random
import socket
import sys
import urllib.parse
import uuid

GROWTH_MAX = 20_000_000
KINDS = ("message", "request_claimed", "read_sync", "%00", "a" * 70)


def documents(draw):
    """An operation and a body that it takes: method, path, proof, document."""
    some = str(uuid.UUID(int=draw.getrandbits(128)))
    zone = draw.choice(["UTC", "Europe/Zurich", "Mars/Base", ""])
    return draw.choice([
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET", {"message_id": some}),
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET", {"message_id": some, "recipient_user_id": some}),
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET",
         {"type": "INSERT", "table": "messages", "schema": "public", "record": {"id": some, "text": "x"}, "old_record": None}),
        ("POST", "/v1/webhooks/" + draw.choice(KINDS), "WEBHOOK_SECRET", {"subject_id": some, "recipient_user_id": some}),
        ("POST", "/v1/pushes", "SERVICE_KEY",
         {"user_id": some, "title": "t", "body": "b", "kind": "k", "data": {"a": [1, {"b": None}]}, "collapse_id": "c"}),
        ("PUT", "/v1/devices/" + draw.choice(["aa", "0F" * 32, "ag", "a" * 3000]), "CLIENT_TOKEN",
         {"environment": "sandbox", "app": "com.example.app", "platform": "ios", "locale": "de-CH", "time_zone": zone}),
        ("PUT", "/v1/preferences", "CLIENT_TOKEN",
         {"quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": zone, "policy": "hold"}, "disabled_kinds": ["a"],
          "conversations": [{"conversation_id": some, "muted": True, "muted_until": "2026-01-31T20:15:00Z"}]}),
        ("POST", "/v1/conversations/%s/read" % some, "CLIENT_TOKEN", {"up_to_message_id": some, "device_token": "aa"}),
    ])


def strange(draw):
    """A value as no host means it."""
    return draw.choice([
        None, True, -1, 2**63, -(2**63) - 1, 10**400, 1e308, "", "\0", "\ud7ff", "\u0301" * draw.randrange(3000),
        "x" * draw.randrange(70_000), [], {}, [[]], {"": {}}, [None] * draw.randrange(2000), "2099-99-99T99:99:99Z",
        "' or 1=1 --", "../../etc/passwd", "\u202e", "\U0001f468\u200d\U0001f469" * 50])


def twist(draw, value):
    """Replaces a part of a document, adds a member, or takes one away."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        value = dict(value)
        key = draw.choice(list(value))
        choice = draw.randrange(4)
        if choice == 0:
            value["unknown" + str(draw.randrange(9)) * draw.randrange(200)] = strange(draw)
        elif choice == 1:
            del value[key]
        else:
            value[key] = twist(draw, value[key])
        return value
    return strange(draw)


def raw(draw, document):
    """Bytes of a body."""
    text = json.dumps(twist(draw, document) if draw.random() < 0.7 else document, ensure_ascii=draw.random() < 0.5)
    body = text.encode("utf-8", "surrogatepass")
    choice = draw.randrange(12)
    if choice == 0:
        return body[:draw.randrange(len(body) + 1)]
    if choice == 1:
        place = draw.randrange(len(body) + 1)
        return body[:place] + bytes([draw.randrange(256)]) + body[place + 1:]
    if choice == 2:
        depth = draw.choice([10, 513, 5000, 60_000])
        return (b"[" * depth + b"]" * depth) if draw.random() < 0.5 else b'{"a":' * depth
    if choice == 3 and body.startswith(b"{") and len(body) > 2:
        return b"{" + body[1:-1] + b"," + body[1:]
    if choice == 4:
        return body + draw.choice([b"\0", b"}", b" {}", b"\xff\xfe", b"\xed\xa0\x80"])
    if choice == 5:
        return draw.choice([b"1e99999", b"-", b"nul", b'"\\ud800"', b'{"a":1e' + b"9" * 5000 + b"}", b"\xef\xbb\xbf{}"])
    return body


def fields(draw, body):
    """Content type and framing, and the body as it is framed."""
    kind = draw.choice(["application/json"] * 8 + ["text/plain", "application/json; charset=utf-16", "", "multipart/form-data"])
    lines = ["Content-Type: " + kind] if kind else []
    choice = draw.randrange(12)
    if choice == 0:
        return lines + ["Transfer-Encoding: chunked"], b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    if choice == 1:
        odd = draw.choice(["-1", "+1", "0x10", str(2**64), str(len(body)) + ", 1", "a", ""])
        return lines + ["Content-Length: " + odd], body
    if choice == 2:
        return lines + ["Content-Length: %d" % len(body), "Expect: " + draw.choice(["100-continue", "x"])], body
    return lines + ["Content-Length: %d" % len(body)], body


def path_and_query(draw, path):
    choice = draw.randrange(20)
    if choice == 0:
        return path + "?" + urllib.parse.quote(str(strange(draw))[:3000])
    if choice == 1:
        return path.replace("/", draw.choice(["//", "/./", "/%2e%2e/", "%2f", "/\\", "/%ff"]), 1)
    if choice == 2:
        return path + draw.choice(["/", "%", "%0", "\x7f", "#", "/" + "a" * 9000])
    return path


def request(draw):
    method, path, proof, document = documents(draw)
    body = raw(draw, document)
    lines, content = fields(draw, body)
    secret = os.environ.get(proof, "")
    if draw.random() < 0.15:
        secret = draw.choice(["wrong", secret[:-1], secret + "x", ""])
    address = "198.18.%d.%d" % (draw.randrange(256), draw.randrange(256))
    head = ["%s %s HTTP/1.1" % (draw.choice([method] * 9 + ["PATCH"]), path_and_query(draw, path)), "Host: a",
            "Authorization: Bearer " + secret, "X-Forwarded-For: " + address, "Prefer: respond-async", "Connection: close"]
    return "\r\n".join(head + lines).encode("latin-1", "replace") + b"\r\n\r\n" + content


def ask(host, port, message):
    """The status of the last answer; 0 for none."""
    answer = b""
    with socket.create_connection((host, port), timeout=30) as connection:
        try:
            connection.sendall(message)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while len(answer) < 65536 and (piece := connection.recv(65536)):
                answer += piece
        except ConnectionResetError:
            pass
    final = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    return int(final[9:12]) if final[:9] == b"HTTP/1.1 " else 0


def resident(process):
    with open("/proc/%d/status" % process, encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


def main():
    url = urllib.parse.urlsplit(sys.argv[1])
    count = int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().getrandbits(32)
    process = int(sys.argv[4]) if len(sys.argv) > 4 else None
    print("seed %d" % seed, flush=True)
    draw = random.Random(seed)
    statuses = collections.Counter()
    before = None
    for number in range(count):
        if process and number == count // 10:
            before = resident(process)
        message = request(draw)
        status = ask(url.hostname, url.port, message)
        statuses[status] += 1
        if status in (0, 500):
            print("request %d: %d to %r" % (number, status, message[:600]), flush=True)
    health = ask(url.hostname, url.port, b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    print("%d requests: %s" % (count, ", ".join("%d x %d" % (n, s) for s, n in sorted(statuses.items()))))
    grown = 0
    if process:
        after = resident(process)
        grown = after - before
        print("memory: %.1f MB after a tenth, %.1f MB at the end" % (before / 1e6, after / 1e6))
    sys.exit(1 if statuses[0] or statuses[500] or health != 200 or grown > GROWTH_MAX else 0)


main()
