"""Where the steps happen: the browser, its screen, the push service, the app and the commands to the service."""

import shlex
import subprocess
import time
import uuid

from app_site import EVENTS, SUBSCRIPTIONS
from firefox import Page


class Stage:
    """What all steps share, and what several of them do."""

    def __init__(self, browser, screen, push, site, origin, commands, folder):
        self.browser, self.screen, self.push, self.site = browser, screen, push, site
        self.origin, self.commands, self.folder = origin, commands, folder
        self.page = None

    def run(self, command, *arguments):
        """Runs one of the commands that make the service do something."""
        words = " ".join(shlex.quote(a) for a in arguments)
        subprocess.run(f"{self.commands[command]} {words}", shell=True, check=True, stdin=subprocess.DEVNULL)

    def message(self, text):
        """Inserts a message. Returns its tag."""
        tag = str(uuid.uuid4())
        self.run("insert", text, tag)
        return tag

    def open_page(self):
        self.page = Page.open(self.browser, f"{self.origin}/")
        self.page.ask("ready")

    def close_pages(self):
        """Closes every tab of the app, once the pushes so far are delivered."""
        self.await_settled()
        for context, address in self.browser.pages().items():
            if address.startswith(self.origin):
                self.browser.call("browsingContext.close", context=context)
        self.page = None

    def await_opened(self, events):
        """Waits for a page of the app that the browser opens by itself. `events`: how many events came before."""
        loaded = self.browser.wait("browsingContext.load", lambda load: load["url"].startswith(self.origin), events)
        self.page = Page(self.browser, loaded["context"])
        return loaded["url"]

    def picture(self, name):
        self.page.picture(f"{self.folder}/{name}.png")

    def click_subscribe(self):
        self.page.click("#subscribe")
        self.page.ask("subscribed")

    def await_subscription(self, before):
        """Waits until the service has accepted the browser's subscription. `before`: how many exchanges came before."""
        put = self.site.await_exchange("PUT", SUBSCRIPTIONS, before, lambda e: e["status"] == 200)
        live = self.push.live()
        expect(len(live) == 1, f"{len(live)} subscriptions live at the push service")
        expect(put["body"]["endpoint"].endswith(live[0].token), "the service knows another endpoint than the browser")

    def await_report(self, kind, before):
        """Waits until the service has accepted a report of this kind."""

        def is_meant(exchange):
            return exchange["status"] == 204 and any(kind == event for _, event in reports(exchange))

        self.site.await_exchange("POST", EVENTS, before, is_meant)

    def await_settled(self):
        """Waits until every accepted push is delivered. A failed one fails the step."""
        versions = {r["version"] for r in self.push.accepted()}
        self.push.wait("acknowledgements", 30, lambda: self.push.settled() >= versions)
        failed = {v: c for v, c in self.push.acknowledged.items() if c != 100}
        expect(not failed, f"the browser could not deliver: {failed}")

    def await_accepted(self, count):
        """Waits until the push service has accepted more than `count` requests. Returns the last."""
        return self.push.wait("a push", 30, lambda: self.push.accepted()[count:])[-1]


def expect(condition, problem):
    if not condition:
        raise AssertionError(problem)


def since(start):
    """Milliseconds since a moment of the monotonic clock."""
    return (time.monotonic() - start) * 1000


def reports(exchange):
    """The pushes that a request reports on, each with what happened to it."""
    return [(event.get("push_log_id"), event.get("event")) for event in (exchange["body"] or {}).get("events", [])]
