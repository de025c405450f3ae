# deploy/bench slots: 100,000 users of one slot, while messages come. Sourced; needs measure.sh.
#
# The users get the ritual's morning slot. Their next rows are all made due for rendering at one moment, and then for the push at
# one moment, as at eight in a large zone. Each step is timed from that moment. pgbench inserts messages at 300 a second
# meanwhile, in separate transactions. A message's time is from its commit to the acceptance that the ledger has. Then the plans of
# the claims beside 2,000,000 slots of which few are due.

slots_rate=300
# In seconds. The service looks at least every ten seconds for what has been made due.
slots_due_after=20
slots_rendered_max=30
slots_pushed_max=60
# In milliseconds, of messages.
slots_p99_max=10

measure_slots() {
  local users=100000 waiting=1000000
  if $1; then users=5000 waiting=20000; fi
  headline "Starting: $users users of one slot"
  start_cluster
  make_host tacet 20000 10000 0 2 2000
  start_apns
  register_readers
  make_ritual "$users"
  more_settings='PUSH_TRIGGER_ENABLED=true'
  start_service_anywhere >/dev/null
  await_rows "$users" tacet.slots
  time_step "$users users: rows rendered, in seconds" "$slots_rendered_max" "$users" tacet.notif_deliveries \
    'update tacet.slots set available_at = to_timestamp(:moment)'
  headline "All of them are due, beside $slots_rate messages a second"
  insert_load "$state/load" -c 4 -j 1 -R "$slots_rate" -T "$((slots_due_after + slots_pushed_max))" &
  load_pid=$!
  time_step "$users users: pushed, in seconds" "$slots_pushed_max" "$users" \
    "tacet.push_log where push_type = 'ritual' and decision = 'sent'" \
    'update tacet.notif_deliveries set fire_at = to_timestamp(:moment), available_at = to_timestamp(:moment)'
  wait "$load_pid" || die "pgbench failed: $(tail -n 3 "$state/load.report")"
  load_pid=
  await_empty_inbox
  await_no_deliveries
  conclude_slots "$users"
  show_slot_plans "$waiting"
}

# Users of rituals beside those who write messages, each with a device that the simulator knows.
make_ritual() {
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/ritual.sql"
  sql tacet <<SQL
    insert into profiles (id, name) select measure.id('ritual', n), 'Ada' from generate_series(1, $1) as n;
    insert into terrain_profiles (user_id, terrain_type, nickname)
    select measure.id('ritual', n), 'cold_balanced', 'Low Flame' from generate_series(1, $1) as n;
    insert into push_tokens (user_id, device_token, time_zone)
    select measure.id('ritual', n), encode(sha256(('ritual' || n)::bytea), 'hex'), 'UTC' from generate_series(1, $1) as n;
    update tacet.campaigns set definition = jsonb_set(definition, '{slots}', '[{"slot": "0800", "phase": "morning"}]')
    where name = 'ritual';
    create or replace function tacet.ritual_audience(moment timestamptz, only_user uuid)
    returns table (user_id uuid, time_zone text, gap_days int) language plpgsql stable rows 1 as \$\$
    #variable_conflict use_column
    begin
      if only_user is null then
        return query select p.user_id, 'UTC', 1 from public.terrain_profiles p;
      else
        return query select p.user_id, 'UTC', 1 from public.terrain_profiles p where p.user_id = only_user;
      end if;
    end \$\$;
SQL
  sql postgres -c 'vacuum analyze' -c checkpoint
  sql tacet <<<"select format('url = \"$simulator_control/tokens/%s\"', t.device_token)
    from terrain_profiles p join push_tokens t using (user_id)" >"$state/tokens"
  curl -fsS -X PUT -K "$state/tokens" -H 'content-type: application/json' \
    -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"}" >/dev/null
}

# await_rows NUMBER FROM: for five minutes at most. Looks rarely, because counting costs what is measured.
await_rows() {
  local deadline=$((SECONDS + 300))
  until [[ $(sql tacet <<<"select count(*) from $2") == "$1" ]]; do
    ((SECONDS < deadline)) || die "There are no $1 rows of $2 after five minutes; see $state/tacet.log"
    sleep 0.5
  done
}

# time_step TEXT SECONDS_MAX NUMBER FROM UPDATE: makes all due at a moment, and waits from then on for NUMBER rows.
time_step() {
  local moment=$(($(date +%s) + slots_due_after)) taken
  sql tacet -v moment="$moment" <<<"$5"
  (($(date +%s) < moment - 10)) || die 'Making the rows due took so long that the service has not seen it in time'
  sleep $((moment - $(date +%s)))
  await_rows "$3" "$4"
  taken=$(calculate "$(date +%s.%N) - $moment")
  check "$1: $taken" "$taken" '<' "$2"
}

# messages_p99 RANGE: in milliseconds, of the messages that were sent before the first slot, or from then to the last slot.
messages_p99() {
  sql postgres <<<"select round(1000 * percentile_cont(0.99) within group (
      order by extract(epoch from l.sent_at - pg_xact_commit_timestamp(m.xmin)))::numeric, 1)
    from tacet.push_log l join public.messages m on m.id = l.subject_id
    where l.push_type = 'message' and l.decision = 'sent'
      and l.sent_at $1 from tacet.push_log where push_type = 'ritual')
      and l.sent_at <= (select max(sent_at) from tacet.push_log where push_type = 'ritual')"
}

# When the first was pushed, in seconds from the moment at which all were due.
first_push() {
  sql tacet <<<"select round(extract(epoch from min(l.sent_at) - min(l.enqueued_at))::numeric, 3)
    from tacet.push_log l where l.push_type = 'ritual'"
}

conclude_slots() {
  local p99
  check 'rows sent' "$(sql tacet <<<"select count(*) from tacet.notif_deliveries where status = 'sent'")" '==' "$1"
  check 'users with two pushes' "$(sql tacet <<<"select count(*) from (
    select from tacet.push_log where push_type = 'ritual' group by user_id having count(*) > 1) x")" '==' 0
  p99=$(messages_p99 '>= (select min(sent_at)')
  check "messages meanwhile, p99 in milliseconds: $p99" "$p99" '<=' "$slots_p99_max"
  say "  p99 of messages before, in milliseconds: $(messages_p99 '< (select min(sent_at)')"
  say "  first push after, in seconds: $(first_push)"
  say "  memory of the service: $(awk '/^VmHWM/ { print $2 / 1024 " MiB" }' "/proc/$(process_pid tacet)/status")"
}

# The plans of what is asked every few seconds, beside many slots that are not due.
show_slot_plans() {
  local statement
  headline "Claims beside $((2 * $1)) slots"
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
  sql tacet <<SQL
    insert into tacet.slots (next_fire_at, fire_date, available_at, user_id, campaign, slot, time_zone)
    select now() + n * interval '100 ms', current_date + 1, now() + n * interval '100 ms', md5('other ' || n)::uuid, 'other', s, 'UTC'
    from generate_series(1, $1) as n cross join unnest('{0800,2000}'::text[]) as s;
    analyze tacet.slots;
SQL
  for statement in claim_slots claim_slot_rows next_slot; do
    say "  $statement:"
    { printf 'set enable_seqscan = off; explain (analyze, costs off, buffers)\n'; awk -v name="$statement" '/^-- name: / { isIt = $3 == name } isIt' "$checkout"/db/statements/slot*.sql; } |
      PGOPTIONS='-c plan_cache_mode=force_generic_plan' sql tacet -v slots_max=500 -v rows_max=500 -v lease_us=1 -v grace_us=1 |
      grep -E 'Scan|rows=|Time' | cut -c 1-140 | sed 's/^/    /'
  done
}
