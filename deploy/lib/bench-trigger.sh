# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench trigger: what a host's insert into messages pays for the trigger. Sourced; needs measure.sh.
#
# A pair is two runs of pgbench, with the trigger and without it, one right after the other and first in turns.
#
# The rate of 32 clients is measured twice: on this disk, and with commit_delay on one whose flush takes 4 ms longer. On a fast
# disk 32 clients need more than two processors, and the trigger's work reduces the rate: that share measures processors, so
# it has no bound. Neither has the share beside a running service, which decides and records on the same processors. The
# bound is on the slower disk with the service stopped.
#
# At 32 clients the messages are in conversations without recipients, so that the service only wakes, claims and finishes each
# message. The rate with recipients is also printed, without a bound.

measure_trigger() {
  local pairs=7 seconds=5 delay=0
  if $1; then pairs=3 seconds=2; fi
  headline 'Starting'
  start_cluster
  make_host tacet 20000 10000 20000 2 5000
  sql postgres -c 'delete from public.push_tokens' -c 'delete from public.conversation_participants p
    using measure.conversations c where c.n <= 2500 and p.conversation_id = c.conversation_id and p.user_id <> c.sender_id'
  start_apns

  headline "With the service running: $pairs pairs of $seconds s each"
  start_service_anywhere >/dev/null
  measure_pairs "$pairs" "$seconds" ''
  compare_rate "$pairs" "$seconds" 2501 5000 ''
  await_empty_inbox
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
  await_not_listening
  headline "With the service stopped"
  measure_pairs "$pairs" "$seconds" 0.85
  headline "With what the trigger needs out of reach: single inserts of the host, all of which must succeed"
  measure_blocked
}

# A service says in advance until when it will listen, half a minute at the most; inserts notify until then.
await_not_listening() {
  local tries
  for ((tries = 0; tries < 400; tries++)); do
    if [[ $(sql tacet <<<'select coalesce(listening_until < now(), true) from tacet.settings') == t ]]; then return; fi
    sleep 0.1
  done
  die "tacet.settings says for more than 40 s after the stop that somebody listens."
}

# measure_pairs PAIRS SECONDS BOUND: the bound on the rate of 32 clients, if any.
measure_pairs() {
  local bound=$3
  set -- "$1" "$2"
  compare_latency "$@"
  compare_rate "$@" 1 2500 ''
  commit_delay 4000
  compare_rate "$@" 1 2500 "$bound"
  commit_delay 0
}

# commit_delay MICROSECONDS: delays every flush.
commit_delay() {
  sql postgres -c "alter system set commit_delay = $1" -c 'alter system set commit_siblings = 0' -c 'select pg_reload_conf()' >/dev/null
  delay=$1
}

# One client alone: how much longer an insert takes, at the median.
compare_latency() {
  local pairs=$1 seconds=$2 lowest=2501 highest=5000 pair side with=() without=() more=() values
  run_side on "$state/warm" -c 1 -T "$seconds" -l
  for ((pair = 0; pair < pairs; pair++)); do
    for side in $(sides "$pair"); do run_side "$side" "$state/latency-$side" -c 1 -T "$seconds" -l; done
    with+=("$(percentile "$state/latency-on" 0.5)")
    without+=("$(percentile "$state/latency-off" 0.5)")
    more+=("$(calculate "${with[-1]} - ${without[-1]}")")
  done
  values=$(spread ' ms' "${more[@]}")
  say "  1 client, p50: with $(spread ' ms' "${with[@]}"), without $(spread ' ms' "${without[@]}")"
  check "  more with the trigger: $values" "$(first "${more[@]}")" '<' 1
}

# 32 clients: which share of their rate remains. compare_rate PAIRS SECONDS LOWEST HIGHEST BOUND: without a bound, only
# printed.
compare_rate() {
  local pairs=$1 seconds=$2 lowest=$3 highest=$4 bound=$5 pair side disk='' with=() without=() ratios=()
  if ((delay > 0)); then disk=", a flush takes $((delay / 1000)) ms longer"; fi
  if ((lowest > 1)); then disk="$disk, a recipient for each message"; fi
  run_side on "$state/warm" -c 32 -j 2 -T "$seconds"
  for ((pair = 0; pair < pairs; pair++)); do
    for side in $(sides "$pair"); do run_side "$side" "$state/rate-$side" -c 32 -j 2 -T "$seconds"; done
    with+=("$(rate_of "$state/rate-on")")
    without+=("$(rate_of "$state/rate-off")")
    ratios+=("$(calculate "${with[-1]} / ${without[-1]}")")
  done
  say "  32 clients$disk: with $(spread /s "${with[@]}"), without $(spread /s "${without[@]}")"
  if [[ -z $bound ]]; then
    say "    share of the rate that remains: $(spread '' "${ratios[@]}")"
  else
    check "  share of the rate that remains: $(spread '' "${ratios[@]}")" "$(first "${ratios[@]}")" '>=' "$bound"
  fi
}

# The order within a pair, in turns.
sides() { if (($1 % 2 == 0)); then echo on off; else echo off on; fi; }

# run_side on|off PREFIX OPTIONS: with or without the trigger, from an empty inbox.
run_side() {
  local side=$1 prefix=$2
  shift 2
  rm -f "$prefix".*
  if [[ -n $(process_pid tacet) ]]; then await_empty_inbox; else sql tacet <<<'truncate tacet.inbox'; fi
  if [[ $side == on ]]; then set_trigger enable; else set_trigger disable; fi
  insert_load "$prefix" "$@" || die "pgbench failed: $(tail -n 3 "$prefix.report")"
}

set_trigger() { sql tacet <<<"alter table public.messages $1 trigger tacet_message_inserted"; }

first() { median "$@" | cut -d ' ' -f 1; }

# spread UNIT VALUES...: "median (lowest … highest)".
spread() {
  local unit=$1 middle low high
  shift
  read -r middle low high < <(median "$@")
  printf '%s%s (%s … %s)' "$middle" "$unit" "$low" "$high"
}

measure_blocked() {
  set_trigger enable
  blocked 'tacet.inbox locked' 'lock table tacet.inbox in access exclusive mode'
  blocked 'tacet.inbox locked, statement_timeout 80 ms' 'lock table tacet.inbox in access exclusive mode' 80ms
  blocked 'every table of tacet locked' "do \$\$ begin execute (select 'lock table ' || string_agg(format('tacet.%I', tablename), ', ') || ' in access exclusive mode' from pg_tables where schemaname = 'tacet'); end \$\$"
  sql postgres <<<'drop table tacet.inbox cascade' 2>/dev/null
  insert_blocked 'table tacet.inbox dropped' 0
  sql postgres <<<'set client_min_messages = error; drop schema tacet cascade'
  insert_blocked 'schema tacet dropped' 0
}

# blocked TEXT STATEMENT [TIMEOUT]: while another session holds what the statement has locked.
blocked() {
  hold_lock "$2"
  insert_blocked "$1" "${3:-0}"
  # Its server process would sleep on without it.
  sql postgres <<<"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'locker'" >/dev/null
  wait "$locker" 2>/dev/null || true
  locker=
}

# A session that locks and then sleeps; returns when it has the lock.
hold_lock() {
  local tries
  printf 'begin;\n%s;\nselect pg_sleep(600);\n' "$1" >"$state/lock.sql"
  PGAPPNAME=locker psql -X -q -v ON_ERROR_STOP=1 -d "$(conninfo postgres)" -f "$state/lock.sql" >"$state/lock.log" 2>&1 9>&- &
  locker=$!
  for ((tries = 0; tries < 200; tries++)); do
    if [[ $(sql postgres <<<"select count(*) from pg_stat_activity where application_name = 'locker' and wait_event = 'PgSleep'") == 1 ]]; then return; fi
    sleep 0.05
  done
  die "The lock was not taken: $(tail -n 3 "$state/lock.log")"
}

# insert_blocked TEXT TIMEOUT: 20 inserts of each of 4 clients; none may fail, and none may wait for more than a second.
insert_blocked() {
  local prefix=$state/blocked before after failed
  rm -f "$prefix".*
  before=$(count_messages)
  PGOPTIONS="-c statement_timeout=$2" insert_load "$prefix" -c 4 -t 20 -l || true
  after=$(count_messages)
  failed=$((80 - (after - before)))
  check "$1: failed of 80" "$failed" '==' 0
  if ((after > before)); then
    check "$1: longest wait, $(percentile "$prefix" 1) ms" "$(percentile "$prefix" 1)" '<' 1000
  fi
}

count_messages() { sql postgres <<<'select count(*) from public.messages'; }
