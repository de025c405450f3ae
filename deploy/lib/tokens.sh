# shellcheck shell=bash
# Tokens of clients. Sourced.

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# client_token SECRET USER: what Supabase Auth would issue to the user, for two hours.
client_token() {
  local signed
  signed=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url).$(printf '{"sub":"%s","aud":"authenticated","role":"authenticated","exp":%d}' \
    "$2" "$(($(date +%s) + 7200))" | base64url)
  printf '%s.%s' "$signed" "$(printf '%s' "$signed" | openssl dgst -sha256 -hmac "$1" -binary | base64url)"
}
