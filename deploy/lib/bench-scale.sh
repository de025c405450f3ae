# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench scale: what further processes, a second database and a whole day cost. Sourced; needs measure.sh, bench-loads.sh,
# bench-runs.sh and bench-campaigns.sh.
#
# pgbench inserts messages at a steady rate, each in its own transaction, one recipient with one device each. Every process has
# one reactor. Processor time is that of all processes of the service and of all of PostgreSQL's; WAL is what the server wrote in
# all, the host's insert included. Efficiency is the cost of a push with one process over that with so many: all share this
# machine, so it says what dividing the work costs, not how far a larger machine goes.
#
# The day: 24 steps whose rates follow a day of a chat application, the evening five times the early morning. The costs of the
# run with one process are then what 1, 10 and 100 million users are calculated from.

scale_rate=400
scale_seconds=20
scale_hour_seconds=6
scale_p99_max=250
scale_efficiency_min=0.5
# In per cent of the day's mean, from midnight.
scale_day=(70 50 40 35 35 40 55 75 90 95 100 105 115 110 105 105 110 120 135 155 175 175 145 110)

measure_scale() {
  local number
  if $1; then scale_seconds=6 scale_hour_seconds=2; fi
  headline 'Starting'
  start_cluster max_connections=200
  make_host shard_2 5000 10000 0 2 2000
  make_host tacet 5000 10000 0 2 2000
  start_apns
  for database in shard_2 tacet; do register_readers; done
  more_settings=REACTORS=1
  say "$scale_rate messages a second for $scale_seconds s"
  headline 'Processes on one database'
  say '  processes  service µs  database µs  efficiency  p50 ms  p99 ms  largest share  WAL bytes'
  for number in 1 2 3 4; do
    start_replica "$number" tacet
    measure_replicas "$number"
  done
  headline 'A day in minutes, with two processes'
  for number in 3 4; do stop_process "replica-$number"; done
  measure_day
  headline 'Two databases, with a process each'
  stop_process replica-2
  start_replica 2 shard_2
  measure_shards
  headline 'What users need, by these costs'
  print_needs
}

# start_replica NUMBER DATABASE
start_replica() {
  ln -sfn "$programs" "$state/replica-$1"
  database=$2 programs=$state/replica-$1 start_service_anywhere "replica-$1" >/dev/null
}

replica_ticks() {
  local number total=0 user kernel
  for number in 1 2 3 4; do
    [[ -n $(process_pid "replica-$number") ]] || continue
    read -r user kernel < <(processor_ticks "$(process_pid "replica-$number")")
    total=$((total + user + kernel))
  done
  printf '%s\n' "$total"
}

wal_bytes() { sql postgres <<<"select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"; }

# scale_load RATE SECONDS [DATABASE]: until all of it is recorded.
scale_load() {
  local prefix=$state/load-${3:-tacet}
  database=${3:-tacet} insert_load "$prefix" -c 8 -j 1 -R "$1" -T "$2" || die "pgbench failed: $(tail -n 3 "$prefix.report")"
  database=${3:-tacet} await_empty_inbox
}

# begin_scale: the ledger's time and the ticks before a load.
begin_scale() {
  since=$(sql postgres <<<'select clock_timestamp()')
  service=$(replica_ticks) server=$(database_ticks) wal=$(wal_bytes)
}

# end_scale PUSHES: sets service_cost, database_cost in µs and wal_cost in bytes, of a push.
end_scale() {
  service_cost=$(ticks_each $(($(replica_ticks) - service)) "$1")
  database_cost=$(ticks_each $(($(database_ticks) - server)) "$1")
  wal_cost=$((($(wal_bytes) - wal) / $1))
}

# ledger_figures DATABASE: recipients, pushes, p50 and p99 in ms from commit to acceptance, largest share of a process in per cent.
ledger_figures() {
  database=$1 sql postgres -F ' ' <<SQL
    with pushed as (
      select extract(epoch from l.sent_at - l.enqueued_at) * 1000 as ms, l.decision, l.history -> 0 ->> 'by' as process
      from tacet.push_log l
      where l.enqueued_at > '$since' and l.push_type = 'message'
    )
    select count(*), count(*) filter (where decision = 'sent'),
      round(percentile_cont(0.5) within group (order by ms)::numeric, 1),
      round(percentile_cont(0.99) within group (order by ms)::numeric, 1),
      (select round(100.0 * max(n) / sum(n)) from (select count(*) as n from pushed group by process) p)
    from pushed;
SQL
}

# check_shard DATABASE INSERTED RECORDED SENT
check_shard() {
  local twice
  twice=$(database=$1 sql postgres <<<"select count(*) from (
    select from tacet.push_log where enqueued_at > '$since' group by subject_id, user_id having count(*) > 1) d")
  check "$1: messages recorded of $2" "$3" '==' "$2"
  check "$1: pushes sent" "$4" '==' "$2"
  check "$1: recipients with two rows" "$twice" '==' 0
}

measure_replicas() {
  local inserted recorded sent middle high share efficiency
  scale_load "$scale_rate" 3
  begin_scale
  scale_load "$scale_rate" "$scale_seconds"
  inserted=$(inserts_of "$state/load-tacet.report")
  end_scale "$inserted"
  if (($1 == 1)); then one_service=$service_cost one_database=$database_cost one_wal=$wal_cost; fi
  efficiency=$(calculate "($one_service + $one_database) / ($service_cost + $database_cost)")
  read -r recorded sent middle high share < <(ledger_figures tacet)
  say "$(printf '  %9d  %10s  %11s  %10s  %6s  %6s  %11s %%  %9s' "$1" "$service_cost" "$database_cost" "$efficiency" "$middle" "$high" "$share" "$wal_cost")"
  check_shard tacet "$inserted" "$recorded" "$sent"
  check "efficiency with $1 processes" "$efficiency" '>=' "$scale_efficiency_min"
  check "p99 with $1 processes, in ms" "$high" '<=' "$scale_p99_max"
}

measure_day() {
  local hour rate inserted=0 recorded sent middle high share worst=0 day
  day=$(sql postgres <<<'select clock_timestamp()')
  say '  hour  messages/s  p50 ms  p99 ms'
  for hour in "${!scale_day[@]}"; do
    rate=$((scale_rate * scale_day[hour] / 175))
    since=$(sql postgres <<<'select clock_timestamp()')
    scale_load "$rate" "$scale_hour_seconds"
    inserted=$((inserted + $(inserts_of "$state/load-tacet.report")))
    read -r recorded sent middle high share < <(ledger_figures tacet)
    say "$(printf '  %4d  %10d  %6s  %6s' "$hour" "$rate" "$middle" "$high")"
    worst=$(awk "BEGIN { print ($high > $worst) ? $high : $worst }")
  done
  since=$day
  read -r recorded sent middle high share < <(ledger_figures tacet)
  check_shard tacet "$inserted" "$recorded" "$sent"
  check 'p99 of the worst hour, in ms' "$worst" '<=' "$scale_p99_max"
}

measure_shards() {
  local inserted recorded sent middle high share shard total=0 half=$((scale_rate / 2)) other
  begin_scale
  scale_load "$half" "$scale_seconds" shard_2 &
  load_pid=$!
  scale_load "$half" "$scale_seconds" tacet
  wait "$load_pid"
  load_pid=
  for shard in tacet shard_2; do total=$((total + $(inserts_of "$state/load-$shard.report"))); done
  end_scale "$total"
  for shard in tacet shard_2; do
    inserted=$(inserts_of "$state/load-$shard.report")
    read -r recorded sent middle high share < <(ledger_figures "$shard")
    say "  $shard: $inserted messages, p50 $middle ms, p99 $high ms"
    check_shard "$shard" "$inserted" "$recorded" "$sent"
  done
  say "  a push: service $service_cost µs, database $database_cost µs; with one database and process $one_service and $one_database µs"
}

# By the costs with one process: a user sends 20 messages a day to one other, the busiest second has three times the mean, and a
# processor works at half of its time.
print_needs() {
  say '  users        messages/day  peak/s  service vCPU  database vCPU  WAL MB/s  WAL GB/day'
  local users
  for users in 1000000 10000000 100000000; do
    awk -v users="$users" -v service="$one_service" -v server="$one_database" -v wal="$one_wal" 'BEGIN {
      day = users * 20; peak = day / 86400 * 3
      printf "  %-11d  %12d  %6d  %12.1f  %13.1f  %8.1f  %10.0f\n", users, day, peak, peak * service / 5e5, peak * server / 5e5,
        peak * wal / 1e6, day * wal / 1e9
    }'
  done
}
