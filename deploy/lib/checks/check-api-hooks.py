"""Every request as if from an address of its own, by the header of a trusted proxy, and most requests of a client as another
user's: addresses that fail to prove who they are, and users who ask often, are told to come again later, and all requests of one
address and user would soon be answered with nothing else. Not by `random`, which the tester seeds."""

import os
import pathlib
import secrets
import sys

import schemathesis

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client_tokens import numbered_user, token

# Those of client_tokens.numbered_user who take part in the conversation of the examples.
USERS = 200
CLIENT = "Bearer " + os.environ["CLIENT_TOKEN"]
KEY = os.environ["JWT_SECRET"].encode()


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers = case.headers or {}
    case.headers["X-Forwarded-For"] = "198.18.%d.%d" % (secrets.randbelow(256), secrets.randbelow(256))
    # The user of the examples stays in some.
    if case.headers.get("Authorization") == CLIENT and secrets.randbelow(4):
        case.headers["Authorization"] = "Bearer " + token(numbered_user(secrets.randbelow(USERS)), KEY)
