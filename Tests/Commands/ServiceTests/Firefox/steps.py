"""What a user of a web app experiences while all goes well.

Each step returns the milliseconds from its cause to its effect. Its first line says what must hold.
"""

import time
import uuid

from app_site import EVENTS, LATEST
from stage import expect, reports, since

WORKER = """
Cc['@mozilla.org/serviceworkers/manager;1'].getService(Ci.nsIServiceWorkerManager).getAllRegistrations()
  .queryElementAt(0, Ci.nsIServiceWorkerRegistrationInfo).activeWorker
"""


def nothing_on_load(stage):
    """Loading a page subscribes to nothing"""
    start = time.monotonic()
    stage.open_page()
    expect(stage.push.live() == [], "the page has subscribed without a click")
    return since(start)


def subscribe(stage):
    """A click subscribes, and the service learns of it"""
    before, start = stage.site.count(), time.monotonic()
    stage.click_subscribe()
    stage.await_subscription(before)
    milliseconds = since(start)
    stage.picture("subscribed")
    return milliseconds


def show(stage):
    """Page closed, worker ended: a message is shown with its text"""
    stage.close_pages()
    # The browser does so 30 s after the last event.
    stage.browser.chrome(f"{WORKER}.terminateWorker()")
    starts, start = stage.browser.chrome(f"{WORKER}.launchCount"), time.monotonic()
    stage.message("The lake is open")
    shown = stage.screen.await_text("The lake is open")
    milliseconds = since(start)
    expect(shown["title"], "the notification has no title")
    expect(stage.browser.chrome(f"{WORKER}.launchCount") > starts, "a worker ran before the push came")
    stage.screen.picture("The lake is open", f"{stage.folder}/notification.png")
    return milliseconds


def click(stage):
    """A click on it opens the conversation, and the service gets `opened`"""
    before, events, start = stage.site.count(), len(stage.browser.events), time.monotonic()
    stage.screen.click("The lake is open")
    address = stage.await_opened(events)
    milliseconds = since(start)
    expect(address.rstrip("/") != stage.origin, "the click opened the start page, no conversation")
    stage.page.ask("ready")
    stage.picture("conversation")
    stage.await_report("opened", before)
    return milliseconds


def dismiss(stage):
    """Closing a notification opens nothing, and the service gets `dismissed`"""
    stage.close_pages()
    stage.message("Not now")
    stage.screen.await_text("Not now")
    before, start = stage.site.count(), time.monotonic()
    stage.screen.dismiss("Not now")
    stage.await_report("dismissed", before)
    milliseconds = since(start)
    opened = [a for a in stage.browser.pages().values() if a.startswith(stage.origin)]
    expect(not opened, f"closing a notification has opened {opened}")
    return milliseconds


def read_elsewhere(stage):
    """Reading on another device clears the notification, and the push for it shows another"""
    tag = stage.message("Read me elsewhere")
    stage.screen.await_text("Read me elsewhere")
    count, start = stage.screen.count(), time.monotonic()
    stage.run("read", tag)
    stage.screen.await_gone("Read me elsewhere")
    milliseconds = since(start)
    shown = stage.screen.await_next(count)
    expect(shown["text"] != "Read me elsewhere", "the notification was shown again")
    return milliseconds


def replace(stage):
    """Three pushes of one tag leave one notification, with the last text"""
    tag, start = str(uuid.uuid4()), time.monotonic()
    for text in ("Score 1:0", "Score 2:0", "Score 3:0"):
        stage.run("push", text, tag)
    stage.screen.await_text("Score 3:0")
    milliseconds = since(start)
    visible = [n["text"] for n in stage.screen.visible() if n["text"].startswith("Score")]
    expect(visible == ["Score 3:0"], f"the screen shows {visible}")
    stage.open_page()
    kept = stage.page.ask("registration.getNotifications().then(all => all.map(n => n.body))")
    expect([k for k in kept if k.startswith("Score")] == ["Score 3:0"], f"the browser keeps {kept}")
    stage.close_pages()
    return milliseconds


def fetch(stage):
    """An empty push shows the latest notification"""
    stage.message("Fetched by the worker")
    stage.screen.await_text("Fetched by the worker")
    before, count, start = stage.site.count(), stage.screen.count(), time.monotonic()
    stage.run("fetch")
    shown = stage.screen.await_next(count)
    milliseconds = since(start)
    expect("Fetched by the worker" in shown["text"], f"the empty push shows {shown}")
    stage.site.await_exchange("GET", LATEST, before, lambda e: e["status"] == 200)
    return milliseconds


def ledger(stage):
    """Every accepted push was delivered and showed something; two clicks and one dismissal were reported, no more"""
    start = time.monotonic()
    stage.await_settled()
    # 201: the browser ends subscriptions whose pushes show nothing.
    expect(201 not in stage.push.unregistered, "the browser counts silent pushes")
    events = [e for e in stage.site.exchanges if e["path"] == EVENTS and e["status"] == 204]
    kinds = sorted(kind for _, kind in {report for exchange in events for report in reports(exchange)})
    expect(kinds == ["dismissed", "opened", "opened"], f"the service got {kinds}")
    logged = [e["params"] for e in stage.browser.events if e["method"] == "log.entryAdded"]
    faults = [entry["text"] for entry in logged if entry["level"] == "error"]
    expect(not faults, f"pages fail: {faults}")
    return since(start)
