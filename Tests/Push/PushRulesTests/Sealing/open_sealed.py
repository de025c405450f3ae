"""Opens sealed pushes as deploy/API.md describes: one a line, the device's private key, its channel, its address and the push's
payload, the key and the payload in base64url.

Answers each with a line: the document without its padding in base64url, or the error.
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opened(line):
    scalar, channel, address, payload = line.split()
    key = X25519PrivateKey.from_private_bytes(decoded(scalar))
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    push = json.loads(decoded(payload))
    envelope = decoded(push["sealed"])
    if envelope[0] != 1:
        raise ValueError("unknown version")
    if envelope[1:5] != hashlib.sha256(public).digest()[:4]:
        raise ValueError("another key")
    ephemeral = envelope[5:37]
    secret = key.exchange(X25519PublicKey.from_public_bytes(ephemeral))
    derivation = HKDF(hashes.SHA256(), 44, salt=ephemeral + public, info=b"tacet sealed content v1")
    material = derivation.derive(secret)
    event = push["message_id"] if push["type"] == "message" else push["subject_id"]
    binding = hashlib.sha256("\0".join([channel, address, push["type"], event]).encode()).digest()
    content = AESGCM(material[:32]).decrypt(material[32:], envelope[37:], envelope[:37] + binding)
    if len(content) not in (256, 512, 1024, 2048):
        raise ValueError("not padded")
    json.loads(content)
    return base64.urlsafe_b64encode(content.rstrip(b" ")).decode().rstrip("=")


for line in sys.stdin:
    try:
        print(opened(line))
    except Exception as error:  # The test shows it beside the push.
        print(f"! {type(error).__name__}: {error}")
