"""The push service of a browser: Mozilla's WebSocket protocol on one side, Web Push (RFC 8030) on the other.

What `web_push.py` accepts is kept until the browser acknowledges it, so it survives a connection that breaks.
"""

import base64
import json
import secrets
import time

from serving import Handler, Record
from web_push import Refused, judge
from websocket import Closed, WebSocket


class Subscription:
    """A channel of a browser: where to send to, and what waits there."""

    def __init__(self, agent, channel, key):
        self.agent, self.channel, self.key = agent, channel, key
        self.token = secrets.token_urlsafe(24)
        self.is_gone = False
        self.pending = {}


class PushService(Record):
    """All subscriptions, and a record of what happened to them. Every method may be called from any thread."""

    def __init__(self):
        super().__init__()
        self.browsers = {}
        self.subscriptions = {}
        self.requests = []
        self.acknowledged = {}
        self.replaced = set()
        self.unregistered = []
        self.is_offline = False
        self.origin = None

    # What the scenario asks for.

    def live(self):
        """The subscriptions that are in use, the newest last."""
        with self.changed:
            return [s for s in self.subscriptions.values() if not s.is_gone]

    def accepted(self):
        """The requests that were answered 201, in order."""
        with self.changed:
            return [r for r in self.requests if r["status"] == 201]

    def answered(self, subscription, status):
        """The requests to a subscription that were answered so, in order."""
        with self.changed:
            return [r for r in self.requests if (r["token"], r["status"]) == (subscription.token, status)]

    def settled(self):
        """The versions that need no delivery any more: acknowledged, or replaced by one of their topic."""
        with self.changed:
            return self.acknowledged.keys() | self.replaced

    def go_offline(self):
        """Breaks every connection to browsers and refuses new ones; what is sent waits."""
        with self.changed:
            self.is_offline = True
            browsers = list(self.browsers.values())
        for browser in browsers:
            browser.close()

    def go_online(self):
        with self.changed:
            self.is_offline = False

    def forget(self):
        """Loses every subscription, as a service does that has lost its store: browsers learn of it as they connect."""
        with self.changed:
            for subscription in self.subscriptions.values():
                subscription.is_gone = True
            browsers = list(self.browsers.values())
        for browser in browsers:
            browser.close()

    # The side of the browsers.

    def attend(self, browser):
        """Talks to a browser until its connection ends."""
        agent = None
        try:
            while True:
                message = json.loads(browser.receive())
                kind = message.get("messageType", "ping")
                if kind == "hello":
                    agent = self._greet(browser, message.get("uaid"))
                else:
                    self._answer(browser, agent, kind, message)
        except (Closed, TimeoutError):
            pass
        finally:
            with self.changed:
                if self.browsers.get(agent) is browser:
                    del self.browsers[agent]
                self.changed.notify_all()
            browser.close()

    def _greet(self, browser, uaid):
        with self.changed:
            is_known = any(s.agent == uaid and not s.is_gone for s in self.subscriptions.values())
            agent = uaid if is_known else secrets.token_hex(16)
            self.browsers[agent] = browser
            waiting = [m for s in self.subscriptions.values() if s.agent == agent for m in s.pending.values()]
            self.changed.notify_all()
        _send(browser, messageType="hello", uaid=agent, status=200, use_webpush=True, broadcasts={})
        for message in waiting:
            if message["expires"] > time.time():
                _send(browser, **message["notification"])
        return agent

    def _answer(self, browser, agent, kind, message):
        if kind == "ping":
            browser.send("{}")
        elif kind == "register":
            subscription = self._subscription(agent, message["channelID"], message.get("key", "").rstrip("="))
            endpoint = f"{self.origin}/wpush/{subscription.token}"
            _send(browser, messageType=kind, channelID=subscription.channel, status=200, pushEndpoint=endpoint)
        elif kind == "unregister":
            with self.changed:
                for subscription in self._of_channel(agent, message["channelID"]):
                    subscription.is_gone = True
                self.unregistered.append(message.get("code"))
                self.changed.notify_all()
            _send(browser, messageType=kind, channelID=message["channelID"], status=200)
        elif kind in ("ack", "nack"):
            with self.changed:
                for update in message.get("updates", [message]):
                    self._acknowledge(agent, update["version"], update["code"])
                self.changed.notify_all()

    def _subscription(self, agent, channel, key):
        """The subscription of a channel. Firefox sometimes registers one twice, right after it has connected."""
        with self.changed:
            known = [s for s in self._of_channel(agent, channel) if not s.is_gone]
            subscription = known[0] if known else Subscription(agent, channel, key)
            self.subscriptions[subscription.token] = subscription
            self.changed.notify_all()
            return subscription

    def _of_channel(self, agent, channel):
        return [s for s in self.subscriptions.values() if s.agent == agent and s.channel == channel]

    def _acknowledge(self, agent, version, code):
        self.acknowledged[version] = code
        for subscription in self.subscriptions.values():
            if subscription.agent == agent:
                subscription.pending.pop(version, None)

    # The side of the application servers.

    def take(self, token, headers, body):
        """Judges a request and forwards it. Returns the status, the fields and the body of the answer."""
        try:
            with self.changed:
                subscription = self.subscriptions.get(token)
                if subscription is None:
                    raise Refused(404, "no such subscription")
                if subscription.is_gone:
                    raise Refused(410, "the subscription is gone")
                request = judge(headers, body, self.origin, subscription.key)
                version = secrets.token_urlsafe(16)
                browser = self._keep(subscription, version, request, body)
        except Refused as refusal:
            self._record(token, refusal.status, str(refusal), None)
            return refusal.status, {}, {"code": refusal.status, "message": str(refusal)}
        # Recorded first, because the browser may be faster than this thread.
        self._record(token, 201, None, version)
        if browser:
            try:
                _send(browser, **subscription.pending[version]["notification"])
            except (Closed, KeyError):
                pass
        return 201, {"Location": f"{self.origin}/m/{version}", "TTL": str(request.ttl)}, {}

    def _keep(self, subscription, version, request, body):
        """Puts a message among those that wait, in place of one of the same topic. Returns the browser to tell now."""
        notification = {"messageType": "notification", "channelID": subscription.channel, "version": version}
        if body:
            notification["data"] = base64.urlsafe_b64encode(body).decode().rstrip("=")
            notification["headers"] = {"encoding": "aes128gcm"}
        for other, message in list(subscription.pending.items()):
            if request.topic and message["topic"] == request.topic:
                del subscription.pending[other]
                self.replaced.add(other)
        subscription.pending[version] = {
            "notification": notification, "topic": request.topic, "expires": time.time() + request.ttl,
        }  # fmt: skip
        return self.browsers.get(subscription.agent)

    def _record(self, token, status, problem, version):
        with self.changed:
            self.requests.append({"token": token, "status": status, "problem": problem, "version": version})
            self.changed.notify_all()


def _send(browser, **message):
    browser.send(json.dumps(message))


class PushHandler(Handler):
    """Both sides on one port."""

    def do_GET(self):
        service = self.server.record
        if service.is_offline:
            return self.finish_answer(503)
        if self.headers.get("Upgrade", "").lower() != "websocket":
            return self.finish_answer(404)
        service.attend(WebSocket.accept(self, "push-notification"))

    def do_POST(self):
        body = self.read_body()
        if body is None:
            return self.finish_answer(413)
        status, fields, answer = self.server.record.take(self.path.removeprefix("/wpush/"), self.headers, body)
        self.finish_answer(status, fields, json.dumps(answer).encode() if answer else b"")
