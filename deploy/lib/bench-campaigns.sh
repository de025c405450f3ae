# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench campaigns: what a run of the campaign `coach` takes, from the look at everybody to the last push. Sourced; needs
# measure.sh.
#
# Of 100,000 users 1,000 are eligible; bench-campaigns.sql has the reasons of the others. The look at all users is timed in the
# server, over a session with the settings of the service. auto_explain logs the plan of the function's query in a separate
# call. The runs are requested as by another scheduler, and followed to their end. The second run begins with the same data:
# the results of the first are deleted.

model_address=
campaign_looks=5
# In milliseconds, of the median.
eligibility_milliseconds_max=200
frequency_milliseconds_max=100

measure_campaigns() {
  local users=100000 eligible=1000 delay=2000
  if $1; then users=20000 eligible=100 delay=200; fi
  headline "Starting: $users users, of whom $eligible are eligible"
  start_cluster
  make_coach "$users" "$eligible"
  start_apns
  register_eligible
  headline 'Who is eligible, of everybody'
  time_looks "$eligible"
  show_look "select count(*) from tacet.campaign_eligible('coach', clock_timestamp())"
  run_campaign "$eligible" "$delay" 600
  run_campaign "$eligible" 0 60
}

make_coach() {
  create_database
  migrate_host_tables
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/coach.sql"
  sql postgres -f "$checkout/deploy/lib/measure.sql" -f "$checkout/deploy/lib/bench-campaigns.sql"
  sql postgres -c "call measure.fill_coach($1, $2)" -c 'grant usage on schema measure to tacet' \
    -c 'grant select on measure.people to tacet'
  sql postgres -c 'vacuum analyze' -c checkpoint
  sql tacet -F ' ' <<<"select '  ' || lpad(count(*)::text, 6), coalesce(reason, 'eligible') from measure.people group by reason order by count(*) desc"
}

# Registers the devices of the eligible users in the simulator.
register_eligible() {
  sql tacet <<<"select format('url = \"$simulator_control/tokens/%s\"', t.device_token)
    from measure.people p join public.push_tokens t on t.user_id = p.id where p.reason is null" >"$state/tokens"
  curl -fsS -X PUT -K "$state/tokens" -H 'content-type: application/json' \
    -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"}"
}

# What the service's sessions set.
look_settings='set enable_seqscan = off; set jit = off'

time_looks() {
  local look="select count(*) from tacet.campaign_eligible('coach', clock_timestamp())" frequency
  check "users found" "$(sql tacet <<<"$look")" '==' "$1"
  check_times "eligibility of all users" "$eligibility_milliseconds_max" "$look"
  sql postgres <<<"create table measure.gates as
    select a.user_id, d.* from tacet.check_in_audience(clock_timestamp(), null) a
    cross join lateral tacet.campaign_day(coalesce(a.time_zone, 'UTC'), a.gap_days, clock_timestamp()) d;
    grant select on measure.gates to tacet; analyze measure.gates"
  frequency="select count(*) from measure.gates g
    cross join lateral tacet.campaign_gate(
      g.user_id, false, 'check_in', '$(sql tacet <<<"select tacet.campaign_push_types('check_in')")',
      g.local_day, g.day_start, g.day_end, g.gap_start) k
    where k.reason is null"
  say "  the frequency check alone, of $(sql tacet <<<'select count(*) from measure.gates') users with check-ins switched on:"
  check_times "frequency of all these" "$frequency_milliseconds_max" "$frequency"
}

# check_times TEXT BOUND QUERY: in one session, which has run it once before.
check_times() {
  local times middle low high look
  times=$(
    {
      printf '%s;\n%s;\n\\timing on\n' "$look_settings" "$3"
      for ((look = 0; look < campaign_looks; look++)); do printf '%s;\n' "$3"; done
    } | sql tacet | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
  )
  # shellcheck disable=SC2086 # a word for each time
  read -r middle low high < <(median $times)
  check "$1: $middle ms ($low … $high)" "$middle" '<' "$2"
}

# show_look QUERY: the plan of the query that tacet.campaign_eligible has made in this one, as it was run.
show_look() {
  say '
  The plan:'
  PGOPTIONS='-c client_min_messages=log' sql postgres 2>&1 <<SQL |
    $look_settings;
    load 'auto_explain';
    set auto_explain.log_min_duration = 1;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_analyze = on;
    $1;
SQL
    awk '
      /duration: .* plan:/ { shown = 0; entry = 0 }
      /with audience as/ { entry = 1 }
      entry && /\(cost=/ { shown = 1 }
      shown { print "    " $0 }' | sed 's/(cost=[^)]*) //' | cut -c 1-150
}

# run_campaign ELIGIBLE DELAY SECONDS_MAX: with a model that takes so many milliseconds.
run_campaign() {
  local eligible=$1 seconds run status
  headline "A run with a model that takes $2 ms"
  forget_campaigns
  start_model "$2"
  service_key=$(openssl rand -hex 24)
  more_settings="SERVICE_KEY=$service_key
PUSH_TRIGGER_ENABLED=true
PUSH_TRIGGER_TIME=23:59
LANGUAGE_MODEL_URL=$model_address
LANGUAGE_MODEL_KEY=measured
LANGUAGE_MODEL_MILLISECONDS=4000
LANGUAGE_MODEL_DAILY_TOKENS_MAX=100000000
LANGUAGE_MODEL_DAILY_DOLLARS_MAX=1000"
  start_service_anywhere >/dev/null
  run=$(ask_service -X POST -H 'prefer: respond-async' "$url/v1/push-trigger" | sed -n 's/.*"run_id" *: *"\([^"]*\)".*/\1/p')
  [[ -n $run ]] || die "No run was begun; see $state/tacet.log"
  await_run "$run" "$3"
  seconds=$(sql tacet <<<"select round(extract(epoch from max(d.decided_at) - r.started_at), 1)
    from tacet.campaign_runs r join tacet.campaign_decisions d on d.run_id = r.id where r.id = '$run' group by r.started_at")
  await_empty_inbox
  say "  $(sql tacet -F ', ' <<<"select string_agg(n || ' ' || coalesce(decision || coalesce(' ' || layer, '') || coalesce(' ' || reason, ''), 'undecided'), ', ')
    from (select decision, layer, reason, count(*) as n from tacet.campaign_decisions group by 1, 2, 3 order by 4 desc) x")"
  check "seconds from the request to the last decision: ${seconds:-none}" "${seconds:-1e9}" '<' "$3"
  conclude_run "$eligible"
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
  stop_process model-simulator || die "The model did not stop well; see $state/model-simulator.log"
}

ask_service() { curl -fsS -H @<(bearer "$service_key") "$@"; }

# await_run RUN SECONDS: or twice as long, after which the bound is missed anyway.
await_run() {
  local deadline=$((SECONDS + 2 * $2))
  until ask_service "$url/v1/push-trigger/$1" | grep -q '"finished" *: *true'; do
    ((SECONDS < deadline)) || die "The run has not ended; see $state/tacet.log"
    sleep 0.2
  done
}

# Compares the service's rows with the counts of the simulators.
conclude_run() {
  local eligible=$1 committed calls stats
  read -r committed calls < <(sql tacet -F ' ' <<<"select
    (select count(*) from tacet.campaign_decisions where decision = 'committed'), (select sum(calls) from tacet.model_usage)")
  stats=$(curl -fsS "$model_address/simulator/stats")
  check "eligible users decided once" "$(sql tacet <<<"select count(*) from (
    select p.id from measure.people p join tacet.campaign_decisions d on d.user_id = p.id
    where p.reason is null and d.decision is not null group by p.id having count(*) = 1) x")" '==' "$eligible"
  check "other users looked at" "$(sql tacet <<<"select count(*) from tacet.campaign_decisions d
    join measure.people p on p.id = d.user_id where p.reason is not null")" '==' 0
  check "pushes committed" "$committed" '>' 0
  check "pushes that APNs' simulator has accepted, of $committed committed" "$(accepted_pushes)" '==' "$committed"
  check "model calls counted by the service, of $(number total "$stats") that the model has had" "$calls" '==' "$(number total "$stats")"
  say "  tokens: $(sql tacet -F ' ' <<<"select input_tokens || ' read, ' || output_tokens || ' written, ' || reserved_tokens || ' still set aside, '
    || round(cost_microdollars / 1e6, 3) || ' dollars at the standard prices' from tacet.model_usage")"
  say "  calls at the same time: $(number in_flight_max "$stats")"
  say "  memory of the service at most: $(awk '/^VmHWM/ { printf "%.1f MB", $2 / 1024 }' "/proc/$(process_pid tacet)/status")"
}

# number NAME JSON: a member of a flat object.
number() { sed -n "s/.*\"$1\" *: *\([0-9]*\).*/\1/p" <<<"$2"; }

# Every push has its row in the ledger before.
accepted_pushes() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if [[ $(sql tacet <<<"select count(*) from tacet.campaign_decisions d where d.push_id is not null
      and not exists (select from tacet.push_log l where l.subject_id = d.push_id)") == 0 ]]; then break; fi
    sleep 0.05
  done
  curl -fsS "$simulator_control/pushes?limit=10000" | grep -oE '"status" *: *200' | wc -l
}

forget_campaigns() {
  curl -fsS -X DELETE "$simulator_control/pushes" >/dev/null
  sql tacet <<'SQL'
    delete from tacet.push_log l using tacet.campaign_decisions d where l.subject_id = d.push_id;
    delete from tacet.campaign_decisions;
    delete from tacet.campaign_runs;
    delete from tacet.frequency_caps;
    delete from tacet.pushes;
    delete from tacet.model_usage;
SQL
  sql postgres -c 'vacuum analyze' -c checkpoint
}

# start_model MILLISECONDS
start_model() {
  rm -f "$state/model.json"
  start_process model-simulator "$programs/model-simulator" --listen 127.0.0.1:0 --delay-ms "$1" --key measured \
    --ready-file "$state/model.json"
  wait_until 15 model-simulator test -s "$state/model.json" ||
    die "The model did not start: $(tail -n 5 "$state/model-simulator.log")"
  model_address=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$state/model.json")
}
