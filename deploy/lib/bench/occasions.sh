# deploy/bench occasions: what pushes cost that no message asks for. Sourced; needs measure.sh and runs.sh.
#
# Users are given a time of day by a campaign, what it says to them is rendered, and it is pushed: each step for all of them at one
# moment, as at eight in a large zone. Then the hour of a campaign of texts comes, and they are told something. Then the hour of another
# campaign comes in one zone with ten times as many users, who are enrolled. A step happens alone, which tells what an occasion costs,
# and once more beside messages, which tells how long those wait: from their commit, before the disk has it, to the acceptance that
# the ledger has. Each is a line of JSON in .bench/runs.jsonl: processor time of PostgreSQL and of the service in microseconds and WAL
# in bytes, for each user.

occasions_rate=300
# In seconds: the longest that a step may take, and how long before it begins it is made due. Messages come from then on.
occasions_wait=180
occasions_lead=25
# Bounds: seconds for the users of a step, and milliseconds of a message beside it.
rendered_max=30
pushed_max=60
said_max=75
beside_p99_max=10

measure_occasions() {
  local users=$1 beside day=1
  headline "Starting: $users users of one time of day"
  start_cluster
  make_host tacet 20000 10000 0 2 2000
  sql postgres <<<'create extension pg_walinspect schema public'
  start_apns
  register_readers
  service_key=$(openssl rand -hex 24)
  more_settings="PUSH_TRIGGER_ENABLED=true
SERVICE_KEY=$service_key"
  make_occasion_users "$users"
  start_service_anywhere >/dev/null
  measure_step enrolled alone "$users" 'tacet.slots where true' 'select' "update tacet.campaigns set is_active = true where name = 'ritual'"
  if ((misses > 0)); then die 'Nothing can be rendered.'; fi
  for beside in alone beside; do
    measure_step rendered "$beside" "$users" "tacet.occasions where status = 'scheduled'" \
      'update tacet.slots set available_at = to_timestamp(:moment); vacuum analyze tacet.slots'
    check "$users users: rendered, in seconds: $step_seconds" "$step_seconds" '<' "$rendered_max"
    measure_step pushed "$beside" "$users" "tacet.push_log where push_type = 'ritual' and decision = 'sent' and enqueued_at >= to_timestamp(:moment)" \
      "update tacet.occasions set fire_at = to_timestamp(:moment), available_at = to_timestamp(:moment) where status = 'scheduled';
      vacuum analyze tacet.occasions"
    check "$users users: pushed, in seconds: $step_seconds" "$step_seconds" '<' "$pushed_max"
    check 'users with more than one push' "$(sql tacet <<<"select count(*) from (
      select from tacet.push_log where push_type = 'ritual' group by user_id having count(*) > $day) x")" '==' 0
    day=2
  done
  measure_said "$users"
  measure_hours $((10 * users))
}

# measure_said USERS: a campaign of a template comes at an hour, so its users are enrolled, decided and pushed.
measure_said() {
  local beside
  headline "One hour of $1 users who are told something"
  sql tacet <<SQL
    insert into tacet.campaigns (name, audience, material, push_types, needs_no_session, is_active, definition) values
    ('talk', 'tacet.ritual_audience', 'tacet.check_in_material', '{occasion}', false, false,
      '{"layers": ["occasion"], "occasion": "evening", "texts": [{"title": "Your {theme}", "body": "What was good today?"}]}');
SQL
  for beside in alone beside; do
    sql postgres <<<"truncate tacet.campaign_runs; delete from tacet.occasions where campaign = 'talk'"
    measure_step said "$beside" "$1" "tacet.push_log where push_type = 'occasion' and decision = 'sent' and enqueued_at >= to_timestamp(:moment)" \
      "update tacet.campaigns set is_active = name in ('coach', 'talk'), local_time = (to_timestamp(:moment) at time zone 'UTC'
        + case name when 'coach' then interval '6 hours' else interval '0' end)::time"
    check "$1 users: told, in seconds: $step_seconds" "$step_seconds" '<' "$said_max"
  done
}

# measure_hours USERS: undecided users are forgotten after each hour; the runner would go on with them.
measure_hours() {
  local beside
  headline "One hour of $1 users"
  end_service
  make_hour_users "$1"
  for beside in alone beside; do
    sql postgres <<<"truncate tacet.campaign_runs, tacet.occasions;
      update tacet.campaigns set is_active = name = 'coach', local_time = (now() at time zone 'Europe/Vienna' + interval '6 hours')::time"
    start_service_anywhere >/dev/null
    measure_step hour "$beside" "$1" "tacet.occasions where campaign = 'coach'" \
      "update tacet.campaigns set local_time = (to_timestamp(:moment) at time zone 'Europe/Vienna')::time where name = 'coach'"
    end_service
  done
}

end_service() { stop_process tacet || die "The service did not stop well; see $state/tacet.log"; }

# make_occasion_users USERS: with a device each that the simulator knows. Nothing is due for twelve hours.
make_occasion_users() {
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/ritual.sql" -f "$checkout/db/examples/coach.sql"
  add_occasion_users 1 "$1"
  sql tacet <<SQL
    insert into terrain_profiles (user_id, terrain_type, nickname)
    select measure.id('occasion', n), 'cold_balanced', 'Low Flame' from generate_series(1, $1) as n;
    update tacet.campaigns
    set is_active = name = 'coach', definition = case name when 'ritual' then
      jsonb_set(definition, '{slots}', '[{"slot": "$(TZ=UTC date -d '12 hours' +%H%M)", "phase": "morning"}]') else definition end;
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

# make_hour_users USERS: of a zone; those of before are among them.
make_hour_users() {
  local known
  known=$(sql tacet <<<'select count(*) from terrain_profiles')
  add_occasion_users $((known + 1)) "$1"
  sql postgres <<SQL
    insert into context_profiles (user_id, time_zone, notification_preferences)
    select measure.id('occasion', n), 'Europe/Vienna', '{"check_ins_enabled": true, "frequency": "daily"}' from generate_series(1, $1) as n;
SQL
  sql postgres -c 'vacuum analyze' -c checkpoint
}

# add_occasion_users FIRST LAST
add_occasion_users() {
  sql postgres <<SQL
    set session_replication_role = replica;
    insert into profiles (id, name) select measure.id('occasion', n), 'Ada' from generate_series($1, $2) as n;
    insert into push_tokens (user_id, device_token, time_zone)
    select measure.id('occasion', n), encode(sha256(('occasion' || n)::bytea), 'hex'), 'UTC' from generate_series($1, $2) as n;
SQL
}

# measure_step NAME alone|beside USERS FROM SQL [SQL]: the first SQL makes a step due at :moment, the second begins it then. It is over
# when FROM has a row for each user. Sets step_seconds.
measure_step() {
  local name=$1 way=$2 users=$3 moment before after place share value figures
  moment=$(($(date +%s) + occasions_lead))
  sql postgres -v moment="$moment" <<<"$5"
  (($(date +%s) < moment - 5)) || die "Making it due took too long: $name"
  if [[ $way == beside ]]; then
    insert_load "$state/load" -c 4 -j 1 -R "$occasions_rate" -T 3600 2>/dev/null &
    load_pid=$!
  fi
  sleep $((moment - 1 - $(date +%s)))
  # The service begins by itself.
  place=$(sql postgres <<<'select pg_current_wal_insert_lsn()')
  before=($(cluster_ticks) $(processor_ticks "$(process_pid tacet)"))
  while (($(date +%s) < moment)); do sleep 0.05; done
  sql postgres <<<"${6:-select}"
  wake_campaigns
  if ! await_users "$users" "$4" "$moment"; then
    complain "  $name, $way: not all of $users users within $occasions_wait s; see $state/tacet.log"
    misses=$((misses + 1)) step_seconds=$occasions_wait
    if [[ $way == beside ]]; then stop_load; fi
    return
  fi
  step_seconds=$(calculate "$(date +%s.%N) - $moment")
  after=($(cluster_ticks) $(processor_ticks "$(process_pid tacet)"))
  figures=("seconds=$step_seconds")
  if [[ $way == alone ]]; then
    figures+=("database_us=$(ticks_each $((after[0] - before[0])) "$users")"
      "service_us=$(ticks_each $((after[1] + after[2] - before[1] - before[2])) "$users")"
      "wal_bytes=$(wal_bytes "$place" "$users")")
  else
    stop_load
    for share in 50 99; do
      value=$(waited "$share" "$moment" "$step_seconds")
      figures+=("before_p${share}_ms=$(waited "$share" $((moment - occasions_lead / 2)) $((occasions_lead / 2)))" "p${share}_ms=$value")
    done
    check "messages beside it, $name, p99 in milliseconds: $value" "$value" '<=' "$beside_p99_max"
  fi
  note_run "$name-$way" tacet 1 "users=$users" "${figures[@]}"
  say "  $name, $way: ${figures[*]}"
}

# wake_campaigns: which look every 20 seconds otherwise. Nobody is looked at for it.
wake_campaigns() {
  curl -fsS -X POST "$url/v1/push-trigger?user_id=00000000-0000-0000-0000-000000000000" -H @<(bearer "$service_key") >/dev/null
}

# await_users USERS FROM MOMENT: looks at a few users first, because counting all costs what is measured.
await_users() {
  local deadline=$((SECONDS + occasions_wait)) few
  few="select count(*) = 40 from $2 and user_id = any (array(select measure.id('occasion', n * $(($1 / 40))) from generate_series(1, 40) n))"
  until [[ $(sql postgres -v moment="$3" <<<"$few") == t && $(sql postgres -v moment="$3" <<<"select count(*) from $2") == "$1" ]]; do
    ((SECONDS < deadline)) || return 1
    sleep 0.3
  done
}

# wal_bytes PLACE USERS: from there to now, without page images, which depend on the last checkpoint. Only what the disk has can be read.
wal_bytes() {
  sql postgres -v place="$1" -v users="$2" <<<"select pg_current_wal_insert_lsn() as here \\gset
    select pg_sleep(1) \\g /dev/null
    select round(sum(s.record_size) / :users) from public.pg_get_wal_stats(:'place', :'here') s"
}

# waited PERCENT MOMENT SECONDS: in milliseconds, of the messages that came then.
waited() {
  sql postgres -v share="$1" -v moment="$2" -v seconds="$3" <<<"select round(1000 * percentile_cont(:share / 100.0) within group (
      order by extract(epoch from l.sent_at - pg_xact_commit_timestamp(m.xmin)))::numeric, 1)
    from public.messages m join tacet.push_log l on l.subject_id = m.id and l.push_type = 'message' and l.decision = 'sent'
    where m.created_at between to_timestamp(:moment) and to_timestamp(:moment + :seconds)"
}

# pgbench is the only child. What came last is waited for.
stop_load() {
  pkill -P "$load_pid" || die "pgbench failed: $(tail -n 3 "$state/load.report")"
  wait "$load_pid" || true
  load_pid=
  await_empty_inbox
  await_no_deliveries
}
