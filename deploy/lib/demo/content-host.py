"""The host of the demo's news: content-host.py STATE NAME

Answers GET /news. STATE is a folder: the file "port" gets its port, "answer" says how it answers: 200, 304 (to the right
If-None-Match, else 412), or none, which is later than anybody waits. "requests" gets a line for each request: its fields
If-None-Match and Authorization. NAME is for the process list.
"""

import http.server
import json
import pathlib
import sys
import threading

STATE = pathlib.Path(sys.argv[1])
ETAG = '"monday"'
DOCUMENT = json.dumps({"headline": "The lake is open", "summary": "From eight to eight, all summer."}).encode()
PATIENCE = 30


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answer = (STATE / "answer").read_text().strip()
        with (STATE / "requests").open("a") as requests:
            requests.write(f"{self.headers['If-None-Match']} {self.headers['Authorization']}\n")
        if answer == "none":
            threading.Event().wait(PATIENCE)
            self.close_connection = True
        elif answer == "304":
            self.finish_answer(304 if self.headers["If-None-Match"] == ETAG else 412, b"")
        else:
            self.finish_answer(200, DOCUMENT)

    def finish_answer(self, status, body):
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
