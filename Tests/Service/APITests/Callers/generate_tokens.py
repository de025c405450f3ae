"""Tokens, valid and broken, with the verdict of another implementation.

    generate_tokens.py SEED COUNT

The first line of the output has the keys: {"secret", "jwks"}. Each other line is {"token", "made", "isValid"}: `made` says how
the token came about, `isValid` whether Python's `cryptography` and the reading of RFC 7515 below find that one of the keys
signed it. Claims are not judged.
"""

import base64
import hashlib
import hmac
import json
import random
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

draw = random.Random(int(sys.argv[1]))
secret = b"a secret of at least thirty-two bytes"
elliptic = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
rsa_key = rsa.generate_private_key(65537, 2048)


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, length=None):
    return b64(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def published():
    keys = []
    for index, key in enumerate(elliptic):
        point = key.public_key().public_numbers()
        keys.append({"kty": "EC", "crv": "P-256", "kid": f"e{index}", "x": number(point.x, 32), "y": number(point.y, 32)})
    numbers = rsa_key.public_key().public_numbers()
    keys.append({"kty": "RSA", "kid": "r0", "n": number(numbers.n), "e": number(numbers.e)})
    return {"keys": keys}


# Making tokens.


def es256(signed, key=None):
    r, s = decode_dss_signature((key or elliptic[0]).sign(signed, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def rs256(signed):
    return rsa_key.sign(signed, padding.PKCS1v15(), hashes.SHA256())


def hs256(signed, key=secret):
    return hmac.new(key, signed, hashlib.sha256).digest()


HEADERS = {
    "HS256": {"alg": "HS256", "typ": "JWT"},
    "ES256": {"alg": "ES256", "typ": "JWT", "kid": "e0"},
    "RS256": {"alg": "RS256", "typ": "JWT", "kid": "r0"},
}
SIGNERS = {"HS256": hs256, "ES256": es256, "RS256": rs256}


def claims():
    return {"sub": "%032x" % draw.getrandbits(128), "exp": draw.randrange(2**32), "text": "ü" * draw.randrange(40)}


def compact(header, signer, payload=None):
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    payload = json.dumps(claims()).encode() if payload is None else payload
    signed = f"{b64(text.encode())}.{b64(payload)}"
    return f"{signed}.{b64(signer(signed.encode()))}"


def plain(algorithm):
    return compact(HEADERS[algorithm], SIGNERS[algorithm])


def with_header(algorithm):
    """Another header, signed all the same."""
    header = dict(HEADERS[algorithm])
    change = draw.randrange(8)
    if change == 0:
        header["alg"] = draw.choice(["none", "None", "hs256", "HS384", "ES384", "RS512", "PS256", "", "HS256 ", 1, None])
    elif change == 1:
        header["kid"] = draw.choice(["e0", "e1", "r0", "r1", "", 7, None])
    elif change == 2:
        header["crit"] = draw.choice([["exp"], [], None, "exp"])
    elif change == 3:
        header["alg"] = draw.choice(["HS256", "ES256", "RS256"])
    elif change == 4:
        header.pop(draw.choice(sorted(header)))
    elif change == 5:
        header["jwk"] = published()["keys"][0]
        header["b64"] = draw.choice([True, False])
    elif change == 6:
        return compact(draw.choice(["[]", "null", "", "{", '"HS256"', "{}", '{"alg":}']), SIGNERS[algorithm])
    else:
        header["kid"] = header.get("kid", "e0") + "\u0000"
    return compact(header, SIGNERS[algorithm])


def flipped(token):
    place = draw.randrange(len(token))
    return token[:place] + draw.choice(LETTERS + "=.+/ \n") + token[place + 1 :]


def cut(token):
    return token[: draw.randrange(len(token))] if draw.random() < 0.5 else token + draw.choice(["A", "AA", "=", "==", ".", ".A"])


def with_signature(change):
    def make(algorithm):
        return compact(HEADERS[algorithm], lambda signed: change(algorithm, SIGNERS[algorithm](signed), signed))

    return make


def another_length(_, signature, __):
    return draw.choice([signature[:-1], signature + b"\0", b"\0" + signature, signature[1:], b"", signature * 2])


def another_key(algorithm, _, signed):
    if algorithm == "ES256":
        return es256(signed, elliptic[1])
    if algorithm == "RS256":
        return rsa.generate_private_key(65537, 2048).sign(signed, padding.PKCS1v15(), hashes.SHA256()) if draw.random() < 0.05 else bytes(256)
    return hs256(signed, draw.choice([b"", secret[:-1], secret + b"\0", json.dumps(published()).encode()]))


def another_form(algorithm, signature, signed):
    if algorithm == "ES256":
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        pairs = [(r, ORDER - s), (0, s), (r, 0), (0, 0), (r, ORDER), (ORDER, s), (s, r), (r, s ^ 1), (2**256 - 1, s)]
        if draw.random() < 0.2:
            return encode_dss_signature(r, s)
        r, s = draw.choice(pairs)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    if algorithm == "RS256":
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.MAX_LENGTH)
        return draw.choice(
            [
                lambda: rsa_key.sign(signed, pss, hashes.SHA256()),
                lambda: rsa_key.sign(signed, padding.PKCS1v15(), hashes.SHA512()),
                lambda: rsa_key.sign(signed, padding.PKCS1v15(), hashes.SHA384()),
                lambda: bytes(256),
                lambda: b"\xff" * 256,
            ]
        )()
    return draw.choice([hmac.new(secret, signed, hashlib.sha512).digest()[:32], hmac.new(secret, signed, hashlib.sha1).digest()])


def spelled_otherwise(algorithm):
    """Base64 that is no base64url, or has bits that belong to no byte."""
    parts = plain(algorithm).split(".")
    place = draw.randrange(3)
    part = parts[place]
    choice = draw.randrange(4)
    if choice == 0:
        part += "=" * (-len(part) % 4 or 4)
    elif choice == 1:
        part = part.replace("-", "+").replace("_", "/")
    elif choice == 2 and len(part) % 4:
        part = part[:-1] + LETTERS[LETTERS.index(part[-1]) ^ 1]
    else:
        part = draw.choice([" ", "\n", "\t"]) + part
    parts[place] = part
    return ".".join(parts)


RECIPES = [
    (30, "as issued", plain),
    (15, "another header", with_header),
    (15, "one character changed", lambda algorithm: flipped(plain(algorithm))),
    (8, "cut or longer", lambda algorithm: cut(plain(algorithm))),
    (8, "signature of another length", with_signature(another_length)),
    (8, "signature of another key", with_signature(another_key)),
    (8, "signature of another form", with_signature(another_form)),
    (8, "spelled otherwise", spelled_otherwise),
]


# Judging them.


def decoded(part):
    if any(letter not in LETTERS for letter in part):
        return None
    try:
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError:
        return None
    return data if b64(data) == part else None


def is_valid(token):
    parts = token.split(".")
    if len(parts) != 3:
        return False
    header, payload, signature = (decoded(part) for part in parts)
    if header is None or payload is None or signature is None:
        return False
    try:
        header = json.loads(header.decode("utf-8"))
    except ValueError:
        return False
    if not isinstance(header, dict) or "crit" in header:
        return False
    kid = header.get("kid")
    if kid is not None and not isinstance(kid, str):
        return False
    signed = f"{parts[0]}.{parts[1]}".encode()
    return has_signed(header.get("alg"), kid, signed, signature)


def has_signed(algorithm, kid, signed, signature):
    try:
        if algorithm == "HS256":
            return hmac.compare_digest(signature, hs256(signed))
        if algorithm == "ES256" and kid in ("e0", "e1") and len(signature) == 64:
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            key = elliptic[int(kid[1])].public_key()
            key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
            return True
        if algorithm == "RS256" and kid == "r0":
            rsa_key.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
            return True
    except InvalidSignature:
        pass
    return False


print(json.dumps({"secret": secret.decode(), "jwks": json.dumps(published())}))
for _ in range(int(sys.argv[2])):
    _, made, recipe = draw.choices(RECIPES, [weight for weight, _, _ in RECIPES])[0]
    token = recipe(draw.choice(["HS256", "ES256", "RS256"]))
    print(json.dumps({"token": token, "made": made, "isValid": is_valid(token)}))
