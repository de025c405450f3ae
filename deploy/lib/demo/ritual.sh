# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The rituals of the demo: four people, their mornings and evenings, and what they do with them. Sourced after situations.sh.

create_ritual_scene() {
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/ritual.sql"
  sql tacet -f "$checkout/deploy/lib/demo/ritual.sql" >/dev/null
}

# as NAME METHOD PATH [BODY]: a request of that person's app.
as() {
  local user
  user=$(sql tacet -v name="$1" <<<"select user_id from demo.practising where name = :'name'")
  shift
  as_user "$user" "$@"
}

# as_user USER METHOD PATH [BODY]
as_user() {
  curl -sS -X "$2" "$url$3" -H @<(bearer "$(client_token "$jwt_secret" "$1")") \
    ${4:+-H 'content-type: application/json' --data-raw "$4"}
}

# titles_of SCHEDULE: each title once, in their order.
titles_of() {
  sql tacet -v body="$1" <<<"select distinct on (r ->> 'title') r ->> 'title' from jsonb_array_elements(:'body'::jsonb -> 'rows') r
    order by r ->> 'title'"
}

rows_of() { sql tacet -v body="$1" <<<"select jsonb_array_length(:'body'::jsonb -> 'rows') >= 13"; }

# send_ritual SLOT NAME...: the next rows of these people are due. Waits until they are decided.
send_ritual() {
  local slot=$1 name tries
  shift
  for name in "$@"; do sql tacet -v name="$name" -v slot="$slot" <<<"select demo.make_due(:'name', :'slot')" >/dev/null; done
  for ((tries = 0; tries < 400; tries++)); do
    if [[ $(sql tacet <<<"select count(*) from demo.rituals where fire_at <= clock_timestamp()
      and (status = 'scheduled' or status = 'sent' and outcome is null)") == 0 ]]; then return; fi
    sleep 0.05
  done
  return 0 # what is missing shows as a difference
}

# shown SLOT: person, title and body of the rows that were sent, without the action, which goes by the day.
shown() {
  sql tacet -F ' | ' -v slot="$1" <<<"
    select name, title, case when body ~ ' [(][0-9]+ sec[)]\$' then 'a micro-action' else body end
    from demo.rituals where slot = :'slot' and status = 'sent' and outcome = 'sent' order by name"
}

explain_ritual() {
  local user
  user=$(sql tacet -v name="$1" <<<"select user_id from demo.practising where name = :'name'")
  explain --campaign ritual --user "$user" | head -n "${2:-12}" | sed 's/^/      /'
}

play_ritual() {
  local name identifier answer
  headline 'Rituals: the schedules of four people'
  for name in Ana Ben Cem Dana; do
    expect "$name has seven mornings and evenings" t "$(rows_of "$(as "$name" GET '/v1/schedule')")"
  done
  headline 'Their morning'
  send_ritual 0800 Ana Ben Cem Dana
  expect 'each gets what fits: three terrains, streaks of three and four, and a placeholder before onboarding' \
    'Ana | Your Low Flame body thrives with warmth | a micro-action
Ben | Day 4 — your High Noon rhythm | a micro-action
Cem | Your Still Water body thrives with balance | a micro-action
Dana | Good morning | Your daily routine is ready.' "$(shown 0800)"
  headline 'Their evening'
  send_ritual 2000 Ana Ben Cem Dana
  expect 'the same of the evening' 'Ana | Time to settle your Low Flame pattern | a micro-action
Ben | Day 4 — wind-down time | a micro-action
Cem | Time to settle your Still Water pattern | a micro-action
Dana | Good evening | Your daily routine is ready.' "$(shown 2000)"
  explain_ritual Ana
  play_action
  play_switch
  play_armed
}

play_action() {
  headline 'Ana did it: DID_THIS from the notification'
  # At noon, the next evening is today's.
  identifier=$(sql tacet <<<"select format('ritual.2000.%s', fire_date) from demo.rituals
    where name = 'Ana' and slot = '2000' and status = 'sent'")
  answer=$(as Ana POST /v1/actions "{\"id\": \"$(</proc/sys/kernel/random/uuid)\", \"action\": \"DID_THIS\", \"identifier\": \"$identifier\",
    \"at\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}")
  expect 'the answer is her streak' '{"streak": 4}' "$answer"
  expect 'which her schedule says at once' 'Day 4 — wind-down time
Day 4 — your Low Flame rhythm' "$(titles_of "$(as Ana GET /v1/schedule)")"
}

play_switch() {
  headline 'Ben switches rituals off, and on again'
  answer=$(as Ben PUT /v1/slots/ritual '{"enabled": false, "slots": [{"slot": "0800", "phase": "morning"}, {"slot": "2000", "phase": "evening"}]}')
  expect 'off: nothing is left of his schedule' 0 "$(sql tacet -v body="$answer" <<<"select jsonb_array_length(:'body'::jsonb -> 'rows')")"
  expect 'and the rows say so' 'switched_off' "$(sql tacet <<<"select distinct reason from demo.rituals where name = 'Ben' and status = 'cancelled'")"
  answer=$(as Ben PUT /v1/slots/ritual '{"enabled": true, "slots": [{"slot": "0830", "phase": "morning"}, {"slot": "2000", "phase": "evening"}]}')
  expect 'on, with another morning: it is in his schedule at once' '0830 2000' "$(sql tacet -v body="$answer" <<<"
    select string_agg(distinct r ->> 'slot', ' ') from jsonb_array_elements(:'body'::jsonb -> 'rows') r")"
}

play_armed() {
  headline "Cem's device shows the next morning by itself"
  identifier=$(sql tacet <<<"select format('ritual.0800.%s', min(fire_date)) from demo.rituals
    where name = 'Cem' and slot = '0800' and status = 'scheduled'")
  answer=$(as Cem POST /v1/telemetry "{\"events\": [{\"id\": \"$(</proc/sys/kernel/random/uuid)\", \"code\": \"armed\", \"slotId\": \"0800\",
    \"identifier\": \"$identifier\", \"device_token\": \"$(sql tacet <<<"select t.device_token from push_tokens t
      join demo.practising p on p.user_id = t.user_id where p.name = 'Cem'")\", \"whenMs\": $(date +%s%3N), \"attempt\": 1,
    \"networkState\": \"online\", \"tzOffset\": 0, \"appState\": \"background\", \"timestamp\": $(date +%s%3N)}]}")
  expect 'the acknowledgement is taken' '1 0' "$(sql tacet -F ' ' -v body="$answer" <<<"
    select j ->> 'accepted', j ->> 'duplicates' from (select :'body'::jsonb) x (j)")"
  send_ritual 0800 Cem
  expect 'so nothing is pushed' 'armed -' "$(sql tacet -F ' ' -v identifier="$identifier" <<<"
    select status, coalesce(push_id::text, '-') from demo.rituals
    where name = 'Cem' and format('ritual.%s.%s', slot, fire_date) = :'identifier'")"
  explain_ritual Cem
}
