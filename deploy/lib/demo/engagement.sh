# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# Engagement in the demo: five people, from active to away for long, and what reminds them or asks them back. Sourced after coach.sh
# and ritual.sh.

# The stand-in writes for Lena, a morning, a workout and an achievement. For Olaf it takes longer than two seconds, and a meal's text has a link.
model_rules+=',
  {"match": "name: Lena", "steps": [{"text": "Still five kilometres?|Ten easy minutes would be a fine beginning, Lena."}]},
  {"match": "name: Olaf", "steps": [{"text": "Hello Olaf|Too late.", "delay_ms": 3000}]},
  {"match": "Greet a person in the morning", "steps": [{"text": "You slept well, and the sun is out."}]},
  {"match": "a workout that begins now", "steps": [{"text": "{\"body\": \"Five days in a row. Shoes on for the sixth?\"}"}]},
  {"match": "on an achievement", "steps": [{"text": "Seven early mornings in a row, Ida. You make it look easy."}]},
  {"match": "eat and log a meal", "steps": [{"text": "Order at https://lunch.example now"}]}'

create_engagement_scene() {
  PGOPTIONS='-c client_min_messages=warning' sql tacet -f "$checkout/db/examples/engagement.sql" \
    -f "$checkout/db/examples/achievement.sql" >/dev/null
  sql tacet -f "$checkout/deploy/lib/demo/engagement.sql" >/dev/null
}

engaged() { sql tacet -v name="$1" <<<"select user_id from demo.engaged where name = :'name'"; }

# arrived NAME TYPE: title, body, category, level and collapse identifier of each such push, as it arrived at the simulator.
arrived() {
  load_pushes
  sql tacet -F ' | ' -v name="$1" -v type="$2" <<<"select title, body, category, level, collapse_id
    from demo.arrived where name = :'name' and type = :'type' order by number"
}

# expect_arrived WHAT EXPECTED NAME TYPE: compares what arrived, and shows it.
expect_arrived() {
  local text
  text=$(arrived "$3" "$4")
  say "      ${text:-(nothing)}"
  expect "$1" "$2" "$text"
}

# await_none QUERY: until it counts 0, for 20 seconds at most; what is missing shows as a difference.
await_none() { is_none_within 20 "$1" || true; }

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
  answer=$(curl -sS "$url/v1/engagement?to=$(sql tacet <<<"select to_char(max(seen_at) at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')
    from demo.engaged")" -H @<(bearer "$service_key"))
  say "      ${answer//$'\n'/ }"
  expect 'in all, active, recent, lapsed, at risk, and the rate' '5 1 1 1 2 0.2' "$(sql tacet -F ' ' -v body="$answer" <<<"
    select j ->> 'total_users', j ->> 'active_users', j ->> 'recent_users', j ->> 'lapsed_users', j ->> 'churn_risk_users',
      j ->> 'engagement_rate'
    from (select :'body'::jsonb) x (j)")"
  expect 'three sessions in the week, of ten minutes' '0.6 600' "$(sql tacet -F ' ' -v body="$answer" <<<"
    select j ->> 'avg_sessions_per_week', j ->> 'avg_session_seconds' from (select :'body'::jsonb) x (j)")"
  expect 'and each of them' 'Ida active, Lena lapsed, Olaf churn_risk, Ravi recent, Sam churn_risk' "$(sql tacet <<<"
    select string_agg(e.name || ' ' || tacet.engagement_class(e.seen_at - a.last_active), ', ' order by e.name)
    from demo.engaged e join tacet.activity a using (user_id)")"
}

play_lapse() {
  headline 'Lena, Olaf and Sam stay away: each is asked back as they want it'
  expect 'the reasons against it, for three of them' 'Ida not_lapsed, Ravi not_lapsed, Sam space_wanted' "$(sql tacet <<<"
    select string_agg(e.name || ' ' || l.refusal, ', ' order by e.name)
    from demo.engaged e cross join tacet.lapse_audience(now(), e.user_id) l")"
  expect_run 'two pushes' '2 2 0 0 200' '?campaign=lapse'
  await_none "select count(*) from tacet.campaign_decisions d where d.campaign = 'lapse' and d.push_id is not null
    and not exists (select from tacet.push_log l where l.subject_id = d.push_id)"
  expect_arrived 'Lena, check_in_on_me: the words of the model' \
    'Still five kilometres? | Ten easy minutes would be a fine beginning, Lena. | RE_ENGAGEMENT | time-sensitive | lapse_5' \
    Lena reengagement
  expect_arrived 'Olaf, light_nudge: the model is too slow, so the template' \
    'We miss you! | Your coach is waiting to help you get back on track. | RE_ENGAGEMENT | time-sensitive | lapse_9' \
    Olaf reengagement
  expect_arrived 'Sam, give_me_space: nothing' '' Sam reengagement
  explain --campaign lapse --user "$(engaged Sam)" | sed 's/^/      /'
  expect 'the attempts are counted' 'Lena 1, Olaf 1, Sam 0' "$(attempts)"
  as_user "$(engaged Lena)" POST /v1/activity >/dev/null
  expect 'until Lena is back' 'Lena 0, Olaf 1, Sam 0' "$(attempts)"
}

attempts() {
  sql tacet <<<"select string_agg(e.name || ' ' || a.re_engagement_attempts, ', ' order by e.name)
    from demo.engaged e join tacet.activity a using (user_id) where e.name in ('Lena', 'Olaf', 'Sam')"
}

# remind NAME CAMPAIGN SLOT...: the texts of these slots are made, and a minute later they are sent.
remind() {
  local count=$(($# / 3))
  while (($# > 0)); do
    sql tacet -v name="$1" -v campaign="$2" -v slot="$3" <<<"select demo.make_soon(:'name', :'campaign', :'slot')" >/dev/null
    shift 3
  done
  # A run asked for by a server also looks at slots.
  trigger_coach >/dev/null
  await_none "select $count - count(*) from demo.open_reminders where status = 'scheduled'"
  sql tacet <<<'select demo.end_minute()' >/dev/null
  trigger_coach >/dev/null
  await_none 'select count(*) from demo.open_reminders'
}

play_reminders() {
  local lunch
  headline 'Reminders: a morning, a workout, a meal, a glass of water'
  remind Ida morning 0800 Ravi workout 0730 Ida meal 1230 Ravi hydration 1600
  expect_arrived 'morning: the words of the model' \
    'Good morning, Ida! ☀️ | You slept well, and the sun is out. | DAILY_CHECK | active | morning_greeting' Ida morning
  expect 'with the picture of a sunny one' 'https://images.example/morning_sunny.png 1' "$(sql tacet -F ' ' <<<"
    select payload ->> 'image_url', payload #>> '{aps,mutable-content}' from demo.arrived where type = 'morning'")"
  expect_arrived 'workout: the words of the model under the title of its streak' \
    "Ready for today's Run? | Five days in a row. Shoes on for the sixth? | WORKOUT | active | workout_$(workout_seconds)" Ravi workout
  expect 'and its type' Run "$(sql tacet <<<"select payload ->> 'workoutType' from demo.arrived where type = 'workout'")"
  # Texts take turns by user and day, so the body is one of four.
  lunch=$(arrived Ida meal)
  say "      $lunch"
  expect 'meal: the reply of the model has a link, so a template' '🥗 Lunch Reminder | a template | MEAL | active | meal_lunch' \
    "$(sql tacet -v lunch="$lunch" <<<"select replace(:'lunch', t.body, 'a template')
      from tacet.campaigns c
      cross join jsonb_array_elements_text(c.definition #> '{texts,0,body}') b (body)
      cross join replace(replace(b.body, '{{meal_name}}', 'Lunch'), '{{meal}}', 'lunch') t (body)
      where c.name = 'meal' and strpos(:'lunch', t.body) > 0")"
  expect_arrived 'hydration: always the same, without a model' \
    '💧 Hydration Time! | Time for a water break. Stay hydrated! | HYDRATION | active | hydration_reminder' Ravi hydration
}

# When the workout was due, since 1970.
workout_seconds() {
  sql tacet <<<"select extract(epoch from d.fire_at)::bigint
    from tacet.notif_deliveries d join demo.engaged e using (user_id) where d.campaign = 'workout' and d.status = 'sent'"
}

# act NAME ACTION: of the notification of the workout; the answer.
act() {
  local identifier
  identifier=$(sql tacet -v name="$1" <<<"select format('workout.%s.%s', d.slot, d.fire_date)
    from tacet.notif_deliveries d join demo.engaged e using (user_id)
    where e.name = :'name' and d.campaign = 'workout' and d.status in ('sent', 'opened')")
  as_user "$(engaged "$1")" POST /v1/actions "{\"id\": \"$(</proc/sys/kernel/random/uuid)\", \"action\": \"$2\",
    \"identifier\": \"$identifier\", \"at\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
}

play_snooze() {
  headline 'Ravi: remind me in 30 minutes'
  expect 'SNOOZE_30: the answer' '{"snoozed": true}' "$(act Ravi SNOOZE_30)"
  expect 'the same push waits for 30 minutes' "Ready for today's Run? 30" "$(sql tacet -F ' ' <<<"
    select title, round(extract(epoch from available_at - clock_timestamp()) / 60) from demo.snoozed")"
  sql tacet <<<'update tacet.pushes p set send_at = clock_timestamp() from demo.snoozed s where p.id = s.id;
    update tacet.inbox i set available_at = clock_timestamp() from demo.snoozed s where i.subject_id = s.id'
  await_none 'select count(*) from demo.snoozed'
  expect 'and comes then: two pushes of one text' '2 1' "$(load_pushes; sql tacet -F ' ' <<<"
    select count(*), count(distinct (title, body, collapse_id)) from demo.arrived where type = 'workout'")"
  expect 'START_WORKOUT ends it' '{}' "$(act Ravi START_WORKOUT)"
  expect 'SNOOZE_30 after it: nothing comes' '{"snoozed": false}' "$(act Ravi SNOOZE_30)"
}

play_achievement() {
  local id
  headline 'Ida has earned something: a row of a table of the application'
  id=$(sql tacet <<<"insert into public.achievements (user_id, name, description, image_url)
    values ('$(engaged Ida)', 'Early Bird', 'Seven mornings before eight.', 'https://images.example/early.png') returning id")
  await_none "select 1 - count(*) from tacet.push_log where subject_id = '$id'"
  expect_arrived 'achievement: by the trigger on that table, in the words of the model, and quiet' \
    "🎉 Achievement Unlocked! | Seven early mornings in a row, Ida. You make it look easy. | ACHIEVEMENT | passive | achievement_$id" \
    Ida achievement
}
