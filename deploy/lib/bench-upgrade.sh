# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench upgrade FOLDER [BACK]: a whole upgrade from an older release, back, and forward again, under a load that never
# stops. Sourced; needs measure.sh, bench-versions.sh and bench-upgrade-books.sh.
#
# FOLDER has the older release's programs. Two of its processes serve a database with a ledger, held pushes, parked work, and
# pushes that wait for a route which APNs does not serve. This release migrates beside them, and its processes take their places
# one by one. The way back is to the older release if the schema allows it (tacet.migrations.oldest_service); otherwise to the
# one in BACK, which must know the migration that raised the bound. Then forward again.
#
# A process takes over holds, waits and parked work of the one before each time. At the end the books compare each message and
# device with the simulator's record and the ledger.

upgrade_rate=120
# How long each part lasts, in seconds, beside its steps.
upgrade_seconds=15
# The presence window: longer than a rolling restart, so that holds cross it.
upgrade_window=8
# Conversations of the load, each of which gets at most one message: who looks again has seen what a second device still waits
# for, and it gets no push. Beyond them those whose messages are parked. A read comes so many turns after its message.
upgrade_conversations=29900
upgrade_parking=100
upgrade_read_after=160
next_parking=$((upgrade_conversations + 1))
older_newest=
way_back=
declare -A served

measure_upgrade() {
  local history=100000
  if $1; then upgrade_seconds=6 history=10000; fi
  prepare_upgrade "$history"
  serve_older
  migrate_under_load
  choose_way_back
  roll older newer 'Rolling restart, forward'
  serve_newer
  roll newer "$way_back" 'Rolling restart, back'
  serve_back
  roll "$way_back" newer 'Rolling restart, forward again'
  serve_newer_again
  end_upgrade
  show_books
  check_upgrade_logs
}

prepare_upgrade() {
  local name
  for name in 1 2; do
    ln -sfn "$against" "$state/older-$name"
    ln -sfn "$programs" "$state/newer-$name"
    if [[ -n $back ]]; then ln -sfn "$back" "$state/back-$name"; fi
  done
  ln -sfn "$programs" "$state/newer"
  headline 'Starting'
  start_cluster
  by older-1 make_host tacet 60000 60000 20000 2 "$((upgrade_conversations + upgrade_parking))"
  highest=$upgrade_conversations
  sql postgres -f "$checkout/deploy/lib/bench-upgrade.sql"
  sql postgres <<<"call measure.fill_history($1, 60000)"
  older_newest=$(sql tacet <<<'select max(version) from tacet.migrations')
  say "The older program's newest migration is $older_newest. The ledger has $1 rows."
  write_upgrade_script
  webhook_secret=whsec_$(openssl rand -base64 24)
  start_simulator --sandbox-listen 127.0.0.1:0 --records 100000 >/dev/null
  more_settings="SUPPRESSION_WINDOW_SECONDS=$upgrade_window
APNS_SANDBOX_URL=https://$(address sandbox "$state/simulator.json")"
  register_readers
  sql postgres <<<'call measure.add_second_devices()'
  close_route
}

# Of eight turns four find their recipient looking, and one of these has read the message a second or two later.
write_upgrade_script() {
  cat >"$state/insert.sql" <<SQL
select nextval('measure.turn') % :highest + 1 as n \\gset
update public.messages m set read_by = array_append(m.read_by, c.reader_id) from measure.conversations c
  where :n % 8 = 4 and c.n = :n - $upgrade_read_after and m.conversation_id = c.conversation_id and m.from_id = c.sender_id
    and m.created_at > now() - interval '30 s' and c.reader_id <> all (m.read_by);
update public.conversation_participants p set last_seen = case when :n % 2 = 0 then now() else now() - interval '1 hour' end
  from measure.conversations c where c.n = :n and p.conversation_id = c.conversation_id and p.user_id = c.reader_id;
insert into public.messages (conversation_id, from_id, text)
  select c.conversation_id, c.sender_id, 'Are you coming to the rehearsal tonight?' from measure.conversations c where c.n = :n;
SQL
}

# The sandbox answers 503 to every push, for a time without end, or serves again.
close_route() { register_second_devices ',"answers":[{"status":503,"reason":"ServiceUnavailable","times":1000000}]'; }
open_route() { register_second_devices ''; }

register_second_devices() {
  sql tacet <<<"select format('url = \"$simulator_control/tokens/%s\"', device_token) from public.push_tokens
    where environment = 'sandbox'" >"$state/tokens"
  curl -fsS -X PUT -K "$state/tokens" -H 'content-type: application/json' \
    -d "{\"environment\":\"sandbox\",\"bundle_id\":\"$bundle\"$1}"
}

# part NAME: what follows is this part of the books.
part() {
  headline "$1"
  sql postgres -v name="$1" <<<"insert into measure.parts (name) values (:'name')"
}

serve_older() {
  part 'The older program serves'
  start_version older-1
  start_version older-2
  check_refusal newer "the database lacks migrations that this program needs: $(missing_migrations)."
  rm -f "$state"/load.[0-9]*
  # pgbench itself, so that its pid can be ended. A quarter of an hour is more than the whole play takes.
  pgbench -n -M prepared -f "$state/insert.sql" -D "highest=$highest" -l "--log-prefix=$state/load" -c 4 -j 1 \
    -R "$upgrade_rate" -T 900 "$(conninfo app)" >"$state/load.report" 2>&1 9>&- &
  load_pid=$!
  sleep "$upgrade_seconds"
  park_some
}

# Eight more messages are parked by the service: events, and holds.
park_some() {
  local parked before
  before=$(sql tacet <<<'select count(*) from tacet.parked')
  sql postgres <<<"call measure.insert_parked($next_parking, $((next_parking + 3)), false)"
  sql postgres <<<"call measure.insert_parked($((next_parking + 4)), $((next_parking + 7)), true)"
  next_parking=$((next_parking + 8))
  is_none_within 30 "select count(*) - $((before + 8)) from tacet.parked" || true
  parked=$(sql tacet <<<'select count(*) from tacet.parked')
  check "pieces of work that the service has parked: $((parked - before))" "$((parked - before))" '==' 8
}

# replay_some COUNT: by whichever program serves.
replay_some() {
  local replayed
  replayed=$(sql postgres <<<"select measure.replay($1)")
  check "parked pieces put back by tacet.replay: $replayed" "$replayed" '==' "$1"
}

migrate_under_load() {
  local calls
  part 'The newer program migrates while the older one serves'
  sleep "$((upgrade_seconds / 3))"
  for ((calls = 1; calls <= 5; calls++)); do
    if env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate >"$state/migrate.log" 2>&1; then break; fi
    say "  It failed: $(grep SQLSTATE "$state/migrate.log")"
  done
  ((calls <= 5)) || die "The migrations failed five times: $(tail -n 3 "$state/migrate.log")"
  check "calls of tacet migrate until it succeeded: $calls" "$calls" '==' 1
  sleep "$((upgrade_seconds * 2 / 3))"
  check_load
}

# Sets way_back. The bound is the newest migration that a service must know to run on this schema.
choose_way_back() {
  local bound
  headline 'The way back'
  bound=$(sql tacet <<<'select coalesce(max(oldest_service), 0) from tacet.migrations')
  say "  The schema is at migration $(sql tacet <<<'select max(version) from tacet.migrations'); a service on it must know" \
    "migration $bound. The older program knows $older_newest."
  if ((older_newest >= bound)); then
    say '  So the way back is to the older program.'
    way_back=older
  elif [[ -n $back ]]; then
    say "  So the schema does not allow the older program; the way back is to the one in $back."
    way_back=back
  else
    die "The schema does not allow the older program. Name the folder of a program that knows migration $bound; the newest such
commit with an older schema is $(newest_commit_before_last_migration)."
  fi
}

# Of this repository: the last commit without the newest migration.
newest_commit_before_last_migration() {
  local newest
  newest=$(cd "$checkout" && printf '%s\n' db/migrations/*.sql | sort | tail -n 1)
  git -C "$checkout" rev-parse --short "$(git -C "$checkout" log --diff-filter=A --format=%H -- "$newest" | tail -n 1)^"
}

# roll FROM TO HEADLINE: a process of the one starts and serves before one of the other is asked to stop.
roll() {
  local from=$1 to=$2 place held waiting
  part "$3"
  for place in 1 2; do
    start_version "$to-$place"
    sleep 2
    served[$from-$place]=$(sent_by "$from-$place")
    stop_process "$from-$place" || die "$from-$place did not stop well; see $state/$from-$place.log"
    check "$from-$place is stopped; outcomes that it recorded as sent: ${served[$from-$place]}" "${served[$from-$place]}" '>' 0
  done
  read -r held waiting < <(sql tacet -F ' ' <<<"select count(*) filter (where state = 'held'),
    count(*) filter (where state <> 'held') from tacet.deliveries")
  check "holds that its processes leave to the next: $held" "$held" '>' 0
  check "pushes that wait for the closed route: $waiting" "$waiting" '>' 0
  note_new_pushes
  check_load
}

# A client of pgbench ends at its first error, and the others go on; after a deadlock it goes on itself, and notes it.
check_load() {
  if ! is_running "$load_pid" || grep -q error "$state/load.report"; then
    die "The load has failed: $(tail -n 3 "$state/load.report")"
  fi
}

serve_newer() {
  part 'The newer program serves'
  serve_with_open_route
  replay_some 4
  park_some
  close_route
  sleep "$((upgrade_seconds / 3))"
}

# The route comes back: what waits for it goes out.
serve_with_open_route() {
  local began waiting waiting_pushes="select count(*) from tacet.deliveries where state = 'waiting'"
  sleep "$((upgrade_seconds / 3))"
  open_route
  began=$SECONDS
  is_none_within 120 "$waiting_pushes" || true
  waiting=$(sql tacet <<<"$waiting_pushes")
  check "pushes that wait for the route, $((SECONDS - began)) s after it came back: $waiting" "$waiting" '==' 0
  sleep "$((upgrade_seconds / 3))"
  note_new_pushes
  check_load
}

serve_back() {
  part 'The program of the way back serves'
  serve_with_open_route
  replay_some 8
  park_some
  close_route
  sleep "$((upgrade_seconds / 3))"
}

serve_newer_again() {
  part 'The newer program serves again'
  serve_with_open_route
  replay_some 12
}

# Every hold ends within the window.
end_upgrade() {
  local wait place failed turns
  headline 'The load ends'
  check_load
  kill "$load_pid"
  wait "$load_pid" 2>/dev/null || true
  load_pid=
  await_missed_events
  await_empty_inbox
  await_no_deliveries
  for place in 1 2; do
    served[newer-$place]=$(sent_by "newer-$place")
    stop_process "newer-$place" || die "newer-$place did not stop well; see $state/newer-$place.log"
    check "newer-$place is stopped; outcomes that it recorded as sent: ${served[newer-$place]}" "${served[newer-$place]}" '>' 0
  done
  note_new_pushes
  wait=$(longest_wait)
  turns=$(sql postgres <<<'select last_value from measure.turn')
  check "conversations that got a message: $turns" "$turns" '<' "$upgrade_conversations"
  failed=$(cat "$state"/load.[0-9]* | grep -c ' failed ' || true)
  check "transactions of the host that failed: $failed" "$failed" '==' 0
  check "milliseconds of the host's longest wait, in all parts: $wait" "$wait" '<' "$versions_wait_max"
}
