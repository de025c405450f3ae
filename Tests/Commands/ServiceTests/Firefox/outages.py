"""What a user of a web app experiences while something fails: steps of the same form as in `steps.py`."""

import time
import uuid

from app_site import EVENTS, LATEST
from stage import expect, since

# The worker gives up on the service after 12 s; a busy machine shows the neutral text later, and long before the service answers.
SLOW_SERVICE_SECONDS = 60
NEUTRAL_MILLISECONDS = (11_500, 30_000)
NEUTRAL_TEXT = "Neutral text"


def browser_offline(stage):
    """A push waits for a browser that is offline"""
    _take_offline(stage)
    count = len(stage.push.accepted())
    stage.message("Sent to nobody")
    version = stage.await_accepted(count)["version"]
    expect(version not in stage.push.acknowledged, "a browser that is offline has acknowledged")
    start = _take_online(stage)
    stage.screen.await_text("Sent to nobody", 60)
    return since(start)


def replaced_offline(stage):
    """Of two pushes of one tag that wait, only the newer arrives"""
    _take_offline(stage)
    count, tag = len(stage.push.accepted()), str(uuid.uuid4())
    for number, text in enumerate(("Draw 0:0", "Draw 1:1")):
        stage.run("push", text, tag)
        stage.await_accepted(count + number)
    start = _take_online(stage)
    stage.screen.await_text("Draw 1:1", 60)
    milliseconds = since(start)
    stage.await_settled()
    shown = [n["text"] for n in stage.screen.history() if n["text"].startswith("Draw")]
    expect(shown == ["Draw 1:1"], f"the screen has shown {shown}")
    return milliseconds


def connection_lost(stage):
    """A push waits while the push service cannot be reached"""
    stage.push.go_offline()
    stage.push.wait("the browser to go", 30, lambda: not stage.push.browsers)
    count = len(stage.push.accepted())
    stage.message("Sent into the dark")
    stage.await_accepted(count)
    start = time.monotonic()
    stage.push.go_online()
    stage.screen.await_text("Sent into the dark", 120)
    return since(start)


def slow(stage):
    """An empty push, and the service answers after 60 s: a neutral text after 12 s"""
    stage.site.delays = {LATEST: SLOW_SERVICE_SECONDS}
    milliseconds = _await_neutral(stage)
    stage.site.delays = {}
    least, most = NEUTRAL_MILLISECONDS
    expect(least <= milliseconds <= most, f"the neutral text came after {milliseconds:.0f} ms")
    return milliseconds


def service_down(stage):
    """An empty push, and the service fails: a neutral text at once"""
    stage.site.failing = {LATEST}
    milliseconds = _await_neutral(stage)
    stage.site.failing = set()
    return milliseconds


def report_later(stage):
    """A click while the service fails opens the conversation; `opened` follows with the next push"""
    stage.message("Open me in vain")
    stage.screen.await_text("Open me in vain")
    stage.site.failing = {EVENTS}
    before, events = stage.site.count(), len(stage.browser.events)
    stage.screen.click("Open me in vain")
    stage.await_opened(events)
    stage.site.await_exchange("POST", EVENTS, before, lambda e: e["status"] == 503)
    stage.page.ask("ready")
    stage.site.failing = set()
    start = time.monotonic()
    stage.message("The service is back")
    stage.await_report("opened", before)
    stage.close_pages()
    return since(start)


def rotate(stage):
    """The service's key changes: the next page start subscribes anew"""
    old, before = stage.push.live()[0], stage.site.count()
    stage.run("rotate")
    start = time.monotonic()
    stage.open_page()
    stage.await_subscription(before)
    milliseconds = since(start)
    expect(stage.push.live()[0].key != old.key, "the new subscription has the old key")
    stage.close_pages()
    stage.message("Signed with the new key")
    stage.screen.await_text("Signed with the new key")
    return milliseconds


def forget(stage):
    """The push service forgets: the worker subscribes anew, without a page"""
    before, start = stage.site.count(), time.monotonic()
    stage.push.forget()
    stage.await_subscription(before)
    milliseconds = since(start)
    stage.message("After it was forgotten")
    stage.screen.await_text("After it was forgotten")
    return milliseconds


def gone(stage):
    """A browser unsubscribes by itself: the service gets 410, and sends there no more"""
    stage.open_page()
    old = stage.push.live()[0]
    stage.page.ask("registration.pushManager.getSubscription().then(s => s.unsubscribe())")
    stage.push.wait("the end of the subscription", 30, lambda: old.is_gone)
    start = time.monotonic()
    stage.message("To a dead endpoint")
    stage.push.wait("a 410", 30, lambda: stage.push.answered(old, 410))
    milliseconds = since(start)
    before = stage.site.count()
    stage.click_subscribe()
    stage.await_subscription(before)
    stage.message("To a new endpoint")
    stage.screen.await_text("To a new endpoint")
    sent = len(stage.push.answered(old, 410))
    expect(sent == 1, f"the service has sent {sent} pushes to an endpoint that is gone")
    return milliseconds


def _take_offline(stage):
    stage.browser.chrome("(Services.io.offline = true)")
    stage.push.wait("the browser to go", 30, lambda: not stage.push.browsers)


def _take_online(stage):
    """Returns the moment of the monotonic clock."""
    stage.browser.chrome("(Services.io.offline = false, true)")
    return time.monotonic()


def _await_neutral(stage):
    count, start = stage.screen.count(), time.monotonic()
    stage.run("fetch")
    shown = stage.screen.await_next(count)
    expect(shown["text"] == NEUTRAL_TEXT, f"the empty push shows {shown}")
    return since(start)
