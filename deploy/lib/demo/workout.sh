# A workout of the demo, on the lock screen of the simulator's device: its row in a table of the application starts, updates and ends
# a Live Activity. Sourced after scene.sh.

workout_type=WorkoutActivityAttributes

# seen EXPRESSION [MORE]: SQL over the newest Live Activity of Wanda's phone, which is the jsonb s; empty before the start. MORE follows
# the from clause.
seen() {
  ask "select $1 from (select coalesce(:'shown'::jsonb -> 'activities' -> -1, '{}')) as x (s) ${2:-}" \
    shown="$(curl -fsS "$simulator_control/activities?device=wandas-phone")"
}

# await_seen SECONDS CONDITION: until it is true; what is missing shows as a difference.
await_seen() {
  local deadline=$((SECONDS + $1))
  until [[ $(seen "$2") == t ]] || ((SECONDS > deadline)); do sleep 0.1; done
}

# What the app does at its launch: it reports the token with which its workouts are started.
report_start_token() {
  local start_token
  start_token=$(openssl rand -hex 64)
  curl -fsS -X PUT "$simulator_control/tokens/$start_token" -H 'content-type: application/json' -d "{\"environment\": \"production\",
    \"bundle_id\": \"$bundle\", \"kind\": \"push_to_start\", \"attributes_type\": \"$workout_type\", \"device\": \"wandas-phone\"}"
  as Wanda PUT "/v1/devices/$1/push-to-start/$workout_type" "{\"token\": \"$start_token\", \"environment\": \"production\"}"
}

# What the app does when the system has started its activity: it finds its id in the attributes, and reports the update token.
report_update_token() {
  as Wanda PUT "/v1/live-activities/$(seen "s #>> '{attributes,activityId}'")/token" \
    "{\"token\": \"$(seen "s ->> 'token'")\", \"device_token\": \"$1\", \"environment\": \"production\"}"
}

# play_workout, and after at least half a minute of something else play_workout_end.
play_workout() {
  local token update
  token=$(device Wanda)
  headline 'Wanda works out: rows of a table, on her lock screen'
  report_start_token "$token" >/dev/null
  workout=$(sql app -v user="$(person Wanda)" <<<"insert into public.workouts (user_id, kind) values (:'user', 'Run') returning id")
  await_seen 10 "s -> 'token' is not null"
  report_update_token "$token" >/dev/null
  expect 'started by a push, without her app' 'Run | Workout started | 1' \
    "$(seen "s #>> '{attributes,workoutType}', s #>> '{last_alert,title}', s ->> 'alerts'")"
  for ((update = 1; update <= 12; update++)); do
    sql app -v id="$workout" -v update="$update" <<<"update public.workouts
      set seconds = :update * 60, heart_rate = 156 - 4 * :update, calories = 9 * :update, exercise = 'Cooldown' where id = :'id'"
    await_seen 5 "s #>> '{state,elapsedTime}' = '$((update * 60))'"
  done
  expect 'twelve updates, her heart rate falling' '152 148 144 140 136 132 128 124 120 116 112 108' "$(seen "(
    select string_agg(a #>> '{state,heartRate}', ' ' order by n)
    from jsonb_array_elements(s -> 'applied') with ordinality as r (a, n) where a ->> 'event' = 'update')")"
  sql app -v id="$workout" <<<"update public.workouts set ended_at = now() where id = :'id'"
  await_seen 10 "(s ->> 'ended')::boolean"
  expect 'the end' '0 | Workout Complete! 🎉 | f' \
    "$(seen "s #>> '{state,heartRate}', s #>> '{state,currentExercise}', (s ->> 'dismissed')::boolean")"
}

play_workout_end() {
  headline "Wanda's lock screen, half a minute later"
  await_seen 40 "(s ->> 'dismissed')::boolean"
  expect 'gone after 30 seconds' 't' "$(seen "(s ->> 'dismissed')::boolean
    and (s ->> 'dismissed_ms')::bigint - (s ->> 'ended_ms')::bigint between 28000 and 31000")"
  expect 'nothing dropped, nothing older after something newer' '{} | t' "$(seen "s -> 'dropped', (
    select bool_and(t > before) is not false
    from (select (a ->> 'timestamp')::bigint, lag((a ->> 'timestamp')::bigint) over (order by n)
      from jsonb_array_elements(s -> 'applied') with ordinality as r (a, n)) as p (t, before))")"
  show_screens
  show_explained 12 --activity "$workout_type:$workout"
}

# What the device showed when, in seconds after the start.
show_screens() {
  seen "format('      %s s  %s  %s', lpad(to_char((at - first_value(at) over (order by at)) / 1000, 'FM990.0'), 5), rpad(event, 6), screen)" \
    "cross join lateral (
      select (a ->> 'received_ms')::numeric, a ->> 'event', demo.screen(a -> 'state') from jsonb_array_elements(s -> 'applied') as r (a)
      union all
      select (s ->> 'dismissed_ms')::numeric, 'gone', ''
    ) as p (at, event, screen)
    order by at"
}
