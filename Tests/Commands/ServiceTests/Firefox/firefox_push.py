"""Web Push in a real browser, without a network: Debian's Firefox, a push service of its own, and the service.

    firefox_push.py --service URL --token TOKEN --out FOLDER
                    --insert CMD --push CMD --read CMD --fetch CMD --rotate CMD

URL is the service's, TOKEN a client token of the user who subscribes. The commands make the service do something for
this user; the shell runs them with arguments appended:

    --insert CMD TEXT TAG    inserts a message with this text; TAG is a new UUID that names it
    --push CMD TEXT TAG      sends a push with this text; pushes of one TAG replace one another
    --read CMD TAG           the user reads the message TAG on another device
    --fetch CMD              sends an empty push, after which the worker fetches the latest notification
    --rotate CMD             gives the service another VAPID key; returns when it answers again, at the same URL

Notifications must open pages under http://127.0.0.1:SITE_PORT (--site-port), where the harness serves a web app. The
service must be able to send to http://127.0.0.1:PUSH_PORT (--push-port), or https with --certificate and --key (PEM
files of 127.0.0.1). Without these options the ports are free ones.

Prints each step with the milliseconds from its cause to its effect, and leaves pictures in FOLDER. Exits 1 when a step
fails, and then takes no later one, because each builds on those before it.
"""

import argparse
import os
import signal
import sys

sys.dont_write_bytecode = True
import outages  # noqa: E402
import screen  # noqa: E402
import steps  # noqa: E402
from app_site import AppHandler, Site  # noqa: E402
from firefox import Firefox  # noqa: E402
from push_service import PushHandler, PushService  # noqa: E402
from serving import serve  # noqa: E402
from stage import Stage, reports  # noqa: E402

# In order: each builds on those before it.
STEPS = (
    steps.nothing_on_load, steps.subscribe, steps.show, steps.click, steps.dismiss, steps.read_elsewhere, steps.replace,
    steps.fetch, outages.browser_offline, outages.replaced_offline, outages.connection_lost, outages.slow,
    outages.service_down, outages.report_later, outages.rotate, outages.forget, outages.gone, steps.ledger,
)  # fmt: skip
COMMANDS = ("insert", "push", "read", "fetch", "rotate")


def main():
    options = read_options()
    # Python's own way out, which ends the browser too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.makedirs(options.out, exist_ok=True)
    push, site = PushService(), Site(options.service, options.token)
    socket_port = serve(PushHandler, push)
    port = serve(PushHandler, push, options.push_port, options.certificate, options.key)
    push.origin = f"{'https' if options.certificate else 'http'}://127.0.0.1:{port}"
    origin = f"http://127.0.0.1:{serve(AppHandler, site, options.site_port)}"
    preferences = {"dom.push.serverURL": f"ws://127.0.0.1:{socket_port}/", **screen.PREFERENCES}
    with Firefox(preferences) as browser:
        print(f"Firefox {browser.version}, pages at {origin}, push service at {push.origin}", flush=True)
        commands = {name: getattr(options, name) for name in COMMANDS}
        return run(Stage(browser, screen.Screen(browser), push, site, origin, commands, options.out))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("service", "token", *COMMANDS, "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--site-port", type=int, default=0)
    parser.add_argument("--push-port", type=int, default=0)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    return parser.parse_args()


def run(stage):
    """Takes the steps up to the first that fails. Returns the exit status."""
    for number, step in enumerate(STEPS, 1):
        try:
            milliseconds = step(stage)
        except Exception as error:
            print(f"{number:3}     failed {step.__doc__}\n    {type(error).__name__}: {error}")
            explain(stage)
            return 1
        print(f"{number:3}  {milliseconds:6.0f} ms {step.__doc__}", flush=True)
    print(f"{len(STEPS)} steps, nothing wrong")
    return 0


def explain(stage):
    """What happened lately, to find out why a step has failed. Neither endpoints nor keys."""
    for exchange in stage.site.exchanges[-12:]:
        print(f"    service: {exchange['method']} {exchange['path']} {exchange['status']} {reports(exchange) or ''}")
    for request in stage.push.requests[-6:]:
        print(f"    push service: {request['status']} {request['problem'] or request['version']}")
    console = "Services.console.getMessageArray().map(String).filter(m => m.includes('127.0.0.1')).slice(-12)"
    try:
        for message in stage.browser.chrome(console):
            print(f"    browser: {message}")
        print(f"    screen: {stage.screen.visible()}")
        if stage.page:
            stage.picture("failed")
    except Exception as error:
        print(f"    the browser tells nothing more: {error}")


if __name__ == "__main__":
    sys.exit(main())
