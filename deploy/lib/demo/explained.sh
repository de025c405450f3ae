# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# Situations that come to an end, each with what tacet explain says of it. Sourced after situations.sh.

# The window is long enough for whatever ends a hold before its time, and short enough to wait for its end.
explained_settings='SUPPRESSION_WINDOW_SECONDS=15'

# Decision and reason of each recipient, a line each; from the ledger, because the message may be gone.
decisions() {
  sql tacet -F ' ' -v id="$1" <<<"
    select decision, coalesce(reason, '-') from tacet.push_log where subject_id = :'id' order by user_id"
}

# Until nothing of the message is held any more; fails after 30 s.
await_settled() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if [[ $(decisions "$1") != *held* ]]; then return; fi
    sleep 0.05
  done
  return 1
}

# conclude_explained MESSAGE EXPECTED WORDS: the explanation, and whether decision and words are as they should be. Lines
# are broken anywhere, so the words are looked for without.
conclude_explained() {
  local text found=missing
  text=$(explain --message "$1") || true
  say "$text"$'\n'
  expect "$2" "$2" "$(decisions "$1")"
  if [[ $(tr -s '[:space:]' ' ' <<<"$text") == *"$3"* ]]; then found=$3; fi
  expect "it says: $3" "$3" "$found"
}

add_explained_scene() {
  sql tacet <<'SQL' >/dev/null
    select demo.add_situation(s.name), demo.add_recipient(s.name, 'Vera', 1, is_viewing => true)
    from (values ('reading'), ('leaving'), ('looking'), ('deleting'), ('waiting')) as s (name);
    select demo.add_situation('dropped'), demo.add_recipient('dropped', 'Dora', 2);
    select demo.add_situation('crash'), demo.add_recipient('crash', 'Carla', 1);
SQL
  register_devices
}

# play_hold SITUATION TITLE CHANGE EXPECTED WORDS: a message for somebody who is looking, and then what the app writes.
play_hold() {
  headline "$2"
  message=$(insert_message "$1")
  await_outcome "$message"
  expect 'held at first' 'held user_viewing' "$(decisions "$message")"
  sql app -v id="$message" <<<"$3"
  await_settled "$message" || true # what is still held shows as a difference
  conclude_explained "$message" "$4" "$5"
}

play_holds() {
  local there="conversation_id = (select conversation_id from public.messages where id = :'id')
    and user_id <> (select from_id from public.messages where id = :'id')"
  play_hold reading 'Vera was looking, and has read it: skipped' \
    "update public.messages m set read_by = array(
       select c.user_id from public.conversation_participants c where $there) where id = :'id'" \
    'skipped already_read' 'No push, because the user had read the message. Until then it was held'
  play_hold leaving 'Vera was looking, and left: sent at once' \
    "update public.conversation_participants set tacet_left_at = now() where $there" 'sent -' 'then the user left.'
  play_hold looking 'Vera was looking, and looked again: skipped' \
    "update public.conversation_participants set last_seen = clock_timestamp() where $there" \
    'skipped user_viewing' 'No push, because the user has looked at the conversation since'
  play_hold deleting 'Vera was looking, and the message was deleted: skipped' \
    "delete from public.messages where id = :'id'" 'skipped deleted' 'had been deleted'
  play_hold waiting 'Vera was looking, and nothing more was heard: sent when the window was over' \
    'select' 'sent -' 'then the time of the hold was over.'
}

# situation_token SITUATION: one of its device tokens.
situation_token() {
  sql tacet -v situation="$1" <<<"select t.device_token from public.push_tokens t
    join demo.recipients r using (user_id) where r.situation = :'situation' order by t.device_token limit 1"
}

# tell_simulator TOKEN MEMBERS: what it is to know of a device beside the app.
tell_simulator() {
  curl -fsS -X PUT "$simulator_control/tokens/$1" -H 'content-type: application/json' \
    -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"$2}"
}

play_dropped_token() {
  local token
  headline 'One of two devices has lost the app: sent to the other, and the token is dropped'
  token=$(situation_token dropped)
  tell_simulator "$token" ",\"unregistered_at_ms\":$(($(date +%s%3N) + 1000))"
  message=$(insert_message dropped)
  await_outcome "$message"
  conclude_explained "$message" 'sent -' \
    "Not for ${token:0:8}: the app is no longer on the device, or was registered anew (Unregistered)."
}

# The simulator keeps its answer to itself, so the service dies between send and record for certain.
play_crash() {
  local token tries pid
  headline 'The service is killed between send and record: sent again, and shown once'
  token=$(situation_token crash)
  tell_simulator "$token" ',"delay_ms":60000'
  message=$(insert_message crash)
  for ((tries = 0; tries < 400; tries++)); do
    if curl -fsS "$simulator_control/pushes?collapse_id=$message" | grep -q "$token"; then break; fi
    sleep 0.05
  done
  pid=$(process_pid tacet)
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  rm -f "$state/tacet.pid"
  say '  Meanwhile:'
  explain --message "$message"
  say ''
  tell_simulator "$token" ''
  # The lease of the dead process runs out now instead of in half a minute.
  sql tacet <<<'update tacet.inbox set available_at = now()'
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
  await_outcome "$message"
  conclude_explained "$message" 'sent -' 'Claim 1 left no record; if it had sent anything, it was sent again under the same apns-id'
}

play_explained() {
  add_explained_scene
  play_holds
  play_dropped_token
  play_crash
}
