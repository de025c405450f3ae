# Tokens of clients. Sourced.

# bearer SECRET: a header field, for curl's -H @<(bearer "$secret"): what stands in an argument, everybody on the machine can read.
bearer() { printf 'authorization: Bearer %s\n' "$1"; }

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# hmac KEY: the HMAC-SHA-256 of standard input, in binary. The key goes by the environment, because every user of the machine can
# read the arguments of a program.
hmac() {
  HMAC_KEY=$1 python3 -c 'import hashlib, hmac, os, sys
sys.stdout.buffer.write(hmac.digest(os.environb[b"HMAC_KEY"], sys.stdin.buffer.read(), hashlib.sha256))'
}

# client_token SECRET USER: what Supabase Auth would issue to the user, for two hours.
client_token() {
  local signed
  signed=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url).$(printf '{"sub":"%s","aud":"authenticated","role":"authenticated","exp":%d}' \
    "$2" "$(($(date +%s) + 7200))" | base64url)
  printf '%s.%s' "$signed" "$(printf '%s' "$signed" | hmac "$1" | base64url)"
}
