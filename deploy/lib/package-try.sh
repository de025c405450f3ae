# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# Running what was packaged: the surroundings of both trials, and their table. Sourced after the files it uses.

packages_of_trials=(curl debootstrap jq lintian openssl postgresql runc systemd-container umoci)
state=
cluster=
port=
rows=()
failures=0

try_packages() {
  make_programs apns-simulator
  PATH=$(postgres_programs):$PATH
  headline 'Surroundings'
  start_surroundings
  headline 'The image'
  try_image
  headline 'The Debian package'
  try_deb
  print_table
}

# attempt WHAT COMMAND...: a row of the table; its last column is the last line that the command prints. In this shell, whose
# children the processes are that the command starts; so its functions return at the first failure by themselves.
attempt() {
  local what=$1 verdict=ok detail
  shift
  if ! "$@" >"$work/attempt" 2>&1; then
    verdict=FAILS failures=$((failures + 1))
    sed 's/^/  | /' "$work/attempt"
  fi
  detail=$(tail -n 1 "$work/attempt" | cut -c 1-90)
  say "$verdict  $what${detail:+: $detail}"
  rows+=("$(printf '%-6s %-46s %s' "$verdict" "$what" "$detail")")
}

print_table() {
  headline 'Table'
  printf '%s\n' "${rows[@]}"
  say
  if ((failures > 0)); then die "$failures of these fail."; fi
  say "${green}None of these fails.${plain}"
}

# A server that asks for passwords, over TCP and over a Unix socket: its clients are other users, one of them in a container.
start_surroundings() {
  state=$work/state
  cluster=$state/cluster
  mkdir -m 711 "$state"
  PGPORT=$(free_port)
  PGPASSWORD=$(openssl rand -hex 16)
  export PGPORT PGPASSWORD
  postgres_start "$cluster" listen_addresses=127.0.0.1 "port=$PGPORT" unix_socket_permissions=0777
  create_database
  sql postgres <<<"alter role postgres password '$PGPASSWORD'; alter role tacet password '$PGPASSWORD'"
  printf '%s\n' 'local all all scram-sha-256' 'host all all 127.0.0.1/32 scram-sha-256' >"$cluster/pg_hba.conf"
  sql postgres <<<'select pg_reload_conf()' >/dev/null
  chmod 711 "$postgres_socket"
  say "PostgreSQL: 127.0.0.1:$PGPORT and $postgres_socket, with passwords"
  start_simulator
}

# write_configuration_folder FOLDER HOST GROUP: what an operator puts into /etc/tacet.
write_configuration_folder() {
  mkdir -p "$1"
  cp "$state/apns-key.p8" "$state/apns-ca.pem" "$1/"
  cat >"$1/tacet.conf" <<SETTINGS
DATABASE_URL=host=$2 port=$PGPORT dbname=$database user=tacet password=$PGPASSWORD
WEBHOOK_SECRET=whsec_$(openssl rand -base64 24)
APNS_KEY_ID=$key_id
APNS_TEAM_ID=$team_id
APNS_BUNDLE_ID=$bundle
APNS_PRIVATE_KEY_FILE=/etc/tacet/apns-key.p8
APNS_URL=https://$(address production "$state/simulator.json")
APNS_CA_FILE=/etc/tacet/apns-ca.pem
SETTINGS
  chown "root:$3" "$1" "$1"/*
  chmod 750 "$1"
  chmod 640 "$1"/*
}

is_ready() { curl -fsS -m 5 "http://127.0.0.1:$port/readyz"; }

# eventually SECONDS COMMAND...: until it succeeds; what it printed then.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >"$work/eventually" 2>&1; do
    if ((SECONDS >= end)); then
      cat "$work/eventually"
      return 1
    fi
    sleep 0.1
  done
  cat "$work/eventually"
}

# Whatever was started, in any state of it.
end_trials() {
  local status=0
  if [[ -z $state ]]; then return; fi
  touch "$work/asked" # Ends the clients.
  stop_container
  stop_debian || status=1
  stop_process apns-simulator || true
  postgres_stop "$cluster"
  wait || true
  return "$status"
}
