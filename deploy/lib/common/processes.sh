# The folder of a run, and starting and stopping its processes. Sourced; needs say.sh, postgres.sh and pooler.sh; programs and state
# are the folders of the executables and of the run, cluster the database's if there is one.
#
# Each has a file NAME.pid, so that the next run can end what a killed run left behind.

programs=

# open_state_folder: for one run at a time, whose end stops everything. PostgreSQL's user passes through it, but only its owner may look
# around: it holds secrets.
open_state_folder() {
  mkdir -p "$state"
  chmod 711 "$state" || die "$state belongs to somebody else: please remove it, or run as its owner."
  umask 077
  exec 9>"$state/lock"
  flock -n 9 || die "Another run uses $state already."
  rm -f "$state"/*.log
  trap end_run EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# The script's own clean_up then removes what shall not stay, by the exit status.
end_run() {
  local status=$?
  trap - EXIT INT TERM HUP
  if [[ -n ${load_pid:-} ]]; then
    kill "$load_pid" 2>/dev/null || true
    wait "$load_pid" 2>/dev/null || true
  fi
  stop_processes
  if [[ -n $cluster ]]; then postgres_stop "$cluster"; fi
  clean_up "$status"
  exit "$status"
}

# start_process NAME COMMAND...: in the background, its output in NAME.log. An empty environment, because the service
# reads its settings from there and this shell's may hold some.
start_process() {
  local name=$1
  shift
  env -i PATH="$PATH" HOME="${HOME:-/}" "$@" >>"$state/$name.log" 2>&1 9>&- &
  printf '%s\n' "$!" >"$state/$name.pid"
}

# The pid of a running NAME; nothing when it does not run. The command is compared as well, because a pid file that
# was left over may name a stranger by now: it begins with a program of ours, is one of this run under another name, or
# names a file of this run.
process_pid() {
  local pid command
  [[ -r $state/$1.pid ]] || return 0
  pid=$(<"$state/$1.pid")
  command=$(tr "\0" " " 2>/dev/null <"/proc/$pid/cmdline" || true)
  if [[ $command == *"$programs/$1 "* || $command == *"$state/$1"* || $command == *"$1 "*"$state/"* ]]; then printf '%s\n' "$pid"; fi
}

# stop_process NAME: asks with SIGTERM and waits. Fails when it had to be killed or its exit code says that it was not
# well; that of a process which another run started cannot be known.
stop_process() {
  local name=$1 pid status=0 tries
  pid=$(process_pid "$name")
  rm -f "$state/$name.pid"
  if [[ -z $pid ]]; then return; fi
  kill -TERM "$pid" 2>/dev/null || true
  # The service finishes what it has begun for half a minute at the most.
  for ((tries = 0; tries < 800; tries++)); do
    if ! is_running "$pid"; then break; fi
    sleep 0.05
  done
  if is_running "$pid"; then
    complain "$name did not stop within 40 s of SIGTERM; it is killed."
    kill -KILL "$pid" 2>/dev/null || true
    status=1
  fi
  # 127: no child of this shell.
  wait "$pid" 2>/dev/null || status=$?
  if ((status == 127)); then status=0; fi
  return "$status"
}

# stop_processes: all that this run has started, or a killed run before it; the service first, which finishes its work.
stop_processes() {
  local file
  for file in "$state/tacet.pid" "$state"/*.pid; do
    if [[ -e $file ]]; then stop_process "$(basename "$file" .pid)" || true; fi
  done
  if [[ -s $state/pgbouncer ]]; then stop_pooler; fi
}

# A child that has ended and was not waited for is a zombie, and its pid still answers; one that the shell has just waited
# for by itself has no state any more.
is_running() {
  local condition
  condition=$(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) || true
  [[ -n $condition && $condition != [ZX] ]]
}

# wait_until SECONDS NAME COMMAND...: looks every 50 ms until the command succeeds. Fails when NAME ends before, or the
# time is over.
wait_until() {
  local tries=$(($1 * 20)) name=$2 pid
  shift 2
  pid=$(<"$state/$name.pid")
  for ((; tries > 0; tries--)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    is_running "$pid" || return 1
    sleep 0.05
  done
  return 1
}

# A port of the loopback address that nobody listens on. Somebody may take it before it is used: then try another.
free_port() {
  local port
  for ((;;)); do
    port=$((20000 + RANDOM % 10000))
    if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s\n' "$port"
      return
    fi
  done
}
