# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench churn: whether the queue tables stay small while many events go through them. Sourced; needs measure.sh.
#
# Every other message finds its recipient looking, so it is held for a second or two in tacet.deliveries and looked at
# again. The service claims, decides, pushes to the simulator and records; autovacuum runs with PostgreSQL's defaults.

# A table with its indexes. Between two looks of autovacuum, a minute by default, 60,000 events go through; each leaves a
# few dead rows in either table and its indexes.
churn_bytes_max=$((64 * 1024 * 1024))

measure_churn() {
  local events=200000 rate=1000
  if $1; then events=20000; fi
  headline 'Starting'
  start_cluster
  make_host tacet 20000 10000 0 2 2000
  start_apns
  register_readers
  write_churn_script
  # shellcheck disable=SC2034 # write_settings adds it
  more_settings=SUPPRESSION_WINDOW_SECONDS=2
  start_service_anywhere >/dev/null
  headline "$events events, $rate a second or what the machine takes, half of them held for two seconds"
  churn "$events" "$rate"
  await_empty_inbox
  await_no_deliveries
  conclude_churn
}

write_churn_script() {
  cat >"$state/insert.sql" <<'SQL'
\set n random(:lowest, :highest)
update public.conversation_participants p set last_seen = case when :n % 2 = 0 then now() else now() - interval '1 hour' end from measure.conversations c where c.n = :n and p.conversation_id = c.conversation_id and p.user_id = c.reader_id;
insert into public.messages (conversation_id, from_id, text) select c.conversation_id, c.sender_id, 'Are you coming to the rehearsal tonight?' from measure.conversations c where c.n = :n;
SQL
}

churn() {
  local events=$1 rate=$2 loader
  : >"$state/sizes"
  note_sizes
  insert_load "$state/churn" -c 8 -j 1 -R "$rate" -t "$((events / 8))" &
  loader=$!
  while is_running "$loader"; do
    sleep 2
    note_sizes
  done
  wait "$loader" || die "pgbench failed: $(tail -n 3 "$state/churn.report")"
  note_sizes
}

# A line: inbox bytes, its live rows; deliveries bytes, its live rows.
note_sizes() {
  sql tacet -F ' ' >>"$state/sizes" <<'SQL'
    select pg_total_relation_size('tacet.inbox'), (select count(*) from tacet.inbox),
      pg_total_relation_size('tacet.deliveries'), (select count(*) from tacet.deliveries)
SQL
}

conclude_churn() {
  local outcomes
  outcomes=$(sql tacet <<<'select count(*) from tacet.push_log')
  note_sizes
  say "  outcomes: $(sql tacet -F ' ' <<<"select string_agg(n || ' ' || decision || coalesce(' ' || reason, ''), ', ') from (select decision, reason, count(*) as n from tacet.push_log group by 1, 2) c")"
  say "  autovacuums: $(sql tacet <<<"select string_agg(relname || ' ' || autovacuum_count, ', ') from pg_stat_user_tables where relid in ('tacet.inbox'::regclass, 'tacet.deliveries'::regclass)")"
  show_churn inbox 1
  show_churn deliveries 3
  check "outcomes recorded, of $(sql tacet <<<'select count(*) from public.messages') messages" "$outcomes" '==' \
    "$(sql tacet <<<'select count(*) from public.messages')"
}

# show_churn TABLE COLUMN: its size before, at the most, and at the end.
show_churn() {
  local first most last live
  read -r first most last live < <(awk -v c="$2" '
    NR == 1 { first = $c } $c > most { most = $c } $(c + 1) > live { live = $(c + 1) } { last = $c }
    END { print first, most + 0, last, live + 0 }' "$state/sizes")
  say "  tacet.$1 with its indexes: before $(kib "$first"), at the most $(kib "$most") (with up to $live rows in it), at the end $(kib "$last")"
  sql tacet -F ' ' <<SQL | sed 's/^/    /'
    select rpad(c.relname, 24), pg_relation_size(c.oid) / 1024 || ' KiB at the end' from pg_class c
    where c.oid = 'tacet.$1'::regclass or c.oid in (select indexrelid from pg_index where indrelid = 'tacet.$1'::regclass)
SQL
  check "  largest, in bytes" "$most" '<=' "$churn_bytes_max"
}

kib() { printf '%s KiB' "$(($1 / 1024))"; }
