# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The situations of the demo: what is played, what must come of it, and what came. Sourced after the other files.

differences=0

# The scene: a conversation for each situation, Clara writes, the others receive.
set_scene() {
  sql tacet <<'SQL' >/dev/null
    select demo.add_situation('away'), demo.add_recipient('away', 'Alma', 1);
    select demo.add_situation('viewing'), demo.add_recipient('viewing', 'Vera', 1, is_viewing => true);
    select demo.add_situation('read'), demo.add_recipient('read', 'Rosa', 1, has_read => true);
    select demo.add_situation('no-device'), demo.add_recipient('no-device', 'Nora', 0);
    select demo.add_situation('group'),
      demo.add_recipient('group', 'Alma', 1), demo.add_recipient('group', 'Vera', 1, is_viewing => true),
      demo.add_recipient('group', 'Rosa', 1, has_read => true), demo.add_recipient('group', 'Nora', 0);
    select demo.add_situation('two-devices'), demo.add_recipient('two-devices', 'Dora', 2);
    -- A family of four is one grapheme cluster, seven scalars, 25 bytes.
    select demo.add_situation('emoji', repeat('👨‍👩‍👧‍👦', 200)), demo.add_recipient('emoji', 'Emma', 1);
    select demo.add_situation('webhook'), demo.add_recipient('webhook', 'Wilma', 1);
    select demo.add_situation('stopped'), demo.add_recipient('stopped', 'Stella', 1);
SQL
}

# expect WHAT EXPECTED ACTUAL
expect() {
  if [[ $2 == "$3" ]]; then
    say "  ${green}ok${plain}  $1"
  else
    differences=$((differences + 1))
    say "  ${red}DIFFERS  $1"
    say "    expected: ${2//$'\n'/; }"
    say "    but got:  ${3//$'\n'/; }${plain}"
  fi
}

# Recipient, decision, reason and number of pushes at the simulator, a line each.
outcomes() {
  sql tacet -F ' ' -v id="$1" <<<"
    select recipient, decision, coalesce(reason, '-'), pushes from demo.timeline where message_id = :'id' order by recipient"
}

show_timeline() {
  sql tacet -v id="$1" <<'SQL'
    select format('      %-7s %-8s %-13s woken %s ms -> decided %s ms%s   (%s)', recipient, decision, reason,
      woken, decided, ' -> accepted ' || accepted || ' ms', woken_by)
    from demo.timeline where message_id = :'id' order by recipient
SQL
}

# play SITUATION TITLE EXPECTED: inserts a message and compares what becomes of it. Leaves its id in message.
play() {
  headline "$2"
  message=$(insert_message "$1")
  conclude "$3"
}

conclude() {
  await_outcome "$message" || true # what is missing shows as a difference
  load_pushes
  show_timeline "$message"
  if $explains; then say "$(printf '\n%s\n ' "$(explain --message "$message")")"; fi
  expect "${1//$'\n'/; }" "$1" "$(outcomes "$message")"
}

# post_webhook MESSAGE: the envelope that Supabase sends; the answer and, on a line of its own, its status.
post_webhook() {
  sql tacet -v id="$1" <<<"select demo.webhook_body(:'id')" |
    curl -sS -w '\n%{http_code}' "$url/v1/webhooks/messages" -H @<(bearer "$webhook_secret") \
      -H 'content-type: application/json' -H 'prefer: wait=10' --data-binary @-
}

# Sent, held and skipped, by the trigger's notification alone, or behind a pooler by polling alone.
play_plain_situations() {
  play away 'Alma was away for ten minutes: sent' 'Alma sent - 1'
  play viewing 'Vera looked five seconds ago: held, she is probably looking' 'Vera held user_viewing 0'
  play read 'Rosa has read it already: skipped' 'Rosa skipped already_read 0'
  play no-device 'Nora has no device: skipped' 'Nora skipped no_tokens 0'
  play two-devices 'Dora has two devices: two pushes' 'Dora sent - 2'
}

play_emoji() {
  play emoji 'A text of 200 families of four: the preview ends between two of them' 'Emma sent - 1'
  expect '50 families and "...", in valid JSON of at most 4096 bytes' 't t' "$(
    sql tacet -F ' ' -v id="$message" <<'SQL'
      select payload::jsonb #>> '{aps,alert,body}' = repeat('👨‍👩‍👧‍👦', 50) || '...', octet_length(payload) <= 4096
      from demo.pushes where collapse_id = :'id'
SQL
  )"
}

play_group() {
  local expected=$'Alma sent - 1\nNora skipped no_tokens 0\nRosa skipped already_read 0\nVera held user_viewing 0' answer
  headline 'A group of four, one of each: one answer'
  message=$(insert_message group)
  answer=$(post_webhook "$message")
  say "      ${answer//$'\n'/ }"
  expect 'sent to one, four recipients in the answer' "true false 4 200" "$(answer_summary "$answer")"
  conclude "$expected"
}

# sent, skipped, number of recipients and status of an answer.
answer_summary() {
  sql tacet -F ' ' -v body="${1%$'\n'*}" -v status="${1##*$'\n'}" <<<"
    select a ->> 'sent', a ->> 'skipped', jsonb_array_length(a -> 'recipients'), :'status' from (select :'body'::jsonb) j (a)"
}

play_webhook() {
  local first second
  headline 'A webhook as Supabase sends it, and the same again: one push, one answer'
  message=$(insert_message webhook)
  first=$(post_webhook "$message")
  say "      ${first//$'\n'/ }"
  expect 'answered 200 with the outcome' 'true false 1 200' "$(answer_summary "$first")"
  conclude 'Wilma sent - 1'
  second=$(post_webhook "$message")
  expect 'the second answer is the first' "$first" "$second"
  load_pushes
  expect 'no second push' 'Wilma sent - 1' "$(outcomes "$message")"
}

play_stopped_service() {
  local status=0
  headline 'The service is stopped while a message comes: sent after the start'
  stop_process tacet || status=$?
  expect 'SIGTERM ends the service with exit code 0' 0 "$status"
  message=$(insert_message stopped)
  start_service "$port" || die "the service did not start again; see $state/tacet.log"
  conclude 'Stella sent - 1'
}

# Messages of a series come one after the other, each when the last one's outcome is known: what is measured is the way
# of one message through an idle service.
series_length=30

# Behind the pooler nobody notifies: a message waits for the next look, which comes after 250 ms at the latest, and sooner
# the less time has passed since the last message.
series_median_max() { if has_pooler; then printf '50\n'; else printf '5\n'; fi; }

# play_series SITUATION...: commit to accepted by the simulator (its last device), as percentiles.
play_series() {
  local situation line median_max
  median_max=$(series_median_max)
  headline "$series_length more messages each: commit -> accepted by the simulator"
  for situation in "$@"; do
    for ((i = 0; i < series_length; i++)); do
      printf "select demo.insert_message('%s') as id \\\\gset\ncall demo.await_outcome(:'id');\n" "$situation"
    done | sql app
    load_pushes
    line=$(sql tacet -v situation="$situation" -v length="$series_length" -v median_max="$median_max" <<'SQL'
      select format('%s: p50 %s ms, p99 %s ms', :'situation', round(q[1]::numeric, 2), round(q[2]::numeric, 2)),
        case
          when q[1] < :median_max and n >= :length then format('below %s ms', :median_max)
          else format('%s ms, of %s messages', round(q[1]::numeric, 2), n)
        end
      from (
        select percentile_cont(array[0.5, 0.99]) within group (order by accepted) as q, count(accepted) as n
        from (
          select t.accepted from demo.timeline t join public.messages m on m.id = t.message_id
          where t.situation = :'situation' order by m.created_at desc limit :length
        ) last
      ) s
SQL
    )
    expect "${line%|*} (the median must be below $median_max ms)" "below $median_max ms" "${line##*|}"
  done
}
