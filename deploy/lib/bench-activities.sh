# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench activities: Live Activities of a watched table. Sourced; needs measure.sh, bench-loads.sh,
# bench-runs.sh and bench-campaigns.sh.
#
# pgbench inserts the rows of 5,000 users, which starts a Live Activity each, 100 a second, and then updates them, 300 a second, in
# separate transactions, each row in its turn: the same one comes after some 17 s, so that no push waits for the second after the last
# one. A time is from the event's commit to the acceptance that the ledger has. The aim is 20 ms, as for messages; the bound is what
# users see. Processor time is the service's and that of all of PostgreSQL's
# processes. The same updates once more, while nothing watches the table, are the host's share of it. Then one state for a channel with
# 100,000 subscribers.

activities_rate=300
starts_rate=100
# In milliseconds, from commit to acceptance.
activities_p99_max=500
channel_subscribers=100000
activity_type=WorkoutActivityAttributes

measure_activities() {
  local users=5000 seconds=60
  if $1; then users=1000 seconds=15; fi
  headline "Starting: $users users"
  start_cluster
  make_host tacet $((users + 1)) 100 0 2 10
  sql postgres -v users="$users" -f "$checkout/deploy/lib/bench-activities.sql" >/dev/null
  sql postgres -c 'vacuum analyze' -c checkpoint
  start_apns
  register_start_tokens
  service_key=$(openssl rand -hex 24)
  more_settings="SERVICE_KEY=$service_key
APNS_CHANNELS_URL=https://$(address production "$state/simulator.json")"
  start_service_anywhere >/dev/null
  headline "$starts_rate starts a second"
  write_activity_scripts "$users"
  # The first ones find a service and sessions that have planned nothing yet.
  change_rows start "$starts_rate" $((users / 10))
  since=$(sql postgres <<<'select clock_timestamp()')
  change_rows start "$starts_rate" $((users - users / 10)) $((users / 40))
  check_latencies start
  report_update_tokens
  headline "$activities_rate updates a second, of ${users} Live Activities"
  measure_updates "$seconds" "$users"
  headline "A state for $channel_subscribers subscribers of a channel"
  measure_broadcast
}

register_start_tokens() {
  sql tacet <<<"select string_agg(format(
      E'url = \"$simulator_control/tokens/%s\"\nrequest = PUT\nheader = \"content-type: application/json\"\ndata = \"%s\"',
      s.token, replace(json_build_object('environment', 'production', 'bundle_id', '$bundle', 'kind', 'push_to_start',
        'attributes_type', s.type, 'device', s.user_id)::text, '\"', '\\\"')), E'\nnext\n')
    from tacet.activity_start_tokens s" >"$state/tokens"
  curl -fsS -K "$state/tokens"
}

# The variable k counts in each client; the rows take turns.
write_activity_scripts() {
  cat >"$state/start.sql" <<'SQL'
\set n :k * 4 + :client_id + 1
\set k :k + 1
insert into public.workouts (n, id, user_id) values (:n, measure.id('workout', :n), measure.id('u', :n));
SQL
  cat >"$state/update.sql" <<SQL
\set n (:k * 4 + :client_id) % $1 + 1
\set k :k + 1
update public.workouts set seconds = :k, heart_rate = 60 + :k % 100 where n = :n;
SQL
}

# change_rows SCRIPT RATE TRANSACTIONS [K]: until all pushes are sent. K is the counters' first value.
change_rows() {
  pgbench -n -M prepared -f "$state/$1.sql" -D "k=${4:-0}" -c 4 -j 1 -R "$2" -t "$(($3 / 4))" "$(conninfo app)" \
    >"$state/$1.report" 2>&1 || die "pgbench failed: $(tail -n 3 "$state/$1.report")"
  await_empty_inbox
  await_no_deliveries
}

# check_latencies EVENT
check_latencies() {
  local count middle high
  read -r count middle high < <(sql postgres -F ' ' -v event="$1" <<<"select count(*),
      round(percentile_cont(0.5) within group (order by ms)::numeric, 1), round(percentile_cont(0.99) within group (order by ms)::numeric, 1)
    from measure.activity_latencies where event = :'event' and began_at > '$since'")
  check "$1: pushes sent of $(inserts_of "$state/$1.report") events" "$count" '==' "$(inserts_of "$state/$1.report")"
  check "$1: commit to acceptance, p50 $middle ms, p99 $high ms" "$high" '<=' "$activities_p99_max"
}

# What the apps do once their activities have started.
report_update_tokens() {
  curl -fsS "$simulator_control/activities?limit=10000&history=0" >"$state/activities.json"
  sql tacet -v file="$state/activities.json" <<'SQL' >/dev/null
    \set shown `cat :file`
    insert into tacet.activity_tokens (activity_id, device_token, token)
    select s.a #>> '{attributes,activityId}', '', s.a ->> 'token' from jsonb_array_elements(:'shown'::jsonb -> 'activities') as s (a);
    analyze tacet.activity_tokens, tacet.activities, tacet.activity_updates;
SQL
}

# measure_updates SECONDS USERS
measure_updates() {
  local service server updates bare
  change_rows update "$activities_rate" $((3 * activities_rate))
  since=$(sql postgres <<<'select clock_timestamp()')
  service=$(service_ticks)
  server=$(database_ticks)
  # Other states than before, because one that changes nothing pushes nothing.
  change_rows update "$activities_rate" $(($1 * activities_rate)) 1000000
  service=$(($(service_ticks) - service))
  server=$(($(database_ticks) - server))
  updates=$(inserts_of "$state/update.report")
  check_latencies update
  check 'pushes that devices have dropped' "$(sql tacet -v shown="$(curl -fsS "$simulator_control/activities?limit=0")" <<<"
    select coalesce(sum(d.value::int), 0) from jsonb_each_text(:'shown'::jsonb -> 'dropped') as d")" '==' 0
  sql postgres <<<"select tacet.unwatch_activity('$activity_type')" >/dev/null
  bare=$(database_ticks)
  change_rows update "$activities_rate" $(($1 / 3 * activities_rate))
  bare=$(($(database_ticks) - bare))
  say "  processor time of an update: service $(ticks_each "$service" "$updates") µs, database $(ticks_each "$server" "$updates") µs," \
    "of which the host's own update $(ticks_each "$bare" "$(inserts_of "$state/update.report")") µs"
}

service_ticks() { processor_ticks "$(process_pid tacet)" | awk '{ print $1 + $2 }'; }

measure_broadcast() {
  local path=$url/v1/live-activities/channels channel pushes
  channel=$(ask_service -X POST "$path" -H 'content-type: application/json' -d "{\"id\": \"final\", \"type\": \"$activity_type\"}" |
    sed -n 's/.*"channel_id" *: *"\([^"]*\)".*/\1/p')
  curl -fsS -X POST "$simulator_control/channels/subscribers" -H 'content-type: application/json' -d "{\"environment\": \"production\",
    \"bundle_id\": \"$bundle\", \"channel_id\": \"$channel\", \"count\": $channel_subscribers}" >/dev/null
  pushes=$(pushes_total)
  ask_service -X POST "$path/final" -H 'content-type: application/json' \
    -d '{"state": {"elapsedTime": 900, "heartRate": 131, "activeCalories": 160}}' >/dev/null
  await_empty_inbox
  check 'pushes' "$(($(pushes_total) - pushes))" '==' 1
  check 'subscribers that show the state' "$(sql tacet -v shown="$(curl -fsS "$simulator_control/activities" -G --data-urlencode "channel=$channel")" <<<"
    select coalesce(sum((a ->> 'subscribers')::int), 0) from jsonb_array_elements(:'shown'::jsonb -> 'activities') as s (a)
    where a #>> '{state,heartRate}' = '131'")" '==' "$channel_subscribers"
}

pushes_total() { number pushes "$(curl -fsS "$simulator_control/healthz")"; }
