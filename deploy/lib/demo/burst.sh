# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# A burst of messages in the demo: one sound, one notification that follows the newest message, and a mention. Sourced after
# situations.sh.

# Long enough for the burst on a slow machine, and short enough to wait for its end.
burst_window=8

create_burst_scene() {
  sql tacet <<<"select demo.add_situation('burst'), demo.add_recipient('burst', 'Bea', 1)" >/dev/null
  register_devices
}

# write_message TEXT: as the host would; prints its id.
write_message() {
  sql app -v text="$1" <<<"insert into public.messages (conversation_id, from_id, text)
    select conversation_id, sender_id, :'text' from demo.situations where name = 'burst' returning id"
}

# Until nothing of the burst is held any more; fails after 30 s.
await_burst() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if [[ $(sql tacet <<<"select count(*) from demo.situations s join (
        select conversation_id from tacet.inbox union all select conversation_id from tacet.deliveries
      ) w using (conversation_id) where s.name = 'burst'") == 0 ]]; then return; fi
    sleep 0.05
  done
  return 1
}

# bea_shows QUERY: over the pushes that Bea's phone has got, each with sound, subtitle, body and collapse_id.
bea_shows() {
  load_pushes
  sql tacet -F ' | ' <<<"with shown as (
      select a.number, a.collapse_id, a.payload::jsonb #>> '{aps,alert,body}' as body,
        a.payload::jsonb #>> '{aps,alert,subtitle}' as subtitle, a.payload::jsonb #> '{aps,sound}' is not null as sounds,
        coalesce(a.payload::jsonb #>> '{aps,interruption-level}', '-') as level
      from demo.pushes a
      join public.push_tokens t on t.device_token = a.token
      join demo.recipients r on r.user_id = t.user_id
      where r.situation = 'burst' and a.status = 200
    ) $1"
}

play_burst() {
  local first last number mention status=0
  headline 'Clara writes six messages within seconds: one sound, and one notification that shows the newest'
  create_burst_scene
  stop_process tacet || status=$?
  fold_window=$burst_window
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
  first=$(write_message 'Are you there?')
  for number in 2 3 4 5; do
    last=$(write_message "Thought $number")
    sleep 0.4
  done
  last=$(write_message 'The newest thought')
  await_burst || true # what is still held shows as a difference
  say "      $(bea_shows "select string_agg(case when sounds then '♪ ' else '  ' end || coalesce(subtitle || ': ', '') || body, ' → '
    order by number) from shown")"
  expect 'one push with sound, the first' '1 | Are you there?' "$(bea_shows 'select count(*), min(body) from shown where sounds')"
  expect 'fewer pushes than messages' t "$(bea_shows 'select count(*) < 6 from shown')"
  expect 'all in one notification, which shows the newest' "+5 more | The newest thought | passive | $first" \
    "$(bea_shows 'select subtitle, body, level, collapse_id from shown order by number desc limit 1')"
  explain --message "$last" | sed 's/^/      /'
  headline 'A message that mentions Bea sounds all the same'
  mention=$(write_message 'Look, @Bea!')
  await_burst || true
  expect 'with sound, as a notification of its own' "t | Look, @Bea! | $mention" \
    "$(bea_shows 'select sounds, body, collapse_id from shown order by number desc limit 1')"
  stop_process tacet || status=$?
  expect 'the service has ended well twice' 0 "$status"
  fold_window=0
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
}
