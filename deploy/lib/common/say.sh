# What the scripts tell their reader. Sourced.

if [[ -t 1 ]]; then
  red=$'\e[31m' green=$'\e[32m' bold=$'\e[1m' plain=$'\e[0m'
else
  red='' green='' bold='' plain=''
fi

say() { printf '%s\n' "$*"; }
headline() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
complain() { printf '%s%s%s\n' "$red" "$*" "$plain" >&2; }

die() {
  complain "$*"
  exit 1
}

# progressing TEXT LOG COMMAND...: runs a long command with its output in a file, and says every ten seconds that it is
# still running. A failure shows the end of the file.
progressing() {
  local text=$1 log=$2 start=$SECONDS pid status=0
  shift 2
  say "$text ..."
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    if (((SECONDS - start) % 10 == 9)); then say "  $((SECONDS - start + 1)) s: $(tail -n 1 "$log" | cut -c 1-90)"; fi
  done
  wait "$pid" || status=$?
  if ((status != 0)); then
    tail -n 30 "$log" >&2
    complain "failed after $((SECONDS - start)) s (exit $status); the whole output is in $log"
    return "$status"
  fi
  say "  done in $((SECONDS - start)) s"
}
