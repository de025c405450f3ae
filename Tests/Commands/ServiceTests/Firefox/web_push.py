"""What a push service demands of a request: RFC 8030, 8188 and 8292, as strictly as the strictest of the vendors."""

import base64
import json
import re
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

BODY_BYTES_MAX = 4096
TTL_SECONDS_MAX = 2419200
TOKEN_SECONDS_MAX = 24 * 3600
URGENCIES = ("very-low", "low", "normal", "high")


class Refused(Exception):
    """A request that a push service would not take, with the status that it answers."""

    def __init__(self, status, problem):
        super().__init__(problem)
        self.status = status


class Request:
    """An accepted request."""

    def __init__(self, ttl, topic):
        self.ttl, self.topic = ttl, topic


def judge(headers, body, origin, key):
    """Returns the `Request`, or throws `Refused`.

    `origin` is the push service's, `key` the application server's that the subscription was made with, in base64url.
    """
    ttl = _one(headers, "TTL")
    # Some services refuse zero.
    _demand(ttl is not None and re.fullmatch(r"[0-9]{1,7}", ttl) and 1 <= int(ttl) <= TTL_SECONDS_MAX, f"TTL: {ttl}")
    urgency = _one(headers, "Urgency")
    _demand(urgency is None or urgency in URGENCIES, f"Urgency: {urgency}")
    topic = _one(headers, "Topic")
    _demand(topic is None or re.fullmatch(r"[A-Za-z0-9_-]{1,32}", topic), f"Topic: {topic}")
    _judge_body(headers, body)
    _judge_token(_one(headers, "Authorization") or "", origin, key)
    return Request(int(ttl), topic)


def _judge_body(headers, body):
    if len(body) > BODY_BYTES_MAX:
        raise Refused(413, f"a body of {len(body)} bytes")
    if body:
        _demand(_one(headers, "Content-Encoding") == "aes128gcm", "Content-Encoding is not aes128gcm")
        # Salt, record size, key length, key, one encrypted byte with its delimiter and tag.
        _demand(len(body) >= 103, f"an encrypted body of {len(body)} bytes")
    _demand(headers.get("Crypto-Key") is None and headers.get("Encryption") is None, "fields of an older encoding")


def _judge_token(authorization, origin, key):
    """RFC 8292 section 3 and 4.2."""
    parts = re.fullmatch(r"vapid t=([\w.-]+), ?k=([\w-]{87})", authorization)
    _demand(parts, "Authorization is not vapid t=..., k=...", 401)
    token, used = parts.groups()
    _demand(used == key, "the key is not the subscription's", 401)
    try:
        head, claims, signature = (_decode(part) for part in token.split("."))
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _decode(used))
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        signed = token.rpartition(".")[0].encode()
        point.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
        head, claims = json.loads(head), json.loads(claims)
    except (ValueError, InvalidSignature) as error:
        raise Refused(401, f"the token is not signed by its key: {error!r}") from error
    _demand(isinstance(head, dict) and isinstance(claims, dict), "the token's parts are no objects", 401)
    _demand(len(signature) == 64 and head.get("alg") == "ES256", "the token is not of ES256", 401)
    _demand(claims.get("aud") == origin, f"aud is {claims.get('aud')}, not {origin}", 401)
    expires = claims.get("exp")
    _demand(isinstance(expires, int) and 0 < expires - time.time() <= TOKEN_SECONDS_MAX, f"exp: {expires}", 401)
    _demand(re.match(r"mailto:\S+@|https://", str(claims.get("sub"))), f"sub: {claims.get('sub')}", 401)


def _one(headers, name):
    values = headers.get_all(name) or []
    _demand(len(values) < 2, f"{name} is repeated")
    return values[0] if values else None


def _decode(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _demand(condition, problem, status=400):
    if not condition:
        raise Refused(status, problem)
