# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench lapse: how long the detection of lapsed users takes. Sourced; needs measure.sh and bench-campaigns.sh.
#
# All users are in one zone, so one hour concerns all of them; bench-lapse.sql has who they are. The hour is served several times in
# a session with the settings of the service: rolled back, except for the last time. The plan is that of the query in the function,
# of a separate call. Then the figures of GET /v1/engagement over all users.

lapse_looks=3
# In seconds, for 100,000 users: the requirement, and what a statement of the service may take.
detection_seconds_max=30
statement_seconds_max=5
# Of PushDatabase.serviceSettings.
service_settings='set enable_seqscan = off; set jit = off; set plan_cache_mode = force_generic_plan; set enable_bitmapscan = off;
  set enable_memoize = off; set synchronous_commit = off'

measure_lapse() {
  local users=100000
  if $1; then users=20000; fi
  start_cluster
  measure_absence "$users" 10 "$detection_seconds_max"
  if ! $1; then measure_absence 1000000 1 ''; fi
}

# measure_absence USERS MESSAGES BOUND: without a bound, the figures are only printed.
measure_absence() {
  headline "$1 users in one zone; pushes of messages for each: $2"
  make_absence "$1" "$2"
  detect_lapse "$1" "$3"
  say '  what keeps it from whom:'
  count_refusals
  time_engagement
  show_look "select count(*) from tacet.campaign_eligible('lapse', '$due_at', '$zone')"
}

make_absence() {
  create_database
  migrate_host_tables
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/coach.sql" -f "$checkout/db/examples/engagement.sql"
  sql postgres -f "$checkout/deploy/lib/measure.sql" -f "$checkout/deploy/lib/bench-lapse.sql"
  sql postgres -c "call measure.fill_absence($1, $2)"
  sql postgres -c 'vacuum analyze' -c checkpoint
  IFS='|' read -r zone local_day due_at < <(sql postgres <<<'select zone, local_day, due_at from measure.hour')
}

# detect_lapse USERS BOUND
detect_lapse() {
  local detection="select tacet.enrol_slot('lapse', '$zone', '$local_day', '$due_at')" look times middle low high text
  times=$(
    {
      printf '%s;\n\\timing on\n' "$service_settings"
      for ((look = 1; look < lapse_looks; look++)); do printf 'begin;\n%s;\nrollback;\n' "$detection"; done
      printf '%s;\n' "$detection"
    } | sql tacet | awk '/^[0-9]+$/ { getline; print $2 / 1000 }'
  )
  # shellcheck disable=SC2086 # a word for each time
  read -r middle low high < <(median $times)
  text=$(printf 'detection among %s users, in seconds: %.2f (%.2f … %.2f)' "$1" "$middle" "$low" "$high")
  if [[ -z $2 ]]; then
    say "  $text"
    return
  fi
  check "$text" "$high" '<=' "$2"
  check '  of which the service ends a statement after' "$high" '<=' "$statement_seconds_max"
}

# Those enrolled, and the rest by the first word that keeps it back.
count_refusals() {
  sql tacet <<SQL
    $service_settings;
    select '  ' || lpad(count(*)::text, 8) || ' ' || coalesce(r.refusal, 'enrolled')
    from (
      select coalesce(a.refusal, g.reason) as refusal
      from tacet.lapse_audience('$due_at', null) a
      left join lateral tacet.campaign_day(a.time_zone, a.gap_days, '$due_at') d on a.refusal is null
      left join lateral tacet.campaign_gate(
        a.user_id, false, 'check_in', tacet.campaign_push_types('check_in'), d.local_day, d.day_start, d.day_end, d.gap_start
      ) g on a.refusal is null
    ) r
    group by r.refusal
    order by count(*) desc
SQL
}

time_engagement() {
  local times
  times=$(printf '%s;\n\\timing on\n%s;\n' "$look_settings" \
    "select e.* from tacet.engagement('$due_at'::timestamptz - interval '7 days', '$due_at') e" | sql tacet)
  say "  total, active, recent, lapsed, at risk, sessions and their seconds: $(sed -n 's/|/, /gp' <<<"$times")"
  say "  tacet.engagement, in milliseconds: $(sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' <<<"$times")"
}
