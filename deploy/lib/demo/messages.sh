# The demo's situations of messages: what is played, and what must come of it. Sourced after scene.sh.

# A conversation for each situation: Clara writes, the others receive.
add_situations() {
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
    select demo.add_situation('sealed', 'The surprise is on Friday'), demo.add_recipient('sealed', 'Selma', 1);
    select demo.add_situation('burst'), demo.add_recipient('burst', 'Bea', 1);
SQL
}

# Recipient, decision, reason and number of pushes at the simulator, a line each.
outcomes() {
  ask "select concat_ws(' ', recipient, decision, coalesce(reason, '-'), pushes) from demo.timeline
    where message_id = :'id' order by recipient" id="$1"
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
  ask "select format('      %-7s %-8s %-13s woken %s ms -> decided %s ms%s   (%s)', recipient, decision, reason,
      woken, decided, ' -> accepted ' || accepted || ' ms', woken_by)
    from demo.timeline where message_id = :'id' order by recipient" id="$message"
  if $explains; then say "$(printf '\n%s\n ' "$(explain --message "$message")")"; fi
  expect "${1//$'\n'/; }" "$1" "$(outcomes "$message")"
}

# Sent, held and skipped, by the trigger's notification alone, or behind a pooler by polling alone.
play_plain_situations() {
  play away 'Alma was away for ten minutes: sent' 'Alma sent - 1'
  play viewing 'Vera looked five seconds ago: held, she is probably looking' 'Vera held user_viewing 0'
  play read 'Rosa has read it already: skipped' 'Rosa skipped already_read 0'
  play no-device 'Nora has no device: skipped' 'Nora skipped no_tokens 0'
  play two-devices 'Dora has two devices: two pushes' 'Dora sent - 2'
  play emoji 'A text of 200 families of four: the preview ends between two of them' 'Emma sent - 1'
  expect_row '50 families and "...", in valid JSON of at most 4096 bytes' 't | t' \
    "select payload::jsonb #>> '{aps,alert,body}' = repeat('👨‍👩‍👧‍👦', 50) || '...', octet_length(payload) <= 4096
    from demo.pushes where collapse_id = :'id'" id="$message"
}

# post_webhook MESSAGE: the envelope that Supabase sends; the answer and, on a line of its own, its status.
post_webhook() {
  ask "select demo.webhook_body(:'id')" id="$1" |
    curl -sS -w '\n%{http_code}' "$url/v1/webhooks/messages" -H @<(bearer "$webhook_secret") \
      -H 'content-type: application/json' -H 'prefer: wait=10' --data-binary @-
}

# expect_answered WHAT RECIPIENTS ANSWER: that it says sent of a message to so many.
expect_answered() {
  say "      ${3//$'\n'/ }"
  expect_in "${3%$'\n'*}" "$1" "true | false | $2 | 200" "j ->> 'sent', j ->> 'skipped', jsonb_array_length(j -> 'recipients'), :status" \
    status="${3##*$'\n'}"
}

play_webhooks() {
  local answer
  headline 'A group of four, one of each: one answer'
  message=$(insert_message group)
  expect_answered 'sent to one, four recipients in the answer' 4 "$(post_webhook "$message")"
  conclude $'Alma sent - 1\nNora skipped no_tokens 0\nRosa skipped already_read 0\nVera held user_viewing 0'
  headline 'A webhook as Supabase sends it, and the same again: one push, one answer'
  message=$(insert_message webhook)
  answer=$(post_webhook "$message")
  expect_answered 'answered 200 with the outcome' 1 "$answer"
  conclude 'Wilma sent - 1'
  expect 'the second answer is the first' "$answer" "$(post_webhook "$message")"
  load_pushes
  expect 'no second push' 'Wilma sent - 1' "$(outcomes "$message")"
}

play_stopped_service() {
  local status=0
  headline 'The service is stopped while a message comes: sent after the start'
  stop_process tacet || status=$?
  expect 'SIGTERM ends the service with exit code 0' 0 "$status"
  message=$(insert_message stopped)
  start_again
  conclude 'Stella sent - 1'
}

# sealed_payload EXPRESSION: of the push of message, as text in payload and as the jsonb p.
sealed_payload() {
  ask "select $1 from demo.pushes, lateral (select payload::jsonb as p) x where collapse_id = :'id'" id="$message"
}

play_sealed() {
  local key token opener=$checkout/deploy/lib/demo/sealed.mjs
  headline "Selma's pushes are sealed for her phone: APNs sees that there is one"
  token=$(device Selma)
  key=$(node "$opener" key "$state/selmas-key.pem")
  as Selma PUT "/v1/devices/$token" "{\"content\": \"sealed\", \"sealing_key\": \"$key\"}" >/dev/null
  message=$(insert_message sealed)
  conclude 'Selma sent - 1'
  expect 'what Apple sees' 'New message' "$(sealed_payload "p #>> '{aps,alert,title}'")"
  expect 'none of its words, nor of the name' 'f' "$(sealed_payload "payload ~ 'surprise|Friday|Clara'")"
  expect 'what her phone shows' 'Message from Clara: The surprise is on Friday' \
    "$(sealed_payload payload | node "$opener" open "$state/selmas-key.pem" "$token")"
  rm -f "$state/selmas-key.pem"
  expect 'and the explanation says so' 'sealed for the device' \
    "$(explain --message "$message" | tr -s '[:space:]' ' ' | grep -o 'sealed for the device' | sed -n 1p)"
}

# order COUNT: an order of so many items. Waits until it is decided, and leaves its id in subject.
order() {
  subject=$(sql app -v count="$1" <<<"insert into public.orders (buyer_id, seller_id, item_count)
    select b.id, s.id, :count from public.profiles b, public.profiles s where b.name = 'Ines' and s.name = 'Jana' returning id")
  await "select exists (select from tacet.push_log where subject_id = :'id')" id="$subject"
  load_pushes
}

# expect_order NUMBER WHAT EXPECTED: title and body of the order on that device of Ines.
expect_order() {
  expect_row "$2" "$3" "select title, body from demo.arrived where token = :'token' and collapse_id = :'id'" \
    token="$(device Ines "$1")" id="$subject"
}

play_locales() {
  local subject number=0 locale
  headline 'Languages: one event on four devices of Ines'
  for locale in de-AT pl ar-EG ja; do
    number=$((number + 1))
    as Ines PUT "/v1/devices/$(device Ines "$number")" "{\"environment\": \"production\", \"locale\": \"$locale\"}"
  done
  order 3
  expect_order 1 'de-AT: the German text' 'Jana hat deine Bestellung verschickt | 3 Artikel sind unterwegs'
  expect_order 2 'pl: the form that goes with three' 'Zamówienie od Jana jest w drodze | Jadą 3 rzeczy'
  expect_order 3 'ar-EG: the Latin name is isolated' 'أرسل <Jana> طلبك | 3'
  expect_order 4 'ja: nothing near, so the text of the event itself' 'Jana has sent your order | 3 items are on their way'
  explain --message "$subject" | sed -n 's/^.*\(accepted the push for device\)/      \1/p'
  order 12
  expect_order 2 'pl: the form that goes with twelve' 'Zamówienie od Jana jest w drodze | Jedzie 12 rzeczy'
}

# Long enough for the burst on a slow machine.
burst_window=8

# write_to_bea TEXT: as the host would; prints the message's id.
write_to_bea() {
  sql app -v text="$1" <<<"insert into public.messages (conversation_id, from_id, text)
    select conversation_id, sender_id, :'text' from demo.situations where name = 'burst' returning id"
}

# Until everything of the burst is decided.
await_burst() {
  await "select not exists (select from demo.situations s join (
      select conversation_id from tacet.inbox union all select conversation_id from tacet.deliveries
    ) w using (conversation_id) where s.name = 'burst')"
  load_pushes
}

play_burst() {
  local first last mention status=0
  headline 'Clara writes six messages within seconds: one sound, and one notification that shows the newest'
  stop_process tacet || status=$?
  fold_window=$burst_window
  start_again
  first=$(write_to_bea 'Are you there?')
  sql app <<<"insert into public.messages (conversation_id, from_id, text)
    select conversation_id, sender_id, 'Thought ' || n from demo.situations, generate_series(2, 5) n where name = 'burst'"
  last=$(write_to_bea 'The newest thought')
  await_burst
  say "      $(ask "select string_agg(case when sounds then '♪ ' else '  ' end || coalesce(subtitle || ': ', '') || body, ' → '
    order by number) from demo.arrived where name = 'Bea'")"
  expect_row 'one push with sound, the first' '1 | Are you there?' \
    "select count(*), min(body) from demo.arrived where name = 'Bea' and sounds"
  expect_row 'fewer pushes than messages' t "select count(*) < 6 from demo.arrived where name = 'Bea'"
  expect_row 'all in one notification, which shows the newest' "+5 more | The newest thought | passive | $first" \
    "select subtitle, body, level, collapse_id from demo.arrived where name = 'Bea' order by number desc limit 1"
  show_explained 100 --message "$last"
  headline 'A message that mentions Bea sounds all the same'
  mention=$(write_to_bea 'Look, @Bea!')
  await_burst
  expect_row 'with sound, as a notification of its own' "t | Look, @Bea! | $mention" \
    "select sounds, body, collapse_id from demo.arrived where name = 'Bea' order by number desc limit 1"
  stop_process tacet || status=$?
  expect 'the service has ended well twice' 0 "$status"
  fold_window=0
  start_again
}

# after_message SITUATION CHANGE: what the recipient does who was looking when the message came.
after_message() {
  insert_message "$1" >/dev/null
  sql app -v name="$1" <<<"update public.conversation_participants c set $2 from demo.recipients r, demo.situations s
    where r.situation = :'name' and s.name = r.situation and r.is_viewing and c.conversation_id = s.conversation_id
      and c.user_id = r.user_id"
}

# expect_pairs WHAT COUNT VERDICT: so many pairs of message and user, in the report.
expect_pairs() { expect "$1" "$2" "$(sed -n "s/^$3 | \([0-9]*\)\$/\1/p" <<<"$report")"; }

# Tacet decides and sends nothing, beside a sender of the usual recipe; then both logs are joined.
play_shadow() {
  local began pushes settings=$more_settings report
  headline 'A shadow beside another sender: decided and recorded, not sent'
  stop_process tacet || true
  more_settings="SHADOW=true
$settings"
  start_again
  start_process psql psql -X -q -o "$state/attempts.out" -d "$(conninfo tacet)" -f "$checkout/deploy/lib/demo/shadow-sender.sql"
  await "select to_regclass('public.push_attempts') is not null"
  pushes=$(count_accepted)
  began=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
  insert_message away >/dev/null
  insert_message read >/dev/null
  insert_message no-device >/dev/null
  after_message viewing 'tacet_left_at = clock_timestamp()'
  after_message group 'last_seen = clock_timestamp()'
  await "select (select count(*) from push_attempts) = 6 and 8 = (select count(*) from tacet.push_log
    where enqueued_at >= :'began' and decision <> 'held' and push_type = 'message')" began="$began"
  stop_process psql || true
  report=$(ask "select
      case
        when o.message_id is null then 'only Tacet pushed'
        when l.reason = 'shadow' then 'both pushed'
        else 'only the other pushed'
      end, l.reason, count(*)
    from (select * from tacet.push_log where push_type = 'message' and enqueued_at >= :'began') l
    full join (select distinct message_id, user_id from push_attempts where attempted_at >= :'began' and status = 'sent') o
      on o.message_id = l.subject_id and o.user_id = l.user_id
    where o.message_id is not null or l.reason = 'shadow'
    group by 1, 2 order by 1, 2" began="$began")
  say "  ${report//$'\n'/$'\n'  }"
  expect_pairs 'both push to who is away' 2 'both pushed | shadow'
  expect_pairs 'the other alone to who has read it' 2 'only the other pushed | already_read'
  expect_pairs 'and it misses who looked away without having seen it' 1 'only Tacet pushed | shadow'
  expect 'APNs got nothing' "$pushes" "$(count_accepted)"
  stop_process tacet || true
  more_settings=$settings
  start_again
}

count_accepted() {
  load_pushes
  ask 'select count(*) from demo.pushes where status = 200'
}

# expect_event WHAT EXPECTED MESSAGE COUNT: waits for so many requests about it; signature, status and type of each.
expect_event() {
  local tries
  for ((tries = 0; tries < 400; tries++)); do
    if (($(grep -c " $3\$" "$host_state/events") >= $4)); then break; fi
    sleep 0.05
  done
  expect "$1" "$2" "$(sed -n "s/ [^ ]* $3\$//p" "$host_state/events")"
}

explain_unread() { explain --message "$1" | grep -A 1 -F 'push.unread' | sed 's/^ */      /'; }

play_unread() {
  local unread read refused
  headline 'Nobody looks at a push: the application hears of it and may mail; a push that is read in time is no event'
  ask "insert into tacet.escalations (kind, after) values ('message', '2 s'); select tacet.announce('{push.unread}')" >/dev/null
  unread=$(insert_message away)
  await_outcome "$unread"
  explain_unread "$unread"
  read=$(insert_message away)
  await_outcome "$read"
  sql app -v id="$read" <<<"update messages m set read_by = array(
    select c.user_id from conversation_participants c where c.conversation_id = m.conversation_id) where m.id = :'id'"
  expect_event 'after two seconds the event comes, with a right signature' 'signed 200 push.unread' "$unread" 1
  # Until nothing is left to look at or to send of it.
  await "select not exists (select from tacet.push_log l join tacet.unread_checks c on c.log_id = l.id where l.subject_id = :'id')" id="$read"
  expect_row 'none of the push that was read' '' "select state, reason from tacet.host_events where subject_id = :'id'" id="$read"
  explain_unread "$unread"
  explain_unread "$read"

  printf '503\n' >"$host_state/events-answer"
  refused=$(insert_message away)
  await_outcome "$refused"
  expect_event 'the application is down: refused' 'signed 503 push.unread' "$refused" 1
  printf '200\n' >"$host_state/events-answer"
  expect_event 'it is back: five seconds later the same event' $'signed 503 push.unread\nsigned 200 push.unread' "$refused" 2
  ask "select tacet.announce('{}'); delete from tacet.escalations" >/dev/null
}

# Messages of a series come one after the other, each when the last one's outcome is known: what is measured is the way
# of one message through an idle service.
series_length=30

# play_series SITUATION...: commit to accepted by the simulator (its last device), as percentiles.
play_series() {
  # A debug build takes 4 ms, and three times that beside other programs. Behind the pooler nobody notifies: a message waits for the
  # next look, which comes after 250 ms at the latest, and sooner the less time has passed since the last message.
  local situation line median_max=20
  if has_pooler; then median_max=50; fi
  headline "$series_length more messages each: commit -> accepted by the simulator"
  for situation in "$@"; do
    for ((i = 0; i < series_length; i++)); do
      printf "select demo.insert_message('%s') as id \\\\gset\ncall demo.await_outcome(:'id');\n" "$situation"
    done | sql app
    load_pushes
    line=$(ask "
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
      ) s" situation="$situation" length="$series_length" median_max="$median_max")
    expect "${line% | *} (the median must be below $median_max ms)" "below $median_max ms" "${line##* | }"
  done
}
