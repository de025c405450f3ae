# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# Escalation in the demo: a push that nobody looks at, and one that is read, while the application's server listens. Sourced after
# situations.sh.

# Answers on loopback, which is why it may do without TLS.
start_event_host() {
  event_state=$state/events
  rm -rf "$event_state"
  mkdir "$event_state"
  printf 'whsec_%s\n' "$(openssl rand -base64 24)" >"$event_state/secret"
  printf '200\n' >"$event_state/answer"
  : >"$event_state/events"
  start_process event-host.py python3 "$checkout/deploy/lib/demo/event-host.py" "$event_state" events
  wait_until 15 event-host.py test -s "$event_state/port" ||
    die "The server for events did not start: $(tail -n 5 "$state/event-host.py.log")"
  more_settings="EVENTS_URL=http://127.0.0.1:$(<"$event_state/port")/events
EVENTS_SECRET=$(<"$event_state/secret")
${more_settings:-}"
}

# events_of MESSAGE COUNT: waits for so many requests about it, and prints signature, status and type of each.
events_of() {
  local tries
  for ((tries = 0; tries < 400; tries++)); do
    if (($(grep -c " $1\$" "$event_state/events") >= $2)); then break; fi
    sleep 0.05
  done
  sed -n "s/ [^ ]* $1\$//p" "$event_state/events"
}

# settled MESSAGE: waits until nothing is left to look at or to send of it, and prints its event, if there is one.
settled_event() {
  local tries left="select count(*) from tacet.push_log l join tacet.unread_checks c on c.log_id = l.id where l.subject_id = :'id'"
  for ((tries = 0; tries < 400; tries++)); do
    if [[ $(sql tacet -v id="$1" <<<"$left") == 0 ]]; then break; fi
    sleep 0.05
  done
  sql tacet -F ' ' -v id="$1" <<<"select state, reason from tacet.host_events where subject_id = :'id'"
}

explain_unread() { explain --message "$1" | grep -A 1 -F 'push.unread' | sed 's/^ */      /'; }

play_unread() {
  local unread read refused
  headline 'Nobody looks at a push: the application hears of it and may mail; a push that is read in time is no event'
  sql tacet <<<"insert into tacet.escalations (kind, after) values ('message', '2 s'); select tacet.announce('{push.unread}')" >/dev/null
  unread=$(insert_message away)
  await_outcome "$unread"
  explain_unread "$unread"
  read=$(insert_message away)
  await_outcome "$read"
  sql app -v id="$read" <<<"update messages m set read_by = array(
    select c.user_id from conversation_participants c where c.conversation_id = m.conversation_id) where m.id = :'id'"
  expect 'after two seconds the event comes, with a right signature' 'signed 200 push.unread' "$(events_of "$unread" 1)"
  expect 'none of the push that was read' '' "$(settled_event "$read")"
  explain_unread "$unread"
  explain_unread "$read"

  printf '503\n' >"$event_state/answer"
  refused=$(insert_message away)
  await_outcome "$refused"
  expect 'the application is down: refused' 'signed 503 push.unread' "$(events_of "$refused" 1)"
  printf '200\n' >"$event_state/answer"
  expect 'it is back: five seconds later the same event' $'signed 503 push.unread\nsigned 200 push.unread' "$(events_of "$refused" 2)"
  sql tacet <<<'select tacet.announce_nothing(); delete from tacet.escalations' >/dev/null
}
