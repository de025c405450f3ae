# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench versions FOLDER: an older release and this one on one database, both ways. Sourced; needs
# measure.sh and bench-churn.sh.
#
# FOLDER has the older release's programs. Messages are inserted all the time while programs refuse, migrate, stop and are
# killed. Each message has one recipient with one device, so it is one push. Every other one finds its recipient looking and is
# held for two seconds; to some, APNs answers 503 first. So each release finds holds, retries and claims that the other one has
# written. After each step the simulator's record of accepted pushes and the ledger are compared with the step's messages. No
# insert of the host may fail either: pgbench ends at the first error.
#
# A push rings twice in one case: its process is killed between APNs' acceptance and the record. Both times it has the same
# apns-id.

versions_rate=150
versions_seconds=12
# In milliseconds: how long APNs takes to answer while a process is killed, so that it dies with pushes in flight.
versions_answer_delay=500
# In milliseconds: a migration waits two seconds for a lock, and inserts wait behind it.
versions_wait_max=2500
# Conversations, in turns. A recipient is seen again when a turn comes back, which ends the hold: not within one step.
versions_conversations=5000
declare -A version_urls
# When the step's messages began, and whether the older release looks at tacet.migrations.oldest_service.
since=
older_looks=
# Claims that killed processes have left.
claims_left=0

measure_versions() {
  if $1; then versions_seconds=6; fi
  ln -sfn "$against" "$state/older"
  ln -sfn "$programs" "$state/newer"
  more_settings=SUPPRESSION_WINDOW_SECONDS=2
  headline 'Starting'
  start_cluster
  by older make_host tacet 20000 10000 0 2 "$versions_conversations"
  sql postgres -f "$checkout/deploy/lib/bench-versions.sql"
  write_versions_script
  start_apns
  register_readers
  run_older_alone
  migrate_beside_older
  run_both
  kill_one older newer
  kill_one newer older
  stop_newer
  refuse_later_migration
  headline 'In the whole run'
  since=-infinity
  conclude_step "$claims_left"
  check_version_logs
}

# Churn's script, but a conversation comes back as late as can be.
write_versions_script() {
  write_churn_script
  sed -i "s/^\\\\set n .*/select nextval('measure.turn') % :highest + 1 as n \\\\gset/" "$state/insert.sql"
}

# by VERSION COMMAND...: with the programs of that version, older or newer.
by() {
  local programs=$state/$1
  shift
  "$@"
}

start_version() {
  by "$1" start_service_anywhere "$1" >/dev/null
  version_urls[$1]=$url
}

run_older_alone() {
  local missing
  missing=$(missing_migrations)
  headline 'The older one serves on its own schema; the newer one refuses'
  older_looks=$(sql tacet <<<"select to_jsonb(m) ? 'oldest_service' from tacet.migrations m limit 1")
  start_version older
  refuse_some
  begin_load
  if [[ -n $missing ]]; then
    check_refusal newer "the database lacks migrations that this program needs: $missing."
  else
    say '  The two have the same migrations, so the newer one would not refuse.'
  fi
  end_load
  conclude_step
}

# Names of this release's migrations that the database lacks, with commas between them.
missing_migrations() {
  comm -23 <(cd "$checkout/db/migrations" && printf '%s\n' *.sql | sed 's/\.sql$//' | LC_ALL=C sort) \
    <(sql tacet <<<'select name from tacet.migrations' | LC_ALL=C sort) | paste -s -d , | sed 's/,/, /g'
}

# check_refusal VERSION WORDS: whether its service ends with an error of these words.
check_refusal() {
  local name=$1 words=$2 status=0
  write_settings "$(free_port)"
  timeout 20 env -i TACET_CONFIG="$state/settings" "$state/$name/tacet" serve >"$state/refusal.log" 2>&1 9>&- || status=$?
  # It was ended from outside, so it has not refused.
  if ((status == 124)); then status=0; fi
  say "  $name: $(tail -n 1 "$state/refusal.log")"
  check "$name: its exit code, $status" "$status" '>' 0
  check "$name: says why" "$(grep -cF -- "$words" "$state/refusal.log" || true)" '==' 1
}

migrate_beside_older() {
  local wait
  headline 'The newer one migrates while the older one serves'
  refuse_some
  begin_load
  sleep "$((versions_seconds / 3))"
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate >"$state/migrate.log" 2>&1 ||
    die "The migrations failed: $(tail -n 3 "$state/migrate.log")"
  sed 's/^/  /' "$state/migrate.log"
  end_load
  conclude_step
  wait=$(longest_wait)
  check "milliseconds of the host's longest wait: $wait" "$wait" '<' "$versions_wait_max"
}

run_both() {
  local older newer
  headline 'Both serve'
  start_version newer
  older=$(sent_by older) newer=$(sent_by newer)
  refuse_some
  begin_load
  end_load
  conclude_step
  older=$(($(sent_by older) - older)) newer=$(($(sent_by newer) - newer))
  check "sent by the older one: $older" "$older" '>' 0
  check "sent by the newer one: $newer" "$newer" '>' 0
}

# kill_one VERSION OTHER: the one is killed, and the other takes over. Both serve again afterwards.
kill_one() {
  local left pid
  headline "The $1 one is killed, with pushes in flight; the $2 one takes over"
  delay_answers "$versions_answer_delay"
  begin_load
  sleep "$((versions_seconds / 3))"
  pid=$(process_pid "$1")
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  await_load
  # By then the other one has recorded all of its own, and the holds are over.
  sleep 4
  left=$(sql tacet <<<'select (select count(*) from tacet.inbox) + (select count(*) from tacet.deliveries)')
  check "claims that the killed one has left: $left" "$left" '>' 0
  delay_answers 0
  await_empty_inbox
  await_no_deliveries
  claims_left=$((claims_left + left))
  conclude_step "$left"
  start_version "$1"
}

delay_answers() { curl -fsS "$simulator_control/conduct" -d "{\"delay_ms\":$1}" >/dev/null; }

# Of the next pushes each fortieth gets 503 instead, ten times.
refuse_some() {
  local count
  for ((count = 0; count < 10; count++)); do
    curl -fsS "$simulator_control/faults" -d '{"kind":"answer","status":503,"reason":"ServiceUnavailable","skip":39}' >/dev/null
  done
}

stop_newer() {
  headline 'The newer one stops, and the older one serves alone on the new schema'
  refuse_some
  begin_load
  sleep "$((versions_seconds / 3))"
  stop_process newer || die "The newer one did not stop well; see $state/newer.log"
  end_load
  conclude_step
}

refuse_later_migration() {
  local words='the database has migration 9000, beside which only programs that know migration 9000 may run'
  headline 'A later migration needs a newer service'
  stop_process older || die "The older one did not stop well; see $state/older.log"
  sql tacet <<<"insert into tacet.migrations (version, name, oldest_service) values (9000, '9000_later', 9000)"
  check_refusal newer "$words"
  if [[ $older_looks == t ]]; then
    check_refusal older "$words"
  else
    say '  older: it comes from before migration 33, and does not look.'
  fi
  sql tacet <<<'delete from tacet.migrations where version = 9000'
}

# Messages, in the background.
begin_load() {
  since=$(sql postgres <<<'select clock_timestamp()')
  rm -f "$state"/load.[0-9]*
  insert_load "$state/load" -l -c 4 -j 1 -R "$versions_rate" -T "$versions_seconds" 9>&- &
  load_pid=$!
  sleep 1
}

await_load() {
  wait "$load_pid" || die "pgbench failed: $(tail -n 3 "$state/load.report")"
  load_pid=
}

# A message that a trigger could not enqueue, because a migration held the lock, is found by a service within some ten seconds.
await_missed_events() {
  is_none_within 30 "select count(*) from tacet.trigger_failures where subject_ids <> '{}'" || die "No service has enqueued what the triggers could not; see their logs in $state"
}

end_load() {
  await_load
  await_missed_events
  await_empty_inbox
  await_no_deliveries
}

# Of the three statements for a message; not that they began late.
longest_wait() {
  cat "$state"/load.[0-9]* | awk '$3 - $7 > longest { longest = $3 - $7 } END { printf "%.0f", longest / 1000 }'
}

# conclude_step [AGAIN_MAX]: whether each message since begin_load was accepted once; so many may have been accepted again
# with the same apns-id.
conclude_step() {
  local messages held refused lost again other unsent
  note_new_pushes
  read -r messages held refused lost again other unsent \
    < <(sql postgres -F ' ' -v since="$since" <<<"select * from measure.outcomes(:'since')")
  check "messages: $messages, of which $held were held and $refused refused at first" "$held" '>' 0
  check "  without an accepted push: $lost" "$lost" '==' 0
  check "  accepted again, with the same apns-id: $again" "$again" '<=' "${1:-0}"
  check "  sent with two apns-ids: $other" "$other" '==' 0
  check "  not sent according to the ledger: $unsent" "$unsent" '==' 0
}

# Takes the simulator's records since the last time, in pages.
note_new_pushes() {
  local last count
  while :; do
    last=$(sql postgres <<<'select coalesce(max(number), 0) from measure.pushes')
    curl -fsS "$simulator_control/pushes?limit=500&after=$last" >"$state/pushes.json"
    sql postgres -v file="$state/pushes.json" <<'SQL'
      \set pushes `cat :file`
      call measure.note_pushes(:'pushes');
SQL
    count=$(sql postgres <<<"select count(*) from measure.pushes where number > $last")
    if ((count < 500)); then return; fi
  done
}

# Pushes that the service of a version has sent since it started.
sent_by() {
  curl -fsS "${version_urls[$1]}/metrics" |
    awk '/^tacet_outcomes_total[{].*decision="sent"/ { sent += $2 } END { print sent + 0 }'
}

# What may be there: the older release cannot prune a ledger that is a view now; a migration that has waited too long for a lock
# tries again, and a trigger that has waited too long leaves its message to the service; a killed process no longer reads; the
# newer release asks an older schema for a column that it lacks.
check_version_logs() {
  headline 'Logs'
  check_lines 'older: warnings and errors' 'cannot prune|could not enqueue' "$(complaints_of older)"
  check_lines 'newer: warnings and errors' '^$' "$(complaints_of newer)"
  check_lines 'PostgreSQL: errors' \
    'column "ctid" does not exist|database_identity does not exist|due to lock timeout|connection to client lost' \
    "$(grep -oE ' (ERROR|FATAL|PANIC): .*' "$cluster/server.log" || true)"
}

complaints_of() { grep -oE ' (warning|error|critical) tacet: .*' "$state/$1.log" || true; }

# check_lines TEXT ALLOWED LINES: shows the lines; the pattern matches those that may be there.
check_lines() {
  if [[ -n $3 ]]; then sort <<<"$3" | uniq -c; fi
  check "$1" "$(grep -vE -- "$2" <<<"$3" | grep -c . || true)" '==' 0
}
