"""Parts of a Supabase project, for its guide.

    supabase.py keys FOLDER     makes Auth's signing key, and FOLDER/auth/v1/.well-known/jwks.json for a file server
    supabase.py token FOLDER    prints an access token of Bob
    supabase.py net DATABASE    posts what pg_net's stand-in has queued, until it is stopped
"""

import base64
import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

BOB = "00000000-0000-4000-8000-00000000000b"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, **options):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, **options).stdout


def make_keys(folder):
    page = folder / "auth/v1/.well-known/jwks.json"
    page.parent.mkdir(parents=True)
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", folder / "key.pem")
    # The point is at the end of the public key.
    point = openssl("ec", "-in", folder / "key.pem", "-pubout", "-outform", "DER")[-64:]
    key = {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "checks"}
    key |= {"x": encoded(point[:32]), "y": encoded(point[32:])}
    page.write_text(json.dumps({"keys": [key]}))


def token(folder):
    claims = {"sub": BOB, "aud": "authenticated", "role": "authenticated", "exp": int(time.time()) + 3600}
    parts = ({"alg": "ES256", "typ": "JWT", "kid": "checks"}, claims)
    text = ".".join(encoded(json.dumps(part).encode()) for part in parts)
    signature = openssl("dgst", "-sha256", "-sign", folder / "key.pem", input=text.encode())
    # DER: a sequence of two integers, of which a token has the 32 bytes each.
    first = signature[4:4 + signature[3]]
    second = signature[6 + len(first):]
    return f"{text}.{encoded(b''.join(part[-32:].rjust(32, bytes(1)) for part in (first, second)))}"


def post(row):
    request = urllib.request.Request(row["url"], bytes.fromhex(row["body"][2:]), row["headers"], method=row["method"])
    try:
        urllib.request.urlopen(request, timeout=row["timeout_milliseconds"] / 1000).close()
    except (urllib.error.URLError, OSError) as error:
        print(f"{row['url']}: {error}", flush=True)


def post_queue(database):
    take = "with q as (delete from net.http_request_queue returning *) select row_to_json(q) from q"
    while True:
        rows = subprocess.run(["psql", "-X", "-A", "-t", "-c", take, database], check=True, capture_output=True, text=True)
        for line in rows.stdout.splitlines():
            post(json.loads(line))
        time.sleep(0.1)


task, place = sys.argv[1:]
if task == "keys":
    make_keys(pathlib.Path(place))
elif task == "token":
    print(token(pathlib.Path(place)))
else:
    post_queue(place)
