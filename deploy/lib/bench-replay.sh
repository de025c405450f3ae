# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench replay: a day of the ledger, decided again. Sourced; needs measure.sh.
#
# A million pushes of all kinds of ends (bench-replay.sql), 1.3 decisions each. First by the rules of their time, which must change
# nothing; then by a shorter window with folding; then by quiet hours for everyone.

replay_seconds_max=60
replay_megabytes_max=100

measure_replay() {
  local pushes=1000000
  if $1; then pushes=100000; fi
  start_cluster
  headline "$pushes pushes of a day"
  create_database
  migrate_host_tables
  sql postgres -f "$checkout/deploy/lib/measure.sql" -f "$checkout/deploy/lib/bench-replay.sql"
  progressing 'Filling the ledger' "$state/fill.log" sql postgres -c "call measure.fill_recorded($pushes)"
  sql postgres -c 'vacuum analyze tacet.push_log' -c checkpoint
  say "  the ledger has $(sql postgres <<<"select pg_size_pretty(pg_total_relation_size('tacet.push_log'))")"
  replay_day 'the rules of their time' ''
  check_figure pushes "$pushes"
  check_figure differences 0
  check_figure inconsistent 0
  replay_day 'a window of 5 s, bursts folded within 20 s' '{"window_seconds": 5, "fold_window_seconds": 20}'
  say "  differences: $(report_figure differences)"
  replay_day 'quiet hours for everyone' \
    '{"quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "Europe/Berlin"}}'
  say "  differences: $(report_figure differences)"
}

# replay_day TITLE RULES: the report goes to replay.json. The kernel keeps the peak of a process's memory as long as it lives.
replay_day() {
  local options=(--from "$(date -u -d '2 days ago' +%F)") began pid peak=0 line seconds
  printf '%s' "$2" >"$state/rules.json"
  if [[ -n $2 ]]; then options+=(--rules "$state/rules.json"); fi
  began=$EPOCHREALTIME
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" replay --json "${options[@]}" >"$state/replay.json" 2>"$state/replay.log" &
  load_pid=$!
  pid=$load_pid
  while line=$(grep -s VmHWM "/proc/$pid/status"); do
    peak=${line//[^0-9]/}
    sleep 0.02
  done
  wait "$pid" || die "The replay failed: $(tail -n 3 "$state/replay.log" "$state/replay.json")"
  load_pid=
  seconds=$(awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
  check "$1: $(report_figure decisions) decisions in $seconds s" "$seconds" '<=' "$replay_seconds_max"
  check "  memory at its peak: $((peak / 1024)) MB" "$((peak / 1024))" '<=' "$replay_megabytes_max"
}

# check_figure NAME EXPECTED
check_figure() { check "  $1: $(report_figure "$1")" "$(report_figure "$1")" '==' "$2"; }

# report_figure NAME
report_figure() { grep -o "\"$1\":[0-9]*" "$state/replay.json" | head -n 1 | cut -d : -f 2; }
