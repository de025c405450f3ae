"""Every request as if from an address of its own, by the header of a trusted proxy: requests that fail to prove who sent
them would otherwise use up the tries of the one address that all of them come from. Not by `random`, which the tester seeds."""

import secrets

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers = case.headers or {}
    case.headers["X-Forwarded-For"] = "198.18.%d.%d" % (secrets.randbelow(256), secrets.randbelow(256))
