# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench presence: what heartbeats of many users cost. Sourced; needs measure.sh.
#
# Each user is in one conversation of ten, and has a separate connection and token (HS256). The load is an open loop: a
# heartbeat is sent when it is due, independently of the one before. All users connect before the first heartbeat, so the
# service gets a longer limit for the first request of a connection. Autovacuum has its defaults. Processor time is that of the
# service and of its role's sessions, from /proc/PID/stat; sizes and counters are the server's. The client shares the machine.

presence_users=10000
presence_interval=15

measure_presence() {
  local seconds=60
  if $1; then seconds=30 presence_users=2000; fi
  headline 'Starting'
  start_cluster
  create_database
  migrate_host_tables
  make_presence_users
  start_apns
  more_settings="REACTORS=1
JWT_SECRET=$presence_secret
HTTP_HEADER_SECONDS=60
HTTP_CONNECTIONS_MAX=$((presence_users + 100))
HTTP_PEER_CONNECTIONS_MAX=$((presence_users + 100))"
  ulimit -n "$(ulimit -Hn)"
  start_service_anywhere
  headline "$presence_users users, a heartbeat each every $presence_interval s, for $seconds s"
  load_presence "$seconds"
}

# Users in conversations of ten, and the file that the client reads.
make_presence_users() {
  presence_secret=$(openssl rand -hex 32)
  sql tacet -v users="$presence_users" <<'SQL'
    with people as (
      insert into public.profiles (name) select 'User ' || n from generate_series(1, :users) n returning id
    ), numbered as (
      select id, (row_number() over () - 1) / 10 as room from people
    ), rooms as (
      select room, gen_random_uuid() as id from numbered group by room
    ), made as (
      insert into public.conversations (id) select id from rooms returning id
    )
    select from made limit 0;
SQL
  sql tacet <<'SQL'
    insert into public.conversation_participants (conversation_id, user_id)
    select c.id, p.id
    from (select id, row_number() over () - 1 as n from public.profiles) p
    join (select id, row_number() over () - 1 as n from public.conversations) c on c.n = p.n / 10;
SQL
  sql postgres -c 'vacuum analyze' -c checkpoint
  # The text of JWT_SECRET is the key.
  sql tacet -F ' ' >"$state/users" <<SQL
    select user_id, conversation_id, '$(printf '%s' "$presence_secret" | od -An -v -tx1 | tr -d ' \n')'
    from public.conversation_participants order by random()
SQL
}

# User and kernel ticks of the sessions of a role; they stay open through a run.
session_ticks() {
  local pid total=0 user kernel
  for pid in $(sql postgres <<<"select pid from pg_stat_activity where usename = '$1'"); do
    read -r user kernel < <(processor_ticks "$pid") || continue
    total=$((total + user + kernel))
  done
  printf '%s\n' "$total"
}

# Columns of the server's counters: rows updated, updated in place, WAL bytes, size of the table, size of its indexes, dead rows,
# vacuums.
presence_counters() {
  sql postgres -F ' ' <<'SQL'
    select
      s.n_tup_upd, s.n_tup_hot_upd, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),
      pg_relation_size(s.relid), pg_indexes_size(s.relid), s.n_dead_tup, s.autovacuum_count
    from pg_stat_user_tables s
    where s.relname = 'conversation_participants'
SQL
}

# Statements that the service has sent.
round_trips() { curl -fsS "$url/metrics" | awk '/^tacet_database_round_trips_total/ { sum += $2 } END { print sum + 0 }'; }

load_presence() {
  local seconds=$1 pid user kernel before after client
  local trips sessions sent answered failed p50 p99 slowest
  pid=$(process_pid tacet)
  coproc client { exec python3 "$checkout/deploy/lib/heartbeats.py" "$port" "$state/users" "$presence_interval" "$seconds" 2>"$state/heartbeats.log"; }
  local output=${client[0]} input=${client[1]}
  read -r before <&"$output"
  [[ $before == connected ]] || die "The users could not connect; see $state/heartbeats.log"
  before=$(presence_counters)
  trips=$(round_trips)
  sessions=$(session_ticks tacet)
  read -r user kernel < <(processor_ticks "$pid")
  local service=$((user + kernel))
  echo >&"$input"
  read -r sent answered failed p50 p99 slowest <&"$output" || die "The client failed; see $state/heartbeats.log"
  read -r user kernel < <(processor_ticks "$pid")
  service=$((user + kernel - service))
  sessions=$(($(session_ticks tacet) - sessions))
  trips=$(($(round_trips) - trips))
  # The server's sessions tell their counters at most a second late.
  sleep 1.5
  after=$(presence_counters)
  tell_presence "$before" "$after"
  say "statements of the service: $trips, $(calculate "$sent / ($trips > 0 ? $trips : 1)") heartbeats each"
  say "processor time per heartbeat: service $(ticks_each "$service" "$sent") µs, its database sessions $(ticks_each "$sessions" "$sent") µs"
  say "sent $sent, answered $answered, failed $failed; p50 $p50 ms, p99 $p99 ms, slowest $slowest ms"
  check 'heartbeats that were not answered with 204' "$failed" == 0
  check 'heartbeats sent' "$sent" == "$((presence_users * seconds / presence_interval))"
}

# tell_presence BEFORE AFTER: what the server counted between the two.
tell_presence() {
  local updated hot wal table indexes dead vacuums
  local updated_after hot_after wal_after table_after indexes_after dead_after vacuums_after
  read -r updated hot wal table indexes dead vacuums <<<"$1"
  read -r updated_after hot_after wal_after table_after indexes_after dead_after vacuums_after <<<"$2"
  say "rows written: $((updated_after - updated)), in place: $((hot_after - hot)); WAL: $((wal_after - wal)) bytes"
  say "conversation_participants: table $table bytes before, $table_after after; indexes $indexes before, $indexes_after after"
  say "dead rows $dead before, $dead_after after; autovacuums $((vacuums_after - vacuums))"
}
