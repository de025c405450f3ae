"""Uses the pages under /dashboard as a person would, in a real browser without JavaScript.

    browse-dashboard.py check URL KEY USER MESSAGE TOKEN     on wide and narrow screens, light and dark
    browse-dashboard.py picture URL KEY FOLDER NAME [USER MESSAGE]     writes pictures

TOKEN is the beginning of a device token of the user. Exits 0 when nothing was wrong. A check leaves pictures of what it has
looked at in the folder that TACET_PICTURES names, if it names one.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
from browser import Browser, Page  # noqa: E402

SCREENS = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")]

# The overview, which is otherwise loaded again every few seconds.
PAUSED = "/dashboard?live=no"

# Texts whose contrast against what they stand on is below 4.5:1 (WCAG 2.2, 1.4.3).
FAINT = """
(() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number)
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor)
      if (color.length < 4 || color[3] > 0) return color
    }
    return [255, 255, 255]
  }
  const faint = []
  for (const element of document.querySelectorAll('body *')) {
    const isText = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim() !== '')
    if (!isText || !element.checkVisibility()) continue
    const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(ground(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (ratio < 4.5) faint.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`)
  }
  return faint
})()
"""

# What somebody without eyes or mouse would miss.
UNREACHABLE = """
(() => {
  const missing = []
  if (document.querySelectorAll('h1').length !== 1) missing.push('not one h1')
  if (!document.documentElement.lang || !document.title) missing.push('no language or title')
  for (const field of document.querySelectorAll('input:not([type=hidden], [hidden])'))
    if (!field.labels.length) missing.push('no label: ' + field.name)
  for (const table of document.querySelectorAll('table'))
    if (!table.caption || !table.querySelector('th[scope=col]')) missing.push('a table without caption or headers')
  for (const control of document.querySelectorAll('a, button'))
    if (!control.innerText.trim()) missing.push('no name: ' + control.outerHTML)
  for (const id of document.querySelectorAll('[id]'))
    if (document.querySelectorAll('#' + id.id).length > 1) missing.push('twice: ' + id.id)
  return missing
})()
"""


class Check:
    """One visit, and what was wrong on it."""

    def __init__(self, page, url, name):
        self.page, self.url, self.name = page, url, name
        self.faults = []

    def expect(self, condition, what):
        if not condition:
            self.faults.append(f"{self.name}: {what}")

    def look(self, where, width):
        """Judges the page that is open."""
        for size in (width, 320) if width < 700 else (width,):
            self.page.resize(size)
            wide = self.page.ask("[document.documentElement.scrollWidth, innerWidth]")
            self.expect(wide[0] <= wide[1], f"{where}: {wide[0]} wide on a screen of {wide[1]}, asked for {size}")
        self.page.resize(width)
        if folder := os.environ.get("TACET_PICTURES"):
            self.page.picture(f"{folder}/{where}, {self.name}.png".replace(" ", "-"))
        self.expect(self.page.ask(FAINT) == [], f"{where}: faint {self.page.ask(FAINT)}")
        self.expect(self.page.ask(UNREACHABLE) == [], f"{where}: {self.page.ask(UNREACHABLE)}")
        for complaint in self.page.complaints():
            self.expect(False, f"{where}: the browser complains: {json.dumps(complaint)[:600]}")

    def visit(self, key, user, message, token, width, awaits_refresh):
        page = self.page
        # Paused, so that nothing is loaded again while it is looked at.
        page.go(self.url + PAUSED)
        self.expect(self.path() == "/dashboard/login", f"without a session the overview led to {self.path()}")
        self.look("the log-in form", width)
        log_in(page, "no key of ours")
        self.expect(page.text("#fault") == "This is not the service key.", "a wrong key was not refused")
        # The browser notes that it was refused, and that is all it may note.
        noted = [c for c in page.complaints() if c.get("entry", {}).get("source") != "network"]
        self.expect(noted == [], f"a wrong key: the browser complains: {noted}")
        log_in(page, key)
        self.expect(page.text("h1") == "Overview", f"the right key led to {page.text('h1')}")
        self.look("the overview", width)
        self.tables()
        self.expect(page.ask("document.querySelector('meta[http-equiv=refresh]') === null"), "paused, it still lives")
        self.expect(page.text("#resume") == "Resume", "a paused page cannot be resumed")
        if awaits_refresh:
            page.click("#resume")
            page.await_refresh()
            self.expect(page.text("h1") == "Overview", "the live page did not load itself again")
            page.go(self.url + PAUSED)
        self.search(user, "Pushes to", "a user's pushes", width)
        self.search(token, "Pushes to", "a device's pushes", width)
        self.search(message, "Recipients of", "a message's recipients", width)
        page.click("td.why a")
        self.expect(self.path() == "/dashboard/explain", f"the explanation is at {self.path()}")
        self.expect(message in page.text("h1"), f"the explanation is of {page.text('h1')}")
        self.expect(len(page.text(".summary")) > 10 and page.ask("document.querySelectorAll('.story li').length > 1"),
                    "the explanation says nothing")  # fmt: skip
        self.look("an explanation", width)
        page.click(".places a[href$=engagement]")
        self.expect(page.text("h1") == "Engagement", f"the link to engagement led to {page.text('h1')}")
        self.expect(page.ask("document.querySelectorAll('svg.classes rect').length") == 4, "no bar of the classes")
        self.expect(page.ask("document.querySelectorAll('tbody tr').length") > 0, "no analyses of engagement")
        self.look("engagement", width)
        page.click("form[action$=logout] button")
        self.expect(self.path() == "/dashboard/login", f"logging out led to {self.path()}")
        page.go(self.url + "/dashboard")
        self.expect(self.path() == "/dashboard/login", "the session outlived logging out")
        return self.faults

    def search(self, term, title, where, width):
        self.page.type("#q", term)
        self.page.click(".search button")
        self.expect(self.page.text("h1").startswith(title), f"{where}: the search led to {self.page.text('h1')}")
        self.expect(self.page.ask("document.querySelectorAll('tbody tr').length") > 0, f"{where}: no rows")
        self.look(where, width)

    def tables(self):
        """Whether a screen reader meets tables, however they are laid out."""
        nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
        roles = {node.get("role", {}).get("value") for node in nodes}
        self.expect({"table", "columnheader", "cell", "row"} <= roles, f"no tables are read out: {sorted(map(str, roles))}")

    def path(self):
        return self.page.ask("location.pathname")


def log_in(page, key):
    page.type("#key", key)
    page.click(".login button")


def check(url, key, user, message, token):
    faults = []
    with Browser() as browser:
        for number, (width, scheme) in enumerate(SCREENS):
            visit = Check(Page(browser, width, scheme), url, f"{width} px, {scheme}")
            faults += visit.visit(key, user, message, token, width, awaits_refresh=number == 0)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{len(SCREENS)} visits, nothing wrong")
    return 1 if faults else 0


def picture(url, key, folder, name, user=None, message=None):
    with Browser() as browser:
        for width, scheme in SCREENS:
            page = Page(browser, width, scheme)
            page.go(url + PAUSED)
            if name == "empty":
                page.picture(f"{folder}/login-{width}-{scheme}.png")
            log_in(page, key)
            page.picture(f"{folder}/{name}-{width}-{scheme}.png")
            if user:
                page.type("#q", user)
                page.click(".search button")
                page.picture(f"{folder}/user-{width}-{scheme}.png")
            if message:
                page.type("#q", message)
                page.click(".search button")
                # A push that was sent has the most to tell.
                page.click("tr:has(.mark.sent) td.why a")
                page.picture(f"{folder}/explanation-{width}-{scheme}.png")
    return 0


if __name__ == "__main__":
    commands = {"check": check, "picture": picture}
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
