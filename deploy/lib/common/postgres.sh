# A private PostgreSQL cluster in a folder of ours, reached by a Unix socket only. Sourced; needs say.sh.
#
# Its data can be made again at any time, so by default its commits do not wait for the disk: a commit's timestamp is taken
# before that wait, which would be measured together with the service's way. DEMO_FSYNC=on lets them wait.
#
# It is nobody else's: other clusters on the machine are neither looked at nor touched. postgres_start sets
# postgres_socket, the folder to connect to.

postgres_socket=

# Where initdb and pg_ctl are: Debian keeps them out of PATH.
postgres_programs() {
  local folder
  folder=$(pg_config --bindir 2>/dev/null || true)
  if [[ ! -x $folder/initdb ]]; then
    folder=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
  fi
  if [[ ! -x $folder/initdb ]]; then folder=$(dirname "$(command -v initdb || true)"); fi
  [[ -x $folder/initdb ]] || die "PostgreSQL's initdb is nowhere to be found."
  printf '%s\n' "$folder"
}

# The major version of those programs.
postgres_version() { "$(postgres_programs)/postgres" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/'; }

# Who runs the server: it refuses to run as root.
postgres_account() {
  if ((EUID != 0)); then
    id -un
  elif id postgres >/dev/null 2>&1; then
    printf 'postgres\n'
  else
    printf 'nobody\n'
  fi
}

as_postgres() {
  if ((EUID != 0)); then
    "$@"
  else
    setpriv --reuid "$(postgres_account)" --regid "$(id -g "$(postgres_account)")" --clear-groups -- "$@"
  fi
}

# postgres_folder STATE: where the cluster is kept: in the state folder, unless its user cannot get there, as in /root.
postgres_folder() {
  local state=$1 mark
  if as_postgres test -x "$state"; then
    printf '%s/postgres\n' "$state"
  else
    mark=$(printf '%s' "$state" | cksum | cut -d ' ' -f 1)
    printf '/var/tmp/tacet-demo-%s\n' "$mark"
  fi
}

# The server's process if it runs, by its working directory: a pid file alone may be left over, and name a stranger.
postgres_pid() {
  local folder=$1 pid
  [[ -r $folder/postmaster.pid ]] || return 0
  pid=$(head -n 1 "$folder/postmaster.pid")
  if [[ $(readlink "/proc/$pid/cwd" || true) == "$folder" ]]; then printf '%s\n' "$pid"; fi
}

# postgres_start FOLDER [NAME=VALUE...]: makes the cluster on the first call, and starts it anew if it runs already;
# further server settings may be given, and win over those below.
postgres_start() {
  local folder=$1 log=$1/server.log programs account options setting
  shift
  programs=$(postgres_programs)
  account=$(postgres_account)
  postgres_stop "$folder"
  postgres_initialize "$folder" "$programs" "$account"
  # A socket's path may have 107 bytes, which a checkout deep in somebody's home can exceed. The folder is the server's
  # user's alone, which is what makes connecting without a password safe.
  postgres_socket=$(mktemp -d /tmp/tacet-postgres.XXXXXX)
  chown "$account" "$postgres_socket"
  options="-c listen_addresses= -c unix_socket_directories=$postgres_socket -c unix_socket_permissions=0700"
  options+=" -c track_commit_timestamp=on -c max_connections=100 -c shared_buffers=64MB -c fsync=${DEMO_FSYNC:-off}"
  for setting in "$@"; do options+=" -c $setting"; done
  (cd "$folder" && as_postgres "$programs/pg_ctl" -D "$folder" -l "$log" -o "$options" -w -t 60 -s start 9>&-) ||
    die "PostgreSQL did not start: $(tail -n 5 "$log")"
}

postgres_initialize() {
  local folder=$1 programs=$2 account=$3
  # Another major version cannot read it. Everything in it can be made again.
  if [[ -f $folder/PG_VERSION && $("$programs/postgres" --version) != *") $(<"$folder/PG_VERSION")."* ]]; then
    say "The cluster is of PostgreSQL $(<"$folder/PG_VERSION"), so a new one is made."
    rm -rf "$folder"
  fi
  if [[ -f $folder/PG_VERSION && $(stat -c %U "$folder") == "$account" ]]; then return; fi
  rm -rf "$folder"
  mkdir -m 700 "$folder"
  chown "$account" "$folder"
  (cd "$folder" && as_postgres "$programs/initdb" -D "$folder" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
    >/dev/null) || die "initdb failed in $folder"
}

# postgres_stop FOLDER: stops the server of this folder, if one runs, and removes what a killed one left behind.
postgres_stop() {
  local folder=$1 socket
  if [[ ! -r $folder/postmaster.pid ]]; then return; fi
  socket=$(sed -n 5p "$folder/postmaster.pid")
  if [[ -n $(postgres_pid "$folder") ]]; then
    # Fast: ends the sessions. pg_ctl waits until it is over.
    (cd "$folder" && as_postgres "$(postgres_programs)/pg_ctl" -D "$folder" -m fast -w -t 30 -s stop)
  fi
  if [[ $socket == /tmp/tacet-postgres.* ]]; then rm -rf "$socket"; fi
  rm -f "$folder/postmaster.pid"
}
