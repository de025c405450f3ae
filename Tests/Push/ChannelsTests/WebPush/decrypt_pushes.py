"""Decrypts pushes with http_ece: one a line, the browser's scalar, its secret and the body, each base64url.

Answers each with a line: the content as base64url, or the error.
"""

import base64
import sys

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opened(line):
    scalar, secret, body = (decoded(text) for text in line.split())
    key = ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1())
    content = http_ece.decrypt(body, private_key=key, auth_secret=secret, version="aes128gcm")
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


for line in sys.stdin:
    try:
        print(opened(line))
    except Exception as error:  # The test shows it beside the push.
        print(f"! {type(error).__name__}: {error}")
