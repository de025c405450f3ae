"""What a hostile client sends: every body that the interface takes, cut, twisted and mislabelled; the same for the same draw."""

import json
import os
import urllib.parse

from client_tokens import numbered_user, token

USERS = 4096
# Of each operation: most bodies are damaged ones of these, because making a document takes longer than damaging one.
KEPT_BODIES = 48
KINDS = ("message", "request_claimed", "read_sync", "%00", "a" * 70)
ZONES = ("UTC", "Europe/Zurich", "Asia/Calcutta", "CET", "Etc/Unknown", "+03:00", "Mars/Base", "../etc/passwd", "")
WORKOUT = {"workoutType": "Run", "startTime": "2026-11-22T07:30:00Z"}
# Two orders of combining marks, which costs quadratic time to compare as texts.
MARKS = "\u0301\u0316"
FIELDS = ("Origin", "Cookie", "If-None-Match", "X-Forwarded-For", "Forwarded", "Idempotency-Key", "webhook-signature")
KNOWN_IDS = os.environ.get("KNOWN_IDS", "").split()


def operations(draw):
    """What takes a body: method, path, proof, document."""
    some = draw.choice(KNOWN_IDS) if KNOWN_IDS and draw.random() < 0.2 else numbered_user(draw.getrandbits(48))
    zone = draw.choice(ZONES)
    user = numbered_user(draw.randrange(USERS))
    return [
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET", {"message_id": some}),
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET", {"message_id": some, "recipient_user_id": user}),
        ("POST", "/v1/webhooks/messages", "WEBHOOK_SECRET",
         {"type": "INSERT", "table": "messages", "schema": "public", "record": {"id": some, "text": "x"}, "old_record": None}),
        ("POST", "/v1/webhooks/" + draw.choice(KINDS), "WEBHOOK_SECRET", {"subject_id": some, "recipient_user_id": user}),
        ("POST", "/v1/pushes", "SERVICE_KEY",
         {"user_id": user, "title": "t", "body": "b", "kind": "k", "data": {"a": [1, {"b": None}]}, "collapse_id": "c"}),
        ("PUT", "/v1/devices/" + draw.choice(["aa", "0F" * 32, "%064x" % draw.getrandbits(256), "ag", "a" * 3000]), "JWT_SECRET",
         {"environment": "sandbox", "app": "com.example.app", "platform": "ios", "locale": "de-CH", "time_zone": zone}),
        ("PUT", "/v1/preferences", "JWT_SECRET",
         {"quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": zone, "policy": "hold"}, "disabled_kinds": ["a"],
          "conversations": [{"conversation_id": some, "muted": True, "muted_until": "2026-01-31T20:15:00Z"}]}),
        ("POST", "/v1/conversations/%s/read" % some, "JWT_SECRET", {"up_to_message_id": some, "device_token": "aa"}),
        ("PUT", "/v1/live-activities/" + some, "JWT_SECRET", {"type": "WorkoutActivityAttributes", "attributes": WORKOUT, "state": None}),
        ("PUT", "/v1/live-activities/%s/token" % some, "JWT_SECRET", {"token": "ab" * 40, "device_token": "aa"}),
        ("POST", "/v1/live-activities", "SERVICE_KEY",
         {"id": "run", "user_id": user, "type": "WorkoutActivityAttributes", "attributes": WORKOUT, "alert": {"title": "t", "body": "b"}}),
        ("PATCH", "/v1/live-activities/run", "SERVICE_KEY",
         {"state": {"elapsedTime": 1.5, "heartRate": 90, "activeCalories": 2}, "priority": 5, "relevance_score": 1}),
        ("POST", "/v1/live-activities/run/end", "SERVICE_KEY", {"state": None, "alert": {"title": "t"}}),
        ("PUT", "/v1/web-push/subscriptions", "JWT_SECRET",
         {"endpoint": "https://127.0.0.1/a", "keys": {"p256dh": "B" * 87, "auth": "A" * 22}, "expirationTime": None, "time_zone": zone}),
        ("PUT", "/v1/fcm/registrations", "JWT_SECRET", {"token": "a:APA91b", "app": "com.example.app", "locale": "zh_Hans", "time_zone": zone}),
        ("PUT", "/v1/slots/ritual", "JWT_SECRET", {"enabled": True, "slots": [{"slot": "0730", "phase": "morning", "weekdays": [1, 7]}]}),
        ("POST", "/v1/actions", "JWT_SECRET",
         {"id": some, "action": "DID_THIS", "identifier": "ritual.0800.2026-11-22", "at": "2026-11-22T07:02:11Z"}),
        ("POST", "/v1/telemetry", "JWT_SECRET",
         {"events": [{"id": some, "code": "armed", "slotId": "0800", "whenMs": 1, "attempt": 1, "networkState": "online", "tzOffset": 60,
                      "appState": "active", "timestamp": "2026-11-21T18:30:00Z"}]}),
        ("POST", "/v1/notifications/events", "JWT_SECRET", {"events": [{"push_log_id": some, "event": "opened"}]}),
    ]


def strange(draw):
    """A value as no host means it."""
    return draw.choice([
        None, True, -1, 2**63, -(2**63) - 1, 10**400, 1e308, "", "\0", "\ud7ff", "\u0301" * draw.randrange(3000),
        "x" * draw.randrange(70_000), [], {}, [[]], {"": {}}, [None] * draw.randrange(2000), "2099-99-99T99:99:99Z",
        "a" + MARKS * draw.randrange(16_000), "a\0" + MARKS, {MARKS * 15: {MARKS: MARKS}}, nested(draw.choice([15, 16, 17, 480])),
        {"e\u0301" * 7 + str(number): 1 for number in range(draw.randrange(2200))}, [[1] * 100] * draw.randrange(25),
        "' or 1=1 --", "../../etc/passwd", "\u202e", "\U0001f468\u200d\U0001f469" * 50])


def nested(depth):
    """Lists and objects inside each other."""
    value = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def twisted(draw, value):
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
            value[key] = twisted(draw, value[key])
        return value
    return strange(draw)


def odd_bytes(draw):
    """What no document may contain, or not there."""
    depth = int(draw.random() ** 8 * 30_000)
    return draw.choice([
        b"\0", b"}", b" {}", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"1e99999", b"-", b"nul", b'"\\ud800"', b"9" * 400, b"\\u0000", b"\\u0301\\u0316" * 5000,
        b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth, b",", b'"', b":", bytes([draw.randrange(256)])])


def damaged(draw, body, other):
    """A body after one cheap accident or none: cut, joined with another, a part replaced, put in or repeated, all members twice, or a
    text or a name with marks."""
    choice, place = int(draw.random() * 12), int(draw.random() * (len(body) + 1))
    if choice == 0:
        return body[:place]
    if choice == 1:
        return body[:place] + other[int(draw.random() * len(other)):]
    if choice == 2:
        return body[:place] + odd_bytes(draw) + body[place + 1:]
    if choice == 3:
        return body[:place] + odd_bytes(draw) + body[place:]
    if choice == 4:
        return body[:place] + body[place // 2:]
    if choice == 5 and len(body) > 2:
        return b"{" + body[1:-1] + b"," + body[1:]
    if choice == 6 and draw.random() < 0.25:
        start = draw.choice([b'{"', b', "', b'": "'])
        before, found, after = body.partition(start)
        return before + found + MARKS.encode() * 15_000 + after
    return body


class Forge:
    """Makes requests."""

    def __init__(self, draw):
        self.draw = draw
        self.operations = operations(draw)
        self.kept = [[encoded(draw, document)] for _, _, _, document in self.operations]
        key = proof("JWT_SECRET")
        self.tokens = [token(numbered_user(draw.randrange(USERS)), key).encode() for _ in range(USERS)]

    def request(self):
        """A request, and whether nothing can follow it on its connection."""
        draw = self.draw
        if draw.random() < 0.1:
            self.renew()
        number = int(draw.random() * len(self.operations))
        method, path, key, _ = self.operations[number]
        kept, other = self.kept[number], self.kept[int(draw.random() * len(self.kept))]
        # The older the more often: the first is what the operation takes.
        body = kept[int(draw.random() ** 3 * len(kept))]
        framing, content, is_last = framed(draw, damaged(draw, body, draw.choice(other)))
        if draw.random() < 0.05:
            framing += b"%s: a%s\r\n" % (draw.choice(FIELDS).encode(), MARKS.encode() * draw.randrange(3500))
        if draw.random() < 0.05:
            method = "PATCH"
        secret = self.secret(key)
        if draw.random() < 0.1:
            secret = draw.choice([b"wrong", secret[:-1], secret + b"x", b""])
        return self.message(method, path_and_query(draw, path), secret, framing, content), is_last

    def renew(self):
        """Other ids and zones from now on, and a new body."""
        self.operations = operations(self.draw)
        number = self.draw.randrange(len(self.operations))
        fresh = encoded(self.draw, twisted(self.draw, self.operations[number][3]))
        kept = self.kept[number]
        self.kept[number] = kept[:1] + kept[1:][2 - KEPT_BODIES:] + [fresh]

    def cuts(self):
        """Each operation's body, cut at every byte."""
        for method, path, key, document in operations(self.draw):
            body = json.dumps(document).encode()
            for length in range(len(body) + 1):
                framing = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % length
                yield self.message(method, path, self.secret(key), framing, body[:length])

    def secret(self, key):
        return self.draw.choice(self.tokens) if key == "JWT_SECRET" else proof(key)

    def message(self, method, path, secret, framing, content):
        address = int(self.draw.random() * 65536)
        return b"%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nX-Forwarded-For: 198.18.%d.%d\r\nPrefer: respond-async\r\n%s\r\n%s" % (
            method.encode(), path.encode("latin-1", "replace"), secret, address >> 8, address & 255, framing, content)


def proof(key):
    return os.environ.get(key, "").encode()


def encoded(draw, document):
    return json.dumps(document, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")


def framed(draw, body):
    """Fields of the content and its framing, the content, and whether nothing can follow it."""
    kind = b"application/json"
    if draw.random() < 0.1:
        kind = draw.choice([b"text/plain", b"application/json; charset=utf-16", b"", b"multipart/form-data"])
    label = b"Content-Type: %s\r\n" % kind
    choice = int(draw.random() * 24)
    if choice == 0:
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        return label + b"Transfer-Encoding: chunked\r\n", chunks, False
    if choice == 1:
        odd = draw.choice([b"-1", b"+1", b"0x10", b"%d" % 2**64, b"%d, 1" % len(body), b"a", b""])
        return label + b"Content-Length: %s\r\n" % odd, body, True
    if choice == 2:
        expected = draw.choice([b"100-continue", b"x"])
        return label + b"Content-Length: %d\r\nExpect: %s\r\n" % (len(body), expected), body, True
    return label + b"Content-Length: %d\r\n" % len(body), body, len(body) > 60_000


def path_and_query(draw, path):
    choice = int(draw.random() * 60)
    if choice == 0:
        return path + "?" + urllib.parse.quote(str(strange(draw))[:3000], errors="replace")
    if choice == 1:
        return path.replace("/", draw.choice(["//", "/./", "/%2e%2e/", "%2f", "/\\", "/%ff"]), 1)
    if choice == 2:
        return path + draw.choice(["/", "%", "%0", "\x7f", "#", "/" + "a" * 9000])
    return path
