# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The demo's database and what it asks of it. Sourced; needs say.sh, postgres.sh and processes.sh.

database=tacet

# What connects as a role; the host application's own role, app, has no right on schema tacet.
conninfo() { printf 'host=%s dbname=%s user=%s' "$postgres_socket" "${2:-$database}" "$1"; }

# sql ROLE [psql options]: runs what comes on standard input; unaligned output, stops at the first error.
sql() {
  local role=$1
  shift
  psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$(conninfo "$role")" "$@"
}

# is_none_within SECONDS QUERY: waits until it counts 0; fails when it does not within that time.
is_none_within() {
  local tries
  for ((tries = 0; tries < $1 * 20; tries++)); do
    if [[ $(sql tacet <<<"$2") == 0 ]]; then return; fi
    sleep 0.05
  done
  return 1
}

# A fresh database, as a host application would have one: owned by nobody special, used by two roles. app is the
# application's server, which row-level security does not concern.
create_database() {
  psql -X -q -v ON_ERROR_STOP=1 -d "$(conninfo postgres postgres)" <<SQL
    set client_min_messages = warning;
    drop database if exists $database with (force);
    do \$\$ begin
      if to_regrole('tacet') is null then create role tacet login; end if;
      if to_regrole('app') is null then create role app login bypassrls; end if;
    end \$\$;
    create database $database owner tacet;
SQL
}

# The demo's own schema, on top of the migrations.
create_demo_schema() {
  sql tacet -v ON_ERROR_STOP=1 -f "$checkout/deploy/lib/demo/demo.sql"
  sql tacet <<'SQL'
    grant usage on schema demo to app;
    grant select on all tables in schema demo to app;
    grant select, insert, update, delete on public.profiles, public.conversations, public.conversation_participants,
      public.messages, public.push_tokens to app;
SQL
}

insert_message() { sql app -v situation="$1" <<<"select demo.insert_message(:'situation')"; }

await_outcome() { sql tacet -v id="$1" <<<"call demo.await_outcome(:'id')"; }

# Tells the simulator of every device.
register_devices() {
  local token
  while read -r token; do
    curl -fsS -X PUT "$simulator_control/tokens/$token" -H 'content-type: application/json' \
      -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"}"
  done < <(sql tacet <<<'select device_token from public.push_tokens')
}

# Takes the simulator's records into demo.pushes.
load_pushes() {
  curl -fsS "$simulator_control/pushes?limit=10000" >"$state/pushes.json"
  sql tacet -v file="$state/pushes.json" <<'SQL'
    \set pushes `cat :file`
    insert into demo.pushes (number, arrived_us, answered_us, token, collapse_id, status, payload)
    select number, arrived_us, answered_us, token, collapse_id, status, payload
    from jsonb_to_recordset(:'pushes'::jsonb -> 'pushes')
      as p (number int, arrived_us bigint, answered_us bigint, token text, collapse_id text, status int, payload text)
    on conflict do nothing;
SQL
}
