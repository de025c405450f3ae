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
import urllib.request


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_keys(folder):
    from cryptography.hazmat.primitives.asymmetric import ec
    page = folder / "auth/v1/.well-known/jwks.json"
    page.parent.mkdir(parents=True)
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "key").write_text(str(key.private_numbers().private_value))
    point = key.public_key().public_numbers()
    public = {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "checks"}
    public |= {"x": encoded(point.x.to_bytes(32, "big")), "y": encoded(point.y.to_bytes(32, "big"))}
    page.write_text(json.dumps({"keys": [public]}))


def token(folder):
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    claims = {"sub": "00000000-0000-4000-8000-00000000000b", "aud": "authenticated", "role": "authenticated", "exp": int(time.time()) + 3600}
    text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "ES256", "typ": "JWT", "kid": "checks"}, claims))
    key = ec.derive_private_key(int((folder / "key").read_text()), ec.SECP256R1())
    numbers = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{text}.{encoded(b''.join(number.to_bytes(32, 'big') for number in numbers))}"


def post_queue(database):
    take = "with q as (delete from net.http_request_queue returning *) select row_to_json(q) from q"
    while True:
        rows = subprocess.run(["psql", "-X", "-A", "-t", "-c", take, database], check=True, capture_output=True, text=True)
        for row in map(json.loads, rows.stdout.splitlines()):
            request = urllib.request.Request(row["url"], bytes.fromhex(row["body"][2:]), row["headers"], method=row["method"])
            try:
                urllib.request.urlopen(request, timeout=row["timeout_milliseconds"] / 1000).close()
            except OSError as error:
                print(f"{row['url']}: {error}", flush=True)
        time.sleep(0.02)


task, place = sys.argv[1:]
if task == "net":
    post_queue(place)
elif task == "keys":
    make_keys(pathlib.Path(place))
else:
    print(token(pathlib.Path(place)))
