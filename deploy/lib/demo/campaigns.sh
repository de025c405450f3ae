# The demo's campaigns: a coach, rituals, people of all degrees of engagement, news. Sourced after scene.sh.

# trigger_campaigns [PARAMETERS]: the run's answer and, on a line of its own, its status.
trigger_campaigns() {
  curl -sS -w '\n%{http_code}' -X POST "$url/v1/push-trigger${1:-}" -H @<(bearer "$service_key") \
    -H 'prefer: wait=30'
}

# expect_run WHAT EXPECTED [PARAMETERS]: users noted, pushes, users told nothing, failures and the status of a run.
expect_run() {
  local answer
  answer=$(trigger_campaigns "${3:-}")
  say "      ${answer//$'\n'/ }"
  expect_in "${answer%$'\n'*}" "$1" "$2" "j ->> 'enrolled', j ->> 'committed', j ->> 'skipped', j ->> 'failed', :status" \
    status="${answer##*$'\n'}"
}

# explain_to NAME CAMPAIGN LINES: from the database alone, as an operator would ask.
explain_to() { show_explained "$3" --campaign "$2" --user "$(person "$1")"; }

# conclude_check_in NAME TITLE EXPECTED: what was decided about what, the pushes, and the title that arrived at the simulator, if any.
conclude_check_in() {
  headline "$2"
  explain_to "$1" coach 100
  expect_row "$3" "$3" "select concat_ws(' | ', decision, coalesce(reason, '-'), layer, pushes, payload #>> '{aps,alert,title}')
    from demo.check_ins where name = :'name'" name="$1"
}

play_coach() {
  local answer
  headline 'The coach looks at five people: first a dry run, then the run of the day'
  answer=$(trigger_campaigns '?dry_run=true')
  expect_in "${answer%$'\n'*}" 'a dry run: there is something to tell four of them, and nothing was decided' '5 | 4 | 200 | 0' \
    "j ->> 'eligible', jsonb_array_length(jsonb_path_query_array(j, '\$.users[*] ? (@.would_send == true)')),
      :status, (select count(*) from tacet.occasions)" status="${answer##*$'\n'}"
  expect_run 'three pushes, and two people who are told nothing' '5 | 3 | 2 | 0 | 200'
  await 'select not exists (select from demo.check_ins where push_id is not null and outcome is null)'
  load_pushes
  conclude_check_in Eva 'Eva named a presentation, which is tomorrow: sent' 'committed | - | event | 1 | Your presentation is tomorrow'
  conclude_check_in Paul 'Paul was away for two days, and something comes up again and again: sent' \
    'committed | - | pattern | 1 | Something about saying yes too fast'
  conclude_check_in Rita 'Rita was away for five days: sent' 'committed | - | re_engagement | 1 | Still thinking about health'
  conclude_check_in Nils 'Nils wrote yesterday, and nothing comes up: nothing is sent' 'skipped | nothing_to_say | 0'
  conclude_check_in Mona "Mona has an interview, and the model repeats Mona's words: nothing is sent" \
    'skipped | reply_quotes_user | event | 0'
  expect_row 'the app is told where to go' 'new_conversation | event_based | work | t' "
    select payload ->> 'action', payload ->> 'push_type', payload ->> 'domain', payload ? 'push_log_id'
    from demo.check_ins where name = 'Eva'"
  expect_run 'asked again on the same day, it looks at nobody' '0 | 0 | 0 | 0 | 200'
}

# send_ritual SLOT NAME...: the next rows of these people are due. Waits until they are decided.
send_ritual() {
  local slot=$1 name
  shift
  for name in "$@"; do ask "select demo.make_due(:'name', :'slot')" name="$name" slot="$slot" >/dev/null; done
  await "select not exists (select from demo.rituals where fire_at <= clock_timestamp()
    and (status = 'scheduled' or status = 'sent' and outcome is null))"
}

# expect_rituals WHAT EXPECTED SLOT: person, title and body of the rows that were sent, without the action, which goes by the day.
expect_rituals() {
  expect_row "$1" "$2" "select name, title, case when body ~ ' [(][0-9]+ sec[)]\$' then 'a micro-action' else body end
    from demo.rituals where slot = :'slot' and status = 'sent' and outcome = 'sent' order by name" slot="$3"
}

play_ritual() {
  local name
  headline 'Rituals: the schedules of four people'
  for name in Ana Ben Cem Dana; do
    expect_in "$(as "$name" GET '/v1/schedule')" "$name has seven mornings and evenings" t "jsonb_array_length(j -> 'rows') >= 13"
  done
  headline 'Their morning'
  send_ritual 0800 Ana Ben Cem Dana
  expect_rituals 'each gets what fits: three terrains, streaks of three and four, and a placeholder before onboarding' \
    'Ana | Your Low Flame body thrives with warmth | a micro-action
Ben | Day 4 — your High Noon rhythm | a micro-action
Cem | Your Still Water body thrives with balance | a micro-action
Dana | Good morning | Your daily routine is ready.' 0800
  headline 'Their evening'
  send_ritual 2000 Ana Ben Cem Dana
  expect_rituals 'the same of the evening' 'Ana | Time to settle your Low Flame pattern | a micro-action
Ben | Day 4 — wind-down time | a micro-action
Cem | Time to settle your Still Water pattern | a micro-action
Dana | Good evening | Your daily routine is ready.' 2000
  explain_to Ana ritual 12
  play_action
  play_switch
  play_armed
}

# act NAME ACTION IDENTIFIER: of a notification; the answer.
act() {
  as "$1" POST /v1/actions "{\"id\": \"$(</proc/sys/kernel/random/uuid)\", \"action\": \"$2\", \"identifier\": \"$3\",
    \"at\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
}

play_action() {
  local identifier
  headline 'Ana did it: DID_THIS from the notification'
  # At noon, the next evening is today's.
  identifier=$(ask "select format('ritual.2000.%s', fire_date) from demo.rituals
    where name = 'Ana' and slot = '2000' and status = 'sent'")
  expect 'the answer is her streak' '{"streak": 4}' "$(act Ana DID_THIS "$identifier")"
  expect_in "$(as Ana GET /v1/schedule)" 'which her schedule says at once' \
    'Day 4 — wind-down time; Day 4 — your Low Flame rhythm' \
    "(select string_agg(distinct r ->> 'title', '; ' order by r ->> 'title') from jsonb_array_elements(j -> 'rows') r)"
}

play_switch() {
  local answer
  headline 'Ben switches rituals off, and on again'
  answer=$(as Ben PUT /v1/slots/ritual '{"enabled": false, "slots": [{"slot": "0800", "phase": "morning"}, {"slot": "2000", "phase": "evening"}]}')
  expect_in "$answer" 'off: nothing is left of his schedule' 0 "jsonb_array_length(j -> 'rows')"
  expect_row 'and the rows say so' 'switched_off' "select distinct reason from demo.rituals where name = 'Ben' and status = 'cancelled'"
  answer=$(as Ben PUT /v1/slots/ritual '{"enabled": true, "slots": [{"slot": "0830", "phase": "morning"}, {"slot": "2000", "phase": "evening"}]}')
  expect_in "$answer" 'on, with another morning: it is in his schedule at once' '0830 2000' \
    "(select string_agg(distinct r ->> 'slot', ' ') from jsonb_array_elements(j -> 'rows') r)"
}

play_armed() {
  local identifier answer
  headline "Cem's device shows the next morning by itself"
  identifier=$(ask "select format('ritual.0800.%s', min(fire_date)) from demo.rituals
    where name = 'Cem' and slot = '0800' and status = 'scheduled'")
  answer=$(as Cem POST /v1/telemetry "{\"events\": [{\"id\": \"$(</proc/sys/kernel/random/uuid)\", \"code\": \"armed\", \"slotId\": \"0800\",
    \"identifier\": \"$identifier\", \"device_token\": \"$(device Cem)\", \"whenMs\": $(date +%s%3N), \"attempt\": 1,
    \"networkState\": \"online\", \"tzOffset\": 0, \"appState\": \"background\", \"timestamp\": $(date +%s%3N)}]}")
  expect_in "$answer" 'the acknowledgement is taken' '1 | 0' "j ->> 'accepted', j ->> 'duplicates'"
  send_ritual 0800 Cem
  expect_row 'so nothing is pushed' 'armed | -' "select status, coalesce(push_id::text, '-') from demo.rituals
    where name = 'Cem' and format('ritual.%s.%s', slot, fire_date) = :'identifier'" identifier="$identifier"
  explain_to Cem ritual 12
}

# An app that arms its slots itself, with the JavaScript client.
play_device() {
  local user
  headline "Dana's device arms a week, goes offline, travels and returns"
  user=$(person Dana)
  expect 'at each step the mornings and evenings of the week are armed, by the clock where the device is' \
    'at home: the week at 08:00 20:00
offline: the week at 08:00 20:00
offline, in another zone: the week at 08:00 20:00
online again, there: the week at 08:00 20:00
back at home: the week at 08:00 20:00' \
    "$(node "$checkout/deploy/lib/demo/device.mjs" "$url" "$(client_token "$jwt_secret" "$user")" "$(device Dana)" \
      "$(ask 'select demo.zone_at(12)')" Pacific/Auckland)"
  expect_row 'the service knows what the device shows by itself, and pushes none of it' 't | 0' "
    select count(*) filter (where status = 'armed') >= 11, count(*) filter (where status = 'armed' and push_id is not null)
    from tacet.occasions where user_id = :'user' and fire_at > clock_timestamp()" user="$user"
}

# arrived NAME TYPE: title, body, category, level and collapse identifier of each such push at the simulator.
arrived() {
  load_pushes
  ask "select title, body, category, level, collapse_id from demo.arrived
    where name = :'name' and type = :'type' order by number" name="$1" type="$2"
}

# expect_arrived WHAT EXPECTED NAME TYPE: compares what arrived, and shows it.
expect_arrived() {
  local text
  text=$(arrived "$3" "$4")
  say "      ${text:-(nothing)}"
  expect "$1" "$2" "$text"
}

play_engagement() {
  play_classes
  play_lapse
  play_reminders
  play_snooze
  play_achievement
}

play_classes() {
  local answer
  headline 'Engagement: five people, by the time since they were last active'
  # The people of the other situations were not active before.
  answer=$(curl -sS "$url/v1/engagement?to=$(ask "select to_char(max(seen_at) at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')
    from demo.engaged")" -H @<(bearer "$service_key"))
  say "      ${answer//$'\n'/ }"
  expect_in "$answer" 'in all, active, recent, lapsed, at risk, and the rate' '5 | 1 | 1 | 1 | 2 | 0.2' \
    "j ->> 'total_users', j ->> 'active_users', j ->> 'recent_users', j ->> 'lapsed_users', j ->> 'churn_risk_users',
      j ->> 'engagement_rate'"
  expect_in "$answer" 'three sessions in the week, of ten minutes' '0.6 | 600' "j ->> 'avg_sessions_per_week', j ->> 'avg_session_seconds'"
  expect_row 'and each of them' 'Ida active, Lena lapsed, Olaf churn_risk, Ravi recent, Sam churn_risk' "
    select string_agg(e.name || ' ' || tacet.engagement_class(e.seen_at - a.last_active), ', ' order by e.name)
    from demo.engaged e join tacet.activity a using (user_id)"
}

play_lapse() {
  headline 'Lena, Olaf and Sam stay away: each is asked back as they want it'
  expect_row 'the reasons against it, for three of them' 'Ida not_lapsed, Ravi not_lapsed, Sam space_wanted' "
    select string_agg(e.name || ' ' || l.refusal, ', ' order by e.name)
    from demo.engaged e cross join tacet.lapse_audience(now(), e.user_id) l"
  expect_run 'two pushes' '2 | 2 | 0 | 0 | 200' '?campaign=lapse'
  await "select not exists (select from tacet.occasions d where d.campaign = 'lapse' and d.push_id is not null
    and not exists (select from tacet.push_log l where l.subject_id = d.push_id))"
  expect_arrived 'Lena, check_in_on_me: the words of the model' \
    'Still five kilometres? | Ten easy minutes would be a fine beginning, Lena. | RE_ENGAGEMENT | time-sensitive | lapse_5' \
    Lena reengagement
  expect_arrived 'Olaf, light_nudge: the model is too slow, so the template' \
    'We miss you! | Your coach is waiting to help you get back on track. | RE_ENGAGEMENT | time-sensitive | lapse_9' \
    Olaf reengagement
  expect_arrived 'Sam, give_me_space: nothing' '' Sam reengagement
  explain_to Sam lapse 100
  expect_attempts 'the attempts are counted' 'Lena 1, Olaf 1, Sam 0'
  as Lena POST /v1/activity >/dev/null
  expect_attempts 'until Lena is back' 'Lena 0, Olaf 1, Sam 0'
}

expect_attempts() {
  expect_row "$1" "$2" "select string_agg(e.name || ' ' || a.re_engagement_attempts, ', ' order by e.name)
    from demo.engaged e join tacet.activity a using (user_id) where e.name in ('Lena', 'Olaf', 'Sam')"
}

# remind NAME CAMPAIGN SLOT...: the texts of these slots are made, and a minute later they are sent.
remind() {
  local count=$(($# / 3))
  while (($# > 0)); do
    [[ $(ask "select demo.make_soon(:'name', :'campaign', :'slot')" name="$1" campaign="$2" slot="$3") == 1 ]] ||
      die "$1 has no slot $3 of the campaign $2."
    shift 3
  done
  # A run asked for by a server also looks at slots.
  trigger_campaigns >/dev/null
  await "select count(*) = :count from demo.open_reminders where status = 'scheduled'" count="$count"
  ask 'select demo.end_minute()' >/dev/null
  trigger_campaigns >/dev/null
  await 'select not exists (select from demo.open_reminders)'
}

play_reminders() {
  headline 'Reminders: a morning, a workout, a meal, a glass of water'
  remind Ida morning 0800 Ravi workout 0730 Ida meal 1230 Ravi hydration 1240
  expect_arrived 'morning: the words of the model' \
    'Good morning, Ida! ☀️ | You slept well, and the sun is out. | DAILY_CHECK | active | morning_greeting' Ida morning
  expect_row 'with the picture of a sunny one' 'https://images.example/morning_sunny.png | 1' "
    select payload ->> 'image_url', payload #>> '{aps,mutable-content}' from demo.arrived where type = 'morning'"
  expect_arrived 'workout: the words of the model under the title of its streak' \
    "Ready for today's Run? | Five days in a row. Shoes on for the sixth? | WORKOUT | active | workout_$(workout_seconds)" Ravi workout
  expect_row 'and its type' Run "select payload ->> 'workoutType' from demo.arrived where type = 'workout'"
  # Texts take turns by user and day, so the body is one of four.
  say "      $(arrived Ida meal)"
  expect_row 'meal: the reply of the model has a link, so a template' '🥗 Lunch Reminder | t | MEAL | active | meal_lunch' "
    select a.title, a.body in (
        select replace(replace(b.body, '{meal_name}', 'Lunch'), '{meal}', 'lunch')
        from tacet.campaigns c cross join jsonb_array_elements_text(c.definition #> '{texts,0,body}') b (body) where c.name = 'meal'
      ), a.category, a.level, a.collapse_id
    from demo.arrived a where a.name = 'Ida' and a.type = 'meal'"
  expect_arrived 'hydration: always the same, without a model' \
    '💧 Hydration Time! | Time for a water break. Stay hydrated! | HYDRATION | active | hydration_reminder' Ravi hydration
}

# When the workout was due, since 1970.
workout_seconds() {
  ask "select extract(epoch from d.fire_at)::bigint
    from tacet.occasions d join demo.engaged e using (user_id) where d.campaign = 'workout' and d.status = 'sent'"
}

play_snooze() {
  local identifier
  headline 'Ravi: remind me in 30 minutes'
  identifier=$(ask "select format('workout.%s.%s', slot, fire_date) from tacet.occasions
    where user_id = demo.person('Ravi') and campaign = 'workout' and status = 'sent'")
  expect 'SNOOZE_30: the answer' '{"snoozed": true}' "$(act Ravi SNOOZE_30 "$identifier")"
  expect_row 'the same push waits for 30 minutes' "Ready for today's Run? | 30" "
    select title, round(extract(epoch from available_at - clock_timestamp()) / 60) from demo.snoozed"
  ask 'update tacet.pushes p set send_at = clock_timestamp() from demo.snoozed s where p.id = s.id;
    update tacet.inbox i set available_at = clock_timestamp() from demo.snoozed s where i.subject_id = s.id'
  await 'select not exists (select from demo.snoozed)'
  load_pushes
  expect_row 'and comes then: two pushes of one text' '2 | 1' "
    select count(*), count(distinct (title, body, collapse_id)) from demo.arrived where type = 'workout'"
  expect 'START_WORKOUT ends it' '{}' "$(act Ravi START_WORKOUT "$identifier")"
  expect 'SNOOZE_30 after it: nothing comes' '{"snoozed": false}' "$(act Ravi SNOOZE_30 "$identifier")"
}

play_achievement() {
  local id
  headline 'Ida has earned something: a row of a table of the application'
  id=$(ask "insert into public.achievements (user_id, name, description, image_url)
    values (demo.person('Ida'), 'Early Bird', 'Seven mornings before eight.', 'https://images.example/early.png') returning id")
  await "select exists (select from tacet.push_log where subject_id = :'id')" id="$id"
  expect_arrived 'achievement: by the trigger on that table, in the words of the model, and quiet' \
    "🎉 Achievement Unlocked! | Seven early mornings in a row, Ida. You make it look easy. | ACHIEVEMENT | passive | achievement_$id" \
    Ida achievement
}

# expect_news WHAT EXPECTED DAYS SECONDS ANSWER: the row of that day is due in so many seconds, and its text is fetched at once. Waits
# until it is decided; the day's status, reason, title and outcome.
expect_news() {
  local row="tacet.occasions d left join tacet.push_log l on l.subject_id = d.push_id
    where d.campaign = 'news' and d.fire_date = current_date + :days and (d.status = 'skipped' or l.decision is not null)"
  printf '%s\n' "$5" >"$host_state/news"
  ask "select demo.make_news_due(:days, :seconds)" days="$3" seconds="$4" >/dev/null
  # A run asked for by a server also looks at slots; without it the service looks every ten seconds.
  trigger_campaigns >/dev/null
  await "select exists (select from $row)" days="$3"
  expect_row "$1" "$2" "select d.status, coalesce(d.reason, '-'), coalesce(d.title, '-'), coalesce(l.decision, '-') from $row" days="$3"
}

fetched_with() { tail -n 1 "$host_state/requests"; }

play_news() {
  headline 'News: a text that is fetched before it is due'
  expect_news 'the host answers: the push has its words' 'sent | - | The lake is open | sent' 1 3 200
  expect 'and got the credential' "None $content_credential" "$(fetched_with)"
  expect_news 'nothing new on the next day, 304: the same words' 'sent | - | The lake is open | sent' 2 3 304
  expect 'asked for by the ETag' "\"monday\" $content_credential" "$(fetched_with)"
  expect_news 'no answer within 12 seconds: the last words serve' 'sent | - | The lake is open | sent' 3 16 none
  expect_row 'which the content says' 'FETCH_TIMEOUT' "select failure_code from tacet.notif_contents where campaign = 'news'"
  ask "update tacet.notif_contents
    set fetched_at = fetched_at - interval '1 day', fresh_until = fresh_until - interval '1 day', content_date = current_date - 2
    where campaign = 'news'"
  expect_news 'not for longer than a day: skipped, and it says why' 'skipped | content_stale | - | -' 4 3 503
  explain_to Eli news 14
}
