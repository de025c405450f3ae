"""The server of the demo's application: app-host.py STATE

Answers GET /news, and hears by POST /events what happens to pushes. STATE is a folder: the file "port" gets its port.

"news" says how it answers: a status (304 to the right If-None-Match, else 412), or none, which is later than anybody waits. "requests"
gets a line for each request: its fields If-None-Match and Authorization.

Signatures of events (Standard Webhooks) are verified with "secret", and "events-answer" is the status of the answers. "events" gets a
line for each: whether its signature is right, the status, the type, the user and the subject.
"""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import sys
import threading
import time

STATE = pathlib.Path(sys.argv[1])
ETAG = '"monday"'
NEWS = json.dumps({"headline": "The lake is open", "summary": "From eight to eight, all summer."}).encode()
PATIENCE = 30
BYTES_MAX = 65536
TOLERANCE_SECONDS = 300


def is_signed(headers, body):
    key = base64.b64decode((STATE / "secret").read_text().strip().removeprefix("whsec_"))
    identifier, moment = headers["webhook-id"], headers["webhook-timestamp"]
    if not identifier or not moment or abs(time.time() - int(moment)) > TOLERANCE_SECONDS:
        return False
    code = hmac.new(key, f"{identifier}.{moment}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(code).decode()
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split(" "))


def note(file, line):
    with (STATE / file).open("a") as lines:
        lines.write(line + "\n")


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answer = (STATE / "news").read_text().strip()
        note("requests", f"{self.headers['If-None-Match']} {self.headers['Authorization']}")
        if answer == "none":
            threading.Event().wait(PATIENCE)
            self.close_connection = True
        elif answer == "304":
            self.finish_answer(304 if self.headers["If-None-Match"] == ETAG else 412)
        else:
            self.finish_answer(int(answer), NEWS if answer == "200" else b"")

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"]), BYTES_MAX))
        status, event = int((STATE / "events-answer").read_text()), json.loads(body)
        word, data = "signed" if is_signed(self.headers, body) else "unsigned", event["data"]
        note("events", f"{word} {status} {event['type']} {data['user_id']} {data.get('subject_id')}")
        self.finish_answer(status)

    def finish_answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("ETag", ETAG)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
server.daemon_threads = True
(STATE / "port.new").write_text(str(server.server_port))
(STATE / "port.new").rename(STATE / "port")
server.serve_forever()
