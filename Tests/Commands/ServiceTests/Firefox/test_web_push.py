"""What the harness's push service accepts and refuses: python3 -m unittest Tests/Browser/test_web_push.py"""

import base64
import email.message
import json
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature  # noqa: E402

from web_push import Refused, judge  # noqa: E402

ORIGIN = "https://push.example"
KEY = ec.generate_private_key(ec.SECP256R1())
POINT = KEY.public_key().public_bytes(
    serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
)  # fmt: skip


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def authorization(head=None, key=KEY, used=POINT, **claims):
    head = {"typ": "JWT", "alg": "ES256", **(head or {})}
    claims = {"aud": ORIGIN, "exp": int(time.time()) + 3600, "sub": "mailto:ops@example.com", **claims}
    signed = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"vapid t={signed}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}, k={encode(used)}"


def status(body=bytes(103), repeated=(), **fields):
    """The status of a request that is right but for these fields; None takes a field away."""
    headers = email.message.Message()
    right = {"TTL": "60", "Content-Encoding": "aes128gcm", "Authorization": authorization()}
    for name, value in {**right, **{n.replace("_", "-"): v for n, v in fields.items()}}.items():
        if value is not None:
            headers[name] = value
    for name, value in repeated:
        headers[name] = value
    try:
        judge(headers, body, ORIGIN, encode(POINT))
        return 201
    except Refused as refusal:
        return refusal.status


class JudgeTests(unittest.TestCase):
    def check(self, rows):
        for expected, arguments in rows:
            with self.subTest(str(arguments)[:80]):
                self.assertEqual(status(**arguments), expected)

    def test_fields(self):
        self.check([
            (201, {}),
            (400, {"TTL": None}), (400, {"TTL": "0"}), (201, {"TTL": "1"}), (400, {"TTL": "-1"}), (400, {"TTL": "1.5"}),
            (201, {"TTL": "2419200"}), (400, {"TTL": "2419201"}), (400, {"TTL": "9" * 30}),
            (201, {"Urgency": "high"}), (400, {"Urgency": "urgent"}),
            (400, {"Urgency": "low", "repeated": [("Urgency", "high")]}),
            (201, {"Topic": "a" * 32}), (400, {"Topic": "a" * 33}), (400, {"Topic": ""}), (400, {"Topic": "a+b"}),
            (400, {"Content_Encoding": None}), (400, {"Content_Encoding": "aesgcm"}), (400, {"Crypto_Key": "dh=x"}),
        ])  # fmt: skip

    def test_sizes(self):
        self.check([
            (201, {"body": bytes(4096)}), (413, {"body": bytes(4097)}), (400, {"body": bytes(102)}),
            (201, {"body": b"", "Content_Encoding": None}),
        ])  # fmt: skip

    def test_tokens(self):
        now, other = int(time.time()), ec.generate_private_key(ec.SECP256R1())
        claims = [
            (401, {"aud": ORIGIN + "/"}), (401, {"exp": now - 1}), (401, {"exp": now + 86460}), (401, {"exp": "soon"}),
            (201, {"exp": now + 86400}), (201, {"sub": "https://example.com"}), (401, {"sub": "ops@example.com"}),
            (401, {"head": {"alg": "none"}}), (401, {"key": other}), (401, {"used": bytes(65)}),
        ]  # fmt: skip
        self.check([(expected, {"Authorization": authorization(**given)}) for expected, given in claims])
        right = authorization()
        cut = [right[:count] for count in range(0, len(right), 7)]
        self.check([(401, {"Authorization": text}) for text in (None, "vapid", "Bearer x", *cut)])

    def test_a_hostile_token_is_refused(self):
        for part in ("", "e30", "W10", "bnVsbA", "MQ", "_w"):
            self.assertEqual(status(Authorization=f"vapid t={part}.{part}.{part}, k={encode(POINT)}"), 401)
        self.assertEqual(status(Authorization=f"vapid t=a, k={encode(POINT)}"), 401)


if __name__ == "__main__":
    unittest.main()
