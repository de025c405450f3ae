"""A headless Firefox, led over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).

`moz:scope` reaches the browser's own windows, whose scripts may do what the browser can: replace the service that
shows notifications, go offline, end a service worker.
"""

import base64
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from serving import Record
from websocket import WebSocket

# A machine with other work may need this long for an answer.
PATIENCE = 120

PREFERENCES = {
    "dom.push.enabled": True,
    "dom.push.connection.enabled": True,
    "dom.push.testing.allowInsecureServerURL": True,
    # The least wait before the browser connects again, in milliseconds.
    "dom.push.retryBaseInterval": 1000,
    "permissions.default.desktop-notification": 1,
    # Everything but the loopback address goes to a proxy that is not there: nothing leaves the machine.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


class Output(Record):
    """What the browser writes, line by line, so that it never waits for a reader."""

    def __init__(self, stream):
        super().__init__()
        self.lines = collections.deque(maxlen=1000)
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def address(self):
        """Where the browser listens: a match of the host and the port, once it has chosen one."""
        return re.search(r"WebDriver BiDi listening on ws://([\w.]+):(\d+)", "".join(self.lines))


class Firefox:
    """A running browser with a separate profile, which is deleted with it."""

    def __init__(self, preferences):
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        if not program:
            raise SystemExit("There is no Firefox: apt-get install --no-install-recommends firefox-esr")
        self.folder = tempfile.mkdtemp(prefix="tacet-firefox-")
        self.number = 0
        self.events = []
        self._start(program, {**PREFERENCES, **preferences})
        try:
            self._connect()
        except BaseException:
            print("".join(self.output.lines)[-2000:], file=sys.stderr)
            self.__exit__()
            raise

    def _connect(self):
        found = self.output.wait("the browser's address", PATIENCE, self.output.address)
        self.socket = WebSocket.connect(found[1], int(found[2]), "/session", PATIENCE)
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.call("session.subscribe", events=["browsingContext.load", "log.entryAdded"])
        windows = self.call("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"]
        self.window = windows[0]["context"]

    def _start(self, program, preferences):
        profile = f"{self.folder}/profile"
        os.mkdir(profile)
        with open(f"{profile}/user.js", "w", encoding="utf-8") as file:
            for name, value in preferences.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0",
             "--remote-allow-system-access"],
            env={**os.environ, "HOME": self.folder, "TMPDIR": self.folder},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True,
        )  # fmt: skip
        self.output = Output(self.process.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The group that was started here: the browser and its own helpers.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("type") == "event":
                self.events.append(answer)
            elif answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]

    def wait(self, method, condition, since):
        """Returns the parameters of the first event of this name that fits. `since`: how many events came before."""
        while True:
            for event in self.events[since:]:
                if event["method"] == method and condition(event["params"]):
                    return event["params"]
            since = len(self.events)
            answer = json.loads(self.socket.receive())
            if answer.get("type") == "event":
                self.events.append(answer)

    def evaluate(self, context, expression):
        """The value of an expression, awaited if it is a promise; it must be JSON."""
        answer = self.call(
            "script.evaluate", expression=f"(async () => JSON.stringify(await ({expression})) ?? 'null')()",
            target={"context": context}, awaitPromise=True,
        )  # fmt: skip
        if answer["type"] == "exception":
            raise RuntimeError(f"{expression[:200]}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def chrome(self, expression):
        """The value of an expression in the browser's own window."""
        return self.evaluate(self.window, expression)

    def pages(self):
        """The addresses of the open tabs by their context."""
        return {c["context"]: c["url"] for c in self.call("browsingContext.getTree", maxDepth=0)["contexts"]}


class Page:
    """A tab."""

    def __init__(self, browser, context):
        self.browser, self.context = browser, context

    @classmethod
    def open(cls, browser, address):
        context = browser.call("browsingContext.create", type="tab")["context"]
        browser.call("browsingContext.navigate", context=context, url=address, wait="complete")
        return cls(browser, context)

    def ask(self, expression):
        return self.browser.evaluate(self.context, expression)

    def click(self, selector):
        """A click of the mouse in the middle of the first such element."""
        self.browser.call("browsingContext.activate", context=self.context)
        locator = {"type": "css", "value": selector}
        found = self.browser.call("browsingContext.locateNodes", context=self.context, locator=locator)["nodes"]
        origin = {"type": "element", "element": {"sharedId": found[0]["sharedId"]}}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": actions}
        self.browser.call("input.performActions", context=self.context, actions=[mouse])

    def picture(self, path):
        """What the page shows, as a PNG file."""
        data = self.browser.call("browsingContext.captureScreenshot", context=self.context)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
