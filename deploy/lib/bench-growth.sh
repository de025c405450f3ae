# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench growth: whether claims and records slow down as the ledger grows, and as deliveries wait. Sourced; needs
# measure.sh.
#
# Three databases with the same host application: one with an empty ledger, one with finished rows, one in which 50,000
# deliveries come to wait while the service runs. The service works on each in turns, and each round gives one ratio of
# medians; PostgreSQL's auto_explain logs, for the service's sessions alone, what each of its statements took in the
# server, by which plan (without the time of single plan nodes, whose measuring costs more than they do), and what it
# wrote to the WAL. All tables fit into shared_buffers, in huge pages where the kernel gives them: each start of the service
# makes new sessions, and in small pages such a session's first touch of each page of an index is a page fault, which a
# service that runs for days does not have. Full batches come from 2,000 messages at once. Single ones come while 100 messages a second are
# inserted. The messages' recipients have no device, so nothing waits for APNs.

huge_pages_before=

measure_growth() {
  local rounds=9 finished=1000000 users=50000 conversations=100000 messages=1000000
  if $1; then rounds=3 finished=100000 users=5000 conversations=10000 messages=100000; fi
  headline "Starting: $messages messages, $conversations conversations, $users people; $finished finished rows"
  rm -f "$state"/times.* "$state"/plans.*
  reserve_huge_pages
  start_cluster shared_buffers=1536MB huge_pages=try
  make_host "small" "$users" "$conversations" "$messages" 4 2000
  sql postgres <<'SQL'
    delete from public.push_tokens t using measure.conversations c, public.conversation_participants p
    where p.conversation_id = c.conversation_id and t.user_id = p.user_id;
    alter role tacet set session_preload_libraries = auto_explain;
    alter role tacet set auto_explain.log_min_duration = 0;
    alter role tacet set auto_explain.log_analyze = on;
    alter role tacet set auto_explain.log_timing = off;
    alter role tacet set auto_explain.log_wal = on;
SQL
  copy_small waiting
  create_grown "$finished" "$users"
  show_ledger_sizes "$finished"
  start_apns
  headline "$rounds rounds on each database, in turns"
  measure_rounds "$rounds"
  headline 'Time in the server: empty ledger, grown ledger'
  compare_times small grown "$rounds"
  show_full_pages small grown "$rounds"
  headline 'Time in the server: nothing waits, 50,000 deliveries wait'
  compare_times small waiting "$rounds"
  check_plans
}

# Until the script ends; as PostgreSQL's manual advises for large shared_buffers.
reserve_huge_pages() {
  if [[ -w /proc/sys/vm/nr_hugepages ]]; then
    huge_pages_before=$(</proc/sys/vm/nr_hugepages)
    echo $((huge_pages_before + 850)) >/proc/sys/vm/nr_hugepages
  fi
  if (($(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo) < 850)); then
    say 'Huge pages: not to be had, so the first touches of new sessions count as growth.'
  else
    say 'Huge pages: reserved for the time of the measurement.'
  fi
}

return_huge_pages() { if [[ -n $huge_pages_before ]]; then echo "$huge_pages_before" >/proc/sys/vm/nr_hugepages; fi; }

# copy_small NAME: a copy that the service accepts; it becomes the database of what follows.
copy_small() {
  psql -X -q -v ON_ERROR_STOP=1 -d "$(conninfo postgres postgres)" -c "create database $1 template small"
  database=$1
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" adopt >"$state/adopt.log" ||
    die "The copy $1 could not be adopted: $(tail -n 3 "$state/adopt.log")"
}

create_grown() {
  copy_small grown
  sql postgres -v finished="$1" -v users="$2" <<'SQL'
    call measure.fill_ledger(:finished, 13, :users);
    insert into tacet.push_log (enqueued_at, claimed_at, subject_id, user_id, push_type, decision)
    select now() - interval '20 days', now() - interval '20 days', gen_random_uuid(), gen_random_uuid(), 'message', 'sent'
    from generate_series(1, 3000);
SQL
  sql postgres -c 'vacuum analyze' -c checkpoint
}

# The first round on each warms up and does not count.
measure_rounds() {
  local rounds=$1 round turns=(small grown waiting)
  for ((round = 0; round <= rounds; round++)); do
    for database in "${turns[@]}"; do
      measure_round
      statement_times <"$state/plans.log" >"$state/times.$database.$round"
      cat "$state/plans.log" >>"$state/plans.$database"
    done
    turns=("${turns[@]:1}" "${turns[0]}")
  done
}

measure_round() {
  local log=$cluster/server.log offset
  start_service_anywhere >/dev/null
  if [[ $database == waiting ]]; then let_deliveries_wait; fi
  offset=$(stat -c %s "$log")
  sql app -v n=2000 <<'SQL'
    insert into public.messages (conversation_id, from_id, text)
    select c.conversation_id, c.sender_id, 'Are you coming?' from measure.conversations c where c.n <= :n;
SQL
  await_empty_inbox
  insert_load "$state/single" -c 1 -R 100 -T 3
  await_empty_inbox
  send_webhooks
  if [[ $database == grown ]]; then await_pruned; fi
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
  if [[ $database == waiting ]]; then sql tacet <<<'delete from tacet.deliveries'; fi
  tail -c "+$((offset + 1))" "$log" >"$state/plans.log"
}

# What an outage of APNs does: the service runs and has planned its statements for empty queues, then deliveries wait
# that are not due, and more messages come.
let_deliveries_wait() {
  insert_load "$state/single" -c 1 -R 100 -T 1
  await_empty_inbox
  sql tacet <<'SQL'
    insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
    select now() + interval '1 day', now(), gen_random_uuid(), gen_random_uuid(), 'message', 'held'
    from generate_series(1, 50000);
SQL
}

# Messages that only a webhook announces, so that the service enters them, waits and looks them up.
send_webhooks() {
  local count id
  sql tacet <<<'update tacet.settings set notify_enabled = false'
  for ((count = 0; count < 5; count++)); do
    # The service polls less and less often, down to once a second.
    sleep 0.3
    id=$(sql app <<<"insert into public.messages (conversation_id, from_id) select conversation_id, sender_id from measure.conversations limit 1 returning id")
    curl -fsS "$url/v1/webhooks/messages" -H @<(bearer "$webhook_secret") -H 'content-type: application/json' \
      -d "{\"message_id\":\"$id\"}" >/dev/null
  done
  sql tacet <<<'update tacet.settings set notify_enabled = true'
}

# The service prunes within ten seconds of its start.
await_pruned() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    if [[ $(sql tacet <<<"select exists (select from tacet.push_log where enqueued_at < now() - interval '15 days')") == f ]]; then return; fi
    sleep 0.1
  done
  die "Rows of the ledger that are 20 days old were not pruned within 30 s."
}

# Reads auto_explain's log. A line for each claim, of messages or of everything, and record: statement, rows, milliseconds, whole pages written to the WAL.
statement_times() {
  awk '
    function finish() { if (name != "" && rows > 0) print name, rows, time, pages; name = ""; rows = 0; pages = 0 }
    /duration: [0-9.]+ ms  plan:/ { finish(); match($0, /[0-9.]+ ms  plan/); time = substr($0, RSTART) + 0; top = 1 }
    !/^\t/ && !/plan:/ { finish() }
    /with newest as materialized/ || /and n.attempts = 0 and not n.is_claimed/ { name = "claim" }
    /insert into tacet.push_log as l/ { name = "record" }
    /^\t[A-Z].*\(cost=.*actual rows=/ { if (name == "claim" && top) rows = number("actual rows="); top = 0 }
    /Function Scan on (unnest )?o / { if (name == "record") rows = number("actual rows=") }
    /WAL: .*fpi=/ { if (number("fpi=") > pages) pages = number("fpi=") }
    function number(label) { match($0, label "[0-9]+"); return substr($0, RSTART + length(label), RLENGTH - length(label)) + 0 }
    END { finish() }'
}

# compare_times ONE OTHER ROUNDS: the medians of two sets of times, and the ratios of their rounds.
compare_times() {
  local statement
  for statement in claim record; do
    compare_time "$1" "$2" "$3" "$statement" single 'rows <= 4' time ms
    compare_time "$1" "$2" "$3" "$statement" full 'rows >= 100' 'time / rows * 1000' 'us a recipient'
  done
}

# compare_time ONE OTHER ROUNDS STATEMENT TEXT CONDITION VALUE UNIT
compare_time() {
  local one=$1 other=$2 rounds=$3 statement=$4 condition=$6 value=$7 round before after ratio lowest highest empty=0 ratios=()
  say "  $5 ${statement}s: $(middle_of "$one.[1-9]" "$statement" "$condition" "$value") and" \
    "$(middle_of "$other.[1-9]" "$statement" "$condition" "$value") $8"
  for ((round = 1; round <= rounds; round++)); do
    before=$(middle_of "$one.$round" "$statement" "$condition" "$value" middle)
    after=$(middle_of "$other.$round" "$statement" "$condition" "$value" middle)
    # 0 is the median of nothing.
    if [[ $before == 0.000000 || $after == 0.000000 ]]; then
      empty=$((empty + 1))
    else
      ratios+=("$(calculate "$after / $before")")
    fi
  done
  check '  rounds without any' "$empty" '==' 0
  if ((${#ratios[@]} == 0)); then return; fi
  read -r ratio lowest highest <<<"$(median "${ratios[@]}")"
  check "  ratio $ratio ($lowest … $highest)" "$ratio" '<' 1.5
}

# values_of TIMES STATEMENT CONDITION VALUE: of all rounds that the pattern TIMES names.
values_of() { cat "$state"/times.$1 | awk "\$1 == \"$2\" { rows = \$2; time = \$3; pages = \$4; if ($3) print $4 }"; }

# middle_of TIMES STATEMENT CONDITION VALUE [middle]: the median; without the last word also number and middle half.
middle_of() {
  values_of "$1" "$2" "$3" "$4" | sort -g | awk -v plain="${5:-}" '
    { v[NR] = $1 }
    END {
      if (plain != "") printf "%.6f", v[int((NR + 1) / 2)]
      else printf "%.3f (%.3f … %.3f, %d times)", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)], NR
    }'
}

# show_full_pages ONE OTHER ROUNDS: a page's first change after a checkpoint goes to the WAL whole. Each subject has a
# random place in the index of a large ledger, so after a checkpoint most rows of a batch are such a first change.
show_full_pages() {
  local ledger round
  for ledger in "$1" "$2"; do
    say "  whole pages in the WAL for each recipient of full records, by round, $ledger:" \
      "$(for ((round = 0; round <= $3; round++)); do pages_of_round "$ledger.$round"; done)"
  done
}

pages_of_round() {
  values_of "$1" record 'rows >= 100' 'pages, rows' | awk '{ pages += $1; rows += $2 } END { printf "%.2f ", pages / rows }'
}

# Every plan that the service's statements had on the grown database.
check_plans() {
  local name pattern plans=$state/plans.grown
  headline 'Plans on the grown database'
  while IFS='|' read -r name pattern; do
    check "$name: plans seen" "$(grep -c "$pattern" "$plans" || true)" '>' 0
  done <<'NAMES'
claim|with newest as materialized
claim_messages|and n.attempts = 0 and not n.is_claimed
record|insert into tacet.push_log as l
ingest|insert into tacet.inbox (subject_id, kind, enqueued_at)
outcome|true as is_known
prune_ledger|delete from tacet.push_log
NAMES
  check 'plans that read push_log or messages from end to end' "$(grep -cE 'Seq Scan on (push_log|messages)' "$plans" || true)" '==' 0
  show_plan claim 'with newest as materialized' "$plans"
  show_plan claim_messages 'and n.attempts = 0 and not n.is_claimed' "$plans"
  show_plan record 'insert into tacet.push_log as l' "$plans"
  show_plan prune_ledger 'delete from tacet.push_log' "$plans"
}

# The last plan of a statement that found something, without its text.
show_plan() {
  say "
  The last plan of $1:"
  awk -v pattern="$2" '
    /duration: .* plan:/ { entry = 0; text = ""; head = "" }
    index($0, pattern) { entry = 1 }
    /^\t/ && /\(cost=/ && head == "" { head = "seen"; if (/actual rows=0 /) entry = 0 }
    head != "" && /^\t/ { text = text "  " $0 "\n" }
    !/^\t/ && !/plan:/ { entry = 0 }
    entry && text != "" { last = text }
    END { printf "%s", last }' "$3" | grep -vE 'Query Text|Buffers' | sed 's/(cost=[^)]*) //; s/\t/  /'
}

# What a million rows of the ledger take.
show_ledger_sizes() {
  headline "The ledger on disk, for each million rows"
  sql tacet -F ' ' <<'SQL' | sed 's/^/  /'
    select rpad(c.relname, 24), measure.pretty((pg_relation_size(c.oid) * 1000000.0 / n.rows)::bigint)
    from pg_class c, (select count(*) as rows from tacet.push_log) n
    where c.oid = 'tacet.push_log'::regclass
      or c.oid in (select indexrelid from pg_index where indrelid = 'tacet.push_log'::regclass)
    order by c.relkind desc, c.relname
SQL
}
