"""The server of the demo's application, which hears what happens to pushes: event-host.py STATE NAME

Takes events by POST /events and verifies their signatures (Standard Webhooks). STATE is a folder: the file "port" gets its port, "secret"
has the secret, "answer" the status of the answers. "events" gets a line for each request: whether its signature is right, the status,
the type, the user and the subject. NAME is for the process list.
"""

import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import sys
import time

STATE = pathlib.Path(sys.argv[1])
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


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"]), BYTES_MAX))
        status = int((STATE / "answer").read_text())
        event = json.loads(body)
        word = "signed" if is_signed(self.headers, body) else "unsigned"
        with (STATE / "events").open("a") as events:
            data = event["data"]
            events.write(f"{word} {status} {event['type']} {data['user_id']} {data.get('subject_id')}\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *parts):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
server.daemon_threads = True
(STATE / "port.new").write_text(str(server.server_port))
(STATE / "port.new").rename(STATE / "port")
server.serve_forever()
