"""The web app of the test: its pages, and the service under the same origin.

A worker belongs to the origin of its pages, so `/clients/` and `/v1/` are passed on to the service. What passes is
recorded.
"""

import http.client
import json
import pathlib
import threading
import urllib.parse

from serving import Handler, Record

SUBSCRIPTIONS = "/v1/web-push/subscriptions"
EVENTS = "/v1/notifications/events"
LATEST = "/v1/notifications/latest"

PASSED_ON = ("/clients/", "/v1/")
# Fields that concern one connection (RFC 9110 section 7.6.1), and those that the harness sets.
NOT_PASSED_ON = ("connection", "host", "keep-alive", "transfer-encoding", "content-length", "accept-encoding", "te")
SERVICE_SECONDS_MAX = 60
FOLDER = pathlib.Path(__file__).parent / "app"


class Site(Record):
    """What was asked of the service, and what keeps it from answering."""

    def __init__(self, service, token):
        super().__init__()
        self.service = urllib.parse.urlsplit(service)
        self.token = token
        self.exchanges = []
        # Paths that fail with 503, and seconds by which others are held up.
        self.failing = set()
        self.delays = {}

    def count(self):
        with self.changed:
            return len(self.exchanges)

    def record(self, method, path, body, status):
        with self.changed:
            self.exchanges.append({"method": method, "path": path, "body": body, "status": status})
            self.changed.notify_all()

    def await_exchange(self, method, path, before, condition=lambda exchange: True, seconds=30):
        """Waits for an exchange with the service and returns it. `before`: how many exchanges came before."""

        def found():
            meant = (e for e in self.exchanges[before:] if (e["method"], e["path"]) == (method, path))
            return next((e for e in meant if condition(e)), None)

        return self.wait(f"{method} {path}", seconds, found)


class AppHandler(Handler):
    """Serves the pages and passes on the rest."""

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.startswith(PASSED_ON):
            return self.pass_on()
        name = {"/sw.js": "sw.js", "/page.js": "page.js"}.get(path, "page.html")
        text = (FOLDER / name).read_text().replace("{token}", self.server.record.token)
        kind = "text/html" if name.endswith("html") else "text/javascript"
        self.finish_answer(200, {"Content-Type": f"{kind}; charset=utf-8"}, text.encode())

    def pass_on(self):
        site, path, body = self.server.record, urllib.parse.urlsplit(self.path).path, self.read_body()
        if body is None:
            return self.finish_answer(413)
        threading.Event().wait(site.delays.get(path, 0))
        status, fields, answer = (503, {}, b"") if path in site.failing else self.ask_service(site.service, body)
        site.record(self.command, path, _json(body), status)
        self.finish_answer(status, fields, answer)

    do_PUT = do_POST = do_DELETE = do_PATCH = pass_on

    def ask_service(self, service, body):
        kind = http.client.HTTPSConnection if service.scheme == "https" else http.client.HTTPConnection
        connection = kind(service.hostname, service.port, timeout=SERVICE_SECONDS_MAX)
        try:
            connection.request(self.command, self.path, body or None, _passed_on(self.headers.items()))
            answer = connection.getresponse()
            return answer.status, _passed_on(answer.getheaders()), answer.read()
        except OSError as error:
            return 502, {}, str(error).encode()
        finally:
            connection.close()


def _passed_on(fields):
    return {name: value for name, value in fields if name.lower() not in NOT_PASSED_ON}


def _json(body):
    try:
        return json.loads(body)
    except ValueError:
        return None
