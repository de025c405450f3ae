# DEMO_POOLER=transaction: the service reaches the demo's database through a PgBouncer in transaction mode, which has
# fewer sessions than the service has connections. Sourced; needs say.sh, postgres.sh and database.sh.
#
# It is reached by a Unix socket beside the server's, and runs as the server's user, because it refuses to run as root.

pooler_port=6432
pooler_sessions=3

has_pooler() { [[ ${DEMO_POOLER:-} == transaction ]]; }

# Before anything is installed: a mistyped value would show a demo of something else.
check_pooler_setting() {
  case "${DEMO_POOLER:-}" in
  '') ;;
  transaction) packages_needed+=(pgbouncer) ;;
  *) die "DEMO_POOLER is '$DEMO_POOLER'; it may be 'transaction', or not set." ;;
  esac
}

# How the service connects.
service_conninfo() {
  conninfo tacet
  if has_pooler; then printf ' port=%s' "$pooler_port"; fi
}

service_pool_mode() { if has_pooler; then printf 'transaction\n'; else printf 'session\n'; fi; }

# The pooler's process if it runs. Its folder is in its command, which a stranger with the same number has not.
pooler_pid() {
  local pid
  [[ -r $state/pgbouncer ]] || return 0
  pid=$(<"$state/pgbouncer")
  if [[ $(tr "\0" " " 2>/dev/null <"/proc/$pid/cmdline" || true) == *pgbouncer*/tacet-postgres.*/pgbouncer.ini* ]]; then
    printf '%s\n' "$pid"
  fi
}

stop_pooler() {
  local pid
  pid=$(pooler_pid)
  rm -f "$state/pgbouncer"
  if [[ -n $pid ]]; then kill -TERM "$pid" 2>/dev/null || true; fi
}

start_pooler() {
  local folder=$postgres_socket tries
  has_pooler || return 0
  printf '"tacet" ""\n' >"$folder/users"
  cat >"$folder/pgbouncer.ini" <<SETTINGS
[databases]
$database = host=$folder
[pgbouncer]
listen_addr =
listen_port = $pooler_port
unix_socket_dir = $folder
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = $pooler_sessions
logfile = $folder/pgbouncer.log
pidfile = $folder/pgbouncer.pid
SETTINGS
  chown "$(postgres_account)" "$folder/users" "$folder/pgbouncer.ini"
  # Debian has it where only root's PATH looks.
  (cd "$folder" && PATH=$PATH:/usr/sbin as_postgres pgbouncer -q -d "$folder/pgbouncer.ini" 9>&-) ||
    die "PgBouncer did not start: $(tail -n 5 "$folder/pgbouncer.log")"
  # It goes into the background first and writes its number then.
  for ((tries = 0; tries < 200; tries++)); do
    if [[ -s $folder/pgbouncer.pid ]]; then break; fi
    sleep 0.05
  done
  cp "$folder/pgbouncer.pid" "$state/pgbouncer" ||
    die "PgBouncer did not start: $(tail -n 5 "$folder/pgbouncer.log")"
  say "PgBouncer: transaction mode, $pooler_sessions sessions, port $pooler_port of the socket in $folder"
}
