# A private database. Sourced; needs say.sh and postgres.sh.

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
