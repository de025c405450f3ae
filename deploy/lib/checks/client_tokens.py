"""Tokens of clients, as a log-in that signs with HS256 issues them.

    client_tokens.py USER    prints one for two hours, signed with JWT_SECRET of the environment
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(user, secret, seconds=3600):
    """What proves for so long that a client is the user's. The secret is in bytes."""
    now = int(time.time())
    claims = {"sub": user, "aud": "authenticated", "role": "authenticated", "iat": now, "exp": now + seconds}
    head = encoded(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    text = f"{head}.{encoded(json.dumps(claims).encode())}"
    return f"{text}.{encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def numbered_user(number):
    """The id of one of many users that a test's host has."""
    return f"00000000-0000-4000-8000-{number:012x}"


if __name__ == "__main__":
    print(token(sys.argv[1], os.environ["JWT_SECRET"].encode(), 7200))
