# shellcheck disable=SC2016 # SQL and scripts of the stand-ins have dollars of their own
# What a guide's reader has, made in the guide's machine: prints the value of one variable. Called by guides.py with its name.
set -euo pipefail

here=/run/checks

# PostgreSQL as Debian's package makes it: port 5432, passwords over TCP, and root becomes postgres for the superuser.
has_server() {
  local version
  if [[ -n $(pg_lsclusters -h) ]]; then return 0; fi
  version=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1 | cut -d / -f 5)
  pg_createcluster "$version" main -- --no-sync >&2
  systemctl start "postgresql@$version-main"
}

superuser() { runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 "$@" >&2; }

# A database app with the application's tables, of the role app that owns them.
stand_in_OWNER_URL() {
  local url=postgresql://app:app-password@127.0.0.1/app
  if [[ -z $(pg_lsclusters -h) ]]; then
    has_server
    superuser -c "create role app login password 'app-password'" -c 'create database app owner app'
    psql -X -q -v ON_ERROR_STOP=1 -d "$url" -f "$here/app.sql" >&2
    pg_dump --schema-only "$url" >/root/schema-before.sql
  fi
  printf '%s\n' "$url"
}

# The form of Apple's .p8 files: PKCS #8 in PEM.
stand_in_P8_FILE() {
  if [[ ! -e /root/AuthKey_ABC123DEFG.p8 ]]; then
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out /root/AuthKey_ABC123DEFG.p8 2>/dev/null
  fi
  printf '/root/AuthKey_ABC123DEFG.p8\n'
}

# A running Tacet, as the guide for virtual machines leaves it before its first push.
stand_in_TACET_CONFIG() {
  OWNER_URL=$(stand_in_OWNER_URL)
  P8_FILE=$(stand_in_P8_FILE)
  export OWNER_URL P8_FILE
  awk '/^## Push a message/ { exit } /^```/ { isCode = $0 == "```sh"; next } isCode' deploy/guides/vm.md >"$here/vm.sh"
  bash -euo pipefail "$here/vm.sh" >&2
  printf '/etc/tacet/tacet.conf\n'
}

# The schema before Tacet, as a backup has it.
stand_in_SCHEMA_BEFORE() {
  stand_in_OWNER_URL >&2
  printf '/root/schema-before.sql\n'
}

# A Supabase project: its database, where postgres is no superuser, a pooler in transaction mode, and Auth's key set.
stand_in_PROJECT_DB() {
  local programs folder=/var/lib/postgresql/project admin
  programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
  admin='host=127.0.0.1 user=supabase_admin dbname=postgres'
  make_pg_net
  runuser -u postgres -- "$programs/initdb" -D "$folder" -U supabase_admin -A trust -E UTF8 --locale=C.UTF-8 --no-sync >&2
  in_background project-db --uid=postgres "$programs/postgres" -D "$folder" -c unix_socket_directories=/tmp
  until pg_isready -q -h 127.0.0.1; do sleep 0.1; done
  psql -X -q -v ON_ERROR_STOP=1 -d "$admin" -f "$here/supabase.sql" >&2
  in_background pg-net python3 "$here/supabase.py" net "$admin"
  printf 'postgresql://postgres:project-password@127.0.0.1:5432/postgres\n'
}

make_pg_net() {
  local folder
  folder=$(pg_config --sharedir 2>/dev/null || printf '%s\n' /usr/share/postgresql/* | sort -V | tail -n 1)/extension
  printf "comment = 'a stand-in'\ndefault_version = '0.14.0'\nrelocatable = false\n" >"$folder/pg_net.control"
  cp "$here/pg-net.sql" "$folder/pg_net--0.14.0.sql"
}

in_background() {
  local unit=$1
  shift
  systemd-run --quiet --unit="$unit" "$@" >&2
}

stand_in_POOLER() {
  cat >/etc/checks-pooler.ini <<'SETTINGS'
[databases]
postgres = host=127.0.0.1 port=5432
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6543
auth_type = trust
auth_file = /etc/checks-pooler.users
pool_mode = transaction
SETTINGS
  printf '"tacet_service" ""\n' >/etc/checks-pooler.users
  in_background pooler --uid=postgres /usr/sbin/pgbouncer /etc/checks-pooler.ini
  printf '127.0.0.1:6543\n'
}

# The real one wants the project's reference behind a point.
stand_in_POOLER_USER() { printf 'tacet_service\n'; }

stand_in_PUSH_URL() { printf 'http://127.0.0.1:8080\n'; }

stand_in_AUTH_KEYS() {
  python3 "$here/supabase.py" keys "$here/auth"
  in_background auth-keys python3 -m http.server --bind 127.0.0.1 --directory "$here/auth" 9999
  printf 'http://127.0.0.1:9999/auth/v1/.well-known/jwks.json\n'
}

stand_in_USER_TOKEN() { python3 "$here/supabase.py" token "$here/auth"; }

"stand_in_$1"
