# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are shared with the scripts that source this
# The books of deploy/bench upgrade, and what its programs complained of. Sourced; needs bench-upgrade.sh.

# Everything in the books, by part; each device of a reader who has not read the message is due one push.
show_books() {
  local messages held waited read due accepted lost needless again twice outcomes other
  headline 'The books'
  psql -X -q -P footer=off -P border=0 -d "$(conninfo postgres)" <<'SQL' | sed 's/^/  /'
    select
      p.name as "part, by the message's insert", b.messages, b.held, b.waited as "waited for the route", b.read,
      b.due as "pushes due", b.accepted, b.lost, b.again, b.shown_twice as twice
    from measure.parts p left join measure.books b using (part)
    union all
    select 'together', sum(messages), sum(held), sum(waited), sum(read), sum(due), sum(accepted), sum(lost), sum(again),
      sum(shown_twice)
    from measure.books;
SQL
  IFS='|' read -r messages held waited read due accepted lost needless again twice outcomes other < <(sql postgres <<<'select
    sum(messages), sum(held), sum(waited), sum(read), sum(due), sum(accepted), sum(lost), sum(needless), sum(again),
    sum(shown_twice), sum(without_one_outcome), sum(of_other_outcome) from measure.books')
  check "messages of all parts: $messages" "$messages" '>' 0
  check "of them held, and sent when the hold was over: $held" "$held" '>' 0
  check "of them sent late to a second device, when the route was back: $waited" "$waited" '>' 0
  check "of them read while held: $read" "$read" '>' 0
  check "messages without exactly one outcome in the ledger: $outcomes" "$outcomes" '==' 0
  check "messages neither sent, nor read and skipped: $other" "$other" '==' 0
  check "pushes due that the simulator has not accepted (lost): $lost" "$lost" '==' 0
  check "pushes of messages that were read before: $needless" "$needless" '==' 0
  check "pushes accepted a second time, with the same ids: $again" "$again" '==' 0
  check "devices that show a message twice (two collapse-ids or apns-ids): $twice" "$twice" '==' 0
  if ((lost > 0)); then show_lost; fi
  check_rest
}

# The first of what was lost, with what the ledger says.
show_lost() {
  sql postgres -F ' ' <<'SQL' | sed 's/^/    /'
    select
      m.created_at, m.id, 'to', coalesce(d.environment, 'production'), d.device_token, 'in the ledger:', l.decision, l.reason,
      l.devices_accepted, l.history
    from measure.deliveries d
    join public.messages m on m.id = d.message_id
    join measure.conversations c on c.conversation_id = m.conversation_id
    left join public.push_log l on l.subject_id = m.id
    where d.accepted = 0 and c.reader_id <> all (m.read_by)
    order by 1 limit 5
SQL
}

check_rest() {
  local rest changed
  rest=$(sql tacet -F ' ' <<<'select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries),
    (select count(*) from tacet.parked)')
  check "left in inbox, deliveries, parked: $rest" "$(tr ' ' + <<<"$rest")" '==' 0
  changed=$(sql postgres <<<'select measure.changed_history()')
  check "rows of the older ledger that are gone or changed, of $(sql postgres <<<'select count(*) from measure.history')" \
    "$changed" '==' 0
}

# What may be there: the closed route, the work that was made to be parked, a lock that was not had in time, and the end of the
# load. A program from before migration 34 cannot prune the ledger, which is a view for it. The newer one asks the older schema
# for a column that it lacks.
check_upgrade_logs() {
  local name names
  headline 'Logs'
  mapfile -t names < <(printf '%s\n' older newer "$way_back" | sort -u)
  for name in "${names[@]}"; do
    check_lines "$name: warnings and errors" 'cannot prune|takes no pushes|work was parked|could not enqueue' \
      "$(for place in 1 2; do complaints_of "$name-$place"; done)"
  done
  check_lines 'PostgreSQL: errors' \
    'column "ctid" does not exist|database_identity|due to lock timeout|connection to client lost' \
    "$(grep -oE ' (ERROR|FATAL|PANIC): .*' "$cluster/server.log" || true)"
}
