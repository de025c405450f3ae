# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The shadow of the demo: Tacet decides and sends nothing, beside a sender of the usual recipe; then both logs are joined. Sourced
# after situations.sh.

# compare_since TIME: for each verdict and reason of Tacet, how many pairs of message and user.
compare_since() {
  sql tacet <<<"select
      case
        when o.message_id is null then 'only Tacet pushed'
        when l.reason = 'shadow' then 'both pushed'
        else 'only the other pushed'
      end, l.reason, count(*)
    from (select * from tacet.push_log where push_type = 'message' and enqueued_at >= '$1') l
    full join (select distinct message_id, user_id from push_attempts where attempted_at >= '$1' and status = 'sent') o
      on o.message_id = l.subject_id and o.user_id = l.user_id
    where o.message_id is not null or l.reason = 'shadow'
    group by 1, 2 order by 1, 2"
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

# counted VERDICT: the number of a line of the report.
counted() { sed -n "s/^$1[|]\([0-9]*\)\$/\1/p" <<<"$report"; }

play_shadow() {
  local began pushes settings=$more_settings report
  headline 'A shadow beside another sender: decided and recorded, not sent'
  stop_process tacet || true
  more_settings="SHADOW=true
$settings"
  start_service "$port" || die "the shadow did not start; see $state/tacet.log"
  start_process psql psql -X -q -o "$state/attempts.out" -d "$(conninfo tacet)" -f "$checkout/deploy/lib/demo/shadow-sender.sql"
  wait_until 15 psql has_sender_begun || die "The other sender did not start: $(tail -n 5 "$state/psql.log")"
  pushes=$(simulator_pushes)
  began=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
  insert_message away >/dev/null
  insert_message read >/dev/null
  insert_message no-device >/dev/null
  after_message viewing 'tacet_left_at = clock_timestamp()'
  after_message group 'last_seen = clock_timestamp()'
  is_none_within 10 "select 8 - count(*) from tacet.push_log
    where enqueued_at >= '$began' and decision <> 'held' and push_type = 'message'" || true
  is_none_within 10 'select 6 - count(*) from push_attempts' || true
  stop_process psql || true
  report=$(compare_since "$began")
  say "  ${report//$'\n'/$'\n'  }"
  expect 'both push to who is away' 2 "$(counted 'both pushed|shadow')"
  expect 'the other alone to who has read it' 2 "$(counted 'only the other pushed|already_read')"
  expect 'and it misses who looked away without having seen it' 1 "$(counted 'only Tacet pushed|shadow')"
  expect 'APNs got nothing' "$pushes" "$(simulator_pushes)"
  stop_process tacet || true
  more_settings=$settings
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
}
