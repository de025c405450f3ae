# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The shadow of the demo: Tacet decides and sends nothing, beside a sender of the usual recipe; then both are compared. Sourced after
# situations.sh.

compare() {
  env -i DATABASE_URL="$(service_conninfo)" DATABASE_POOL_MODE="$(service_pool_mode)" "$programs/tacet" compare "$@"
}

has_sender_begun() { [[ $(sql tacet <<<"select to_regclass('public.push_attempts') is not null") == t ]]; }

# What becomes of a message when its recipient, who was looking, does this.
after_message() {
  insert_message "$1" >/dev/null
  sql app -v name="$1" <<<"update public.conversation_participants c set $2 from demo.recipients r, demo.situations s
    where r.situation = :'name' and s.name = r.situation and r.is_viewing and c.conversation_id = s.conversation_id
      and c.user_id = r.user_id"
}

simulator_pushes() {
  curl -fsS "$simulator_control/pushes?limit=10000" | { grep -oE '"status" *: *200' || true; } | wc -l
}

# counted WORDS: the number of a line of the report.
counted() { sed -n "s/^ *$1  *\([0-9]*\)\$/\1/p" <<<"$report"; }

play_shadow() {
  local began pushes settings=$more_settings report
  headline 'A shadow beside another sender: decided and recorded, not sent'
  stop_process tacet || true
  more_settings="SHADOW=true
$settings"
  start_service "$port" || die "the shadow did not start; see $state/tacet.log"
  start_process psql psql -X -q -o "$state/attempts.out" -d "$(conninfo tacet)" -f "$checkout/deploy/lib/shadow-sender.sql"
  wait_until 15 psql has_sender_begun || die "The other sender did not start: $(tail -n 5 "$state/psql.log")"
  pushes=$(simulator_pushes)
  began=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
  insert_message away >/dev/null
  insert_message read >/dev/null
  insert_message no-device >/dev/null
  after_message viewing 'left_at = clock_timestamp()'
  after_message group 'last_seen = clock_timestamp()'
  is_none_within 10 "select 8 - count(*) from tacet.push_log
    where enqueued_at >= '$began' and decision <> 'held' and push_type = 'message'" || true
  is_none_within 10 'select 6 - count(*) from push_attempts' || true
  stop_process psql || true
  say "  $(compare --table public.push_attempts --time-column attempted_at --outcome-column status)"
  report=$(compare --from "$began")
  say "      ${report//$'\n'/$'\n'      }"
  expect 'both push to who is away' 2 "$(counted 'both pushed')"
  expect 'the other alone to who has read it' 2 "$(counted already_read)"
  expect 'and it misses who looked away without having seen it' 1 "$(counted nothing)"
  expect 'APNs got nothing' "$pushes" "$(simulator_pushes)"
  stop_process tacet || true
  more_settings=$settings
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
}
