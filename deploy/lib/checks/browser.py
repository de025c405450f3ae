"""A headless Chromium, led over its DevTools pipe; nothing but Python's standard library.

A pipe rather than a port: there is nothing to wait for and nothing that another process could take.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time

# A machine with other work may need this long for a page.
PATIENCE = 300


class Browser:
    """A running browser with a profile of its own, which goes with it."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise SystemExit("There is no chromium: apt-get install --no-install-recommends chromium")
        self.folder = tempfile.mkdtemp(prefix="tacet-browser-")
        commands, self.writing = _pipe()
        self.reading, answers = _pipe()
        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}/profile",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-proxy-server", "about:blank",
        ]  # fmt: skip
        if os.geteuid() == 0:
            # Chromium's sandbox refuses to be started by root; only pages of our own are opened.
            arguments.insert(1, "--no-sandbox")
        log = os.open(f"{self.folder}/log", os.O_WRONLY | os.O_CREAT, 0o600)
        self.process = os.posix_spawn(
            program, arguments, {**os.environ, "HOME": self.folder},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, commands, 3), (os.POSIX_SPAWN_DUP2, answers, 4),
                (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setpgroup=0,
        )  # fmt: skip
        for descriptor in (commands, answers, log):
            os.close(descriptor)
        self.number = 0
        self.unread = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The group that was started here: the browser and its own helpers.
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def wait(self, method, session):
        """Returns the parameters of the next event of this name that was not returned before."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for place, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session:
                    return self.events.pop(place)["params"]
            self.events.append(self._receive(deadline, method))

    def _receive(self, deadline, purpose):
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.reading], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.reading, 1 << 16) if ready else b""
            if not data:
                with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as log:
                    raise RuntimeError(f"no answer to {purpose}; the browser said: {log.read()[-2000:]}")
            self.unread += data
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)


class Page:
    """A page in a profile of its own, without JavaScript, as wide as a screen."""

    def __init__(self, browser, width, scheme, height=900):
        self.browser = browser
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )

    def go(self, address):
        document = self.call("Page.navigate", url=address).get("loaderId")
        self._await_load(lambda loaded: loaded == document)

    def await_refresh(self):
        """Waits until the page is loaded again by itself."""
        before = self._document()
        self._await_load(lambda loaded: loaded != before)

    def type(self, selector, text):
        """Writes into a field, in place of what is there."""
        self.ask(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.focus(); e.select() }})()")
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """Clicks the first such element, and waits for the page that it leads to. Not for pages that refresh themselves."""
        place = self.ask(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        before = self._document()
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self._await_load(lambda loaded: loaded != before)

    def ask(self, expression):
        """The value of an expression, which the browser computes for us although pages may run none."""
        try:
            answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        except RuntimeError as error:
            # The page was loaded again meanwhile, and what was asked has gone with it.
            if "context" not in str(error) and "navigated" not in str(error):
                raise
            self._await_load(lambda _: True)
            answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, selector):
        """What the first such element says; empty without one."""
        return self.ask(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def complaints(self):
        """What the browser has complained about since it was asked last: errors, and what the page's policy forbids.

        What it only remarks is no complaint: that somebody typed before a field could take the focus, for one.
        """
        names = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Audits.issueAdded"}
        mine = [e for e in self.browser.events if e.get("sessionId") == self.session and e.get("method") in names]
        self.browser.events = [e for e in self.browser.events if e not in mine]
        noted = [e["params"] for e in mine]
        return [n for n in noted if n.get("entry", {}).get("level") not in ("verbose", "info")]

    def picture(self, path):
        """The whole page as a PNG file."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _document(self):
        """Which document is open: a name that the browser gives to each load. Loads before it are forgotten."""
        self.browser.events = [e for e in self.browser.events if e.get("method") != "Page.lifecycleEvent"]
        return self.call("Page.getFrameTree")["frameTree"]["frame"]["loaderId"]

    def _await_load(self, is_meant):
        """Waits until a document that is meant has been loaded whole, before now or from now on."""
        while True:
            event = self.browser.wait("Page.lifecycleEvent", self.session)
            if event["name"] == "load" and is_meant(event["loaderId"]):
                return


def _pipe():
    # Out of the way of the numbers that the browser expects its pipes at.
    descriptors = os.pipe()
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    return moved
