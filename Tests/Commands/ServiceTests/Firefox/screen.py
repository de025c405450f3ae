"""What Firefox shows as notifications, and clicks on them, without a desktop.

With `alerts.useSystemBackend` off, Firefox does not hand notifications to the desktop but draws each in a small window
(`alert.xhtml`), also when headless. `screen.js` reads these windows and sends them mouse events; nothing of the browser
is replaced. Such a window would close by itself after 20 s. Here it stays until it is closed, as on most desktops.
"""

import base64
import json
import pathlib

SCRIPT = (pathlib.Path(__file__).parent / "screen.js").read_text()

PREFERENCES = {
    "alerts.useSystemBackend": False,
    # A clicked notification goes at once.
    "ui.prefersReducedMotion": 1,
}


class Screen:
    """The place where notifications appear."""

    def __init__(self, browser):
        self.browser = browser
        browser.chrome(SCRIPT)

    def history(self):
        """The title and text of each notification that was shown so far, also of those that are gone."""
        return self.browser.chrome("notificationScreen.history()")

    def count(self):
        return len(self.history())

    def visible(self):
        """The title and text of each notification that is on the screen."""
        return self.browser.chrome("notificationScreen.visible()")

    def await_text(self, text, seconds=30):
        """Waits until a notification with this text has been shown, now or before."""
        return self._await(f"history.find(a => a.text.includes({json.dumps(text)}))", seconds, repr(text))

    def await_next(self, count, seconds=30):
        """Waits until more than `count` were shown, and returns the one after those."""
        return self._await(f"history[{count}]", seconds, "another notification")

    def await_gone(self, text, seconds=30):
        """Waits until no notification with this text is on the screen."""
        self._await(f"!visible.some(a => a.text.includes({json.dumps(text)}))", seconds, f"the end of {text!r}")

    def click(self, text):
        """Clicks the notification with this text."""
        self.browser.chrome(f"notificationScreen.click({json.dumps(text)}, 'alertTextLabel')")

    def dismiss(self, text):
        """Closes the notification with this text by its cross."""
        self.browser.chrome(f"notificationScreen.click({json.dumps(text)}, 'alert-close')")

    def picture(self, text, path):
        """The notification with this text as a PNG file."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.browser.chrome(f"notificationScreen.picture({json.dumps(text)})")))

    def _await(self, condition, seconds, what):
        found = self.browser.chrome(
            f"notificationScreen.await((history, visible) => {condition}, {round(seconds * 1000)})"
        )
        if not found:
            raise AssertionError(f"the screen waited {seconds} s for {what}; it shows {self.visible()}")
        return found
