# deploy/bench's cluster and databases. Sourced; needs measure.sh.
#
#   bench_empty                          50,000 people in 100,000 conversations of two, 20,000 messages, an empty ledger
#   bench_against                        the same, migrated by the other build
#   bench_1m, bench_10m, bench_100k      the same people, with as many messages and finished rows of the ledger
#   bench_reference                      one table like the host's messages, without any part of Tacet
#   bench_trigger_tacet, _against        a small host, whose inserts no service sees
#
# A quick measurement has a tenth of the people and conversations, and bench_100k in place of the two large ones.

bench_users=50000
bench_conversations=100000
bench_picked=2000
bench_seed_messages=20000

# The settings for loading, which need not survive a crash. start_cluster follows, so that all measurements are durable.
start_loading_cluster() {
  postgres_start "$cluster" fsync=off wal_level=minimal max_wal_senders=0 shared_buffers=512MB max_wal_size=16GB \
    checkpoint_timeout=1h maintenance_work_mem=1GB autovacuum=off
}

make_bench_databases() {
  local subject
  if $quick; then bench_users=5000 bench_conversations=10000; fi
  start_loading_cluster
  for subject in "${bench_subjects[@]}"; do
    progressing "Making $(database_of "$subject")" "$state/load.log" make_bench_database "$subject"
  done
  make_reference_database
  for subject in "${bench_builds[@]}"; do
    programs=$(programs_of "$subject") make_host "bench_trigger_$subject" 1000 1000 0 2 500
    sql postgres <<<'alter table public.messages set (autovacuum_enabled = off); alter table tacet.inbox set (autovacuum_enabled = off)'
  done
  # Rows loaded with fsync=off must reach the disk now, so that no measurement waits for them.
  postgres_stop "$cluster"
  sync
  start_cluster shared_buffers=1GB max_connections=200
}

database_of() {
  case $1 in
  tacet) printf 'bench_empty\n' ;;
  against) printf 'bench_against\n' ;;
  rows-*) printf 'bench_%s\n' "${1#rows-}" ;;
  esac
}

# Which build's programs a subject is measured with.
programs_of() { if [[ $1 == against ]]; then printf '%s\n' "$against"; else printf '%s\n' "$programs"; fi; }

history_rows_of() {
  case $1 in
  rows-100k) printf '100000\n' ;;
  rows-1m) printf '1000000\n' ;;
  rows-10m) printf '10000000\n' ;;
  *) printf '0\n' ;;
  esac
}

make_bench_database() {
  local subject=$1 rows messages its_programs
  its_programs=$(programs_of "$subject")
  rows=$(history_rows_of "$subject")
  messages=$((rows > 0 ? rows : bench_seed_messages))
  programs=$its_programs make_host "$(database_of "$subject")" "$bench_users" "$bench_conversations" 0 2 1
  sql postgres -f "$checkout/deploy/lib/bench/history.sql"
  sql postgres <<<"call measure.pick_conversations($bench_users, $bench_conversations, $bench_picked)"
  load_history "$messages" "$rows"
  # Marks as a service leaves them that has run for some hours.
  sql postgres <<<'select tacet.move_unread_marks(array(select c.reader_id from measure.conversations c))'
  # Tells how large the log is without page images; since PostgreSQL 15.
  sql postgres <<<'create extension pg_walinspect schema public' || true
  sql postgres -c 'vacuum analyze' -c checkpoint
}

# load_history MESSAGES FINISHED: two sessions, because there are two processors.
load_history() {
  local ledger
  sql postgres <<<"call measure.load_ledger($2, $bench_users)" &
  ledger=$!
  sql postgres <<<"call measure.load_messages($bench_users, $bench_conversations, $1)"
  wait "$ledger"
}

make_reference_database() {
  database=bench_reference
  create_database
  sql app -d "$(conninfo postgres)" <<'SQL'
    create table public.messages (
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      id uuid primary key default gen_random_uuid(),
      conversation_id uuid not null,
      from_id uuid not null,
      text text,
      read_by uuid[] not null default '{}'
    );
    create index on public.messages (conversation_id, created_at desc);
    grant insert on public.messages to app;
SQL
}

# Marks the messages of a round as read an hour ago, so that no user counts as looking, and vacuums: all rounds begin alike.
read_messages() {
  local subject
  for subject in "${bench_subjects[@]}"; do
    database=$(database_of "$subject")
    sql postgres <<'SQL'
      set session_replication_role = replica;
      update public.messages m set read_by = array[p.reader_id], updated_at = now() - interval '1 hour'
      from measure.conversations p
      where m.conversation_id = p.conversation_id and m.read_by = '{}';
SQL
    sql postgres -c 'vacuum analyze public.messages'
  done
}

# Lets the measuring tool make checkpoints, so that none falls into a run, and read the log. The service's role has no such privilege.
allow_checkpoints() {
  if (($(sql postgres <<<'show server_version_num') >= 150000)); then sql postgres <<<'grant pg_checkpoint, pg_read_server_files to tacet'; fi
}

# The disk's share of a commit, in milliseconds: the mean of 200 synchronous writes of a page.
flush_milliseconds() {
  local file=$cluster/flush seconds
  seconds=$(LC_ALL=C dd if=/dev/zero of="$file" bs=8k count=200 oflag=dsync 2>&1 | sed -n 's/.* copied, \([0-9.e-]*\) s,.*/\1/p')
  rm -f "$file"
  calculate "$seconds * 1000 / 200"
}
