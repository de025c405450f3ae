# Tokens of clients. Sourced.

# bearer SECRET: a header field, for curl's -H @<(bearer "$secret"): what stands in an argument, everybody on the machine can read.
bearer() { printf 'authorization: Bearer %s\n' "$1"; }

# client_token SECRET USER: what Supabase Auth would issue to the user, for two hours. The secret goes by the environment for the same reason.
client_token() { JWT_SECRET=$1 python3 "$checkout/deploy/lib/checks/client_tokens.py" "$2"; }
