# What all measurements of deploy/bench share: a durable cluster, a host application, statistics, bounds. Sourced after the
# files it uses.

misses=0

# Every commit waits for the disk, and no checkpoint falls into one side of a pair.
start_cluster() {
  postgres_start "$cluster" fsync=on synchronous_commit=on shared_buffers=512MB max_wal_size=8GB checkpoint_timeout=1h \
    random_page_cost=1.1 "$@"
  say "PostgreSQL $("$(postgres_programs)/postgres" --version | cut -d ' ' -f 3): fsync on, synchronous_commit on;" \
    "$(nproc) processors shared by all that runs here."
}

# make_host DATABASE USERS CONVERSATIONS MESSAGES MEMBERS PICKED: a migrated database with a filled host application.
make_host() {
  database=$1
  create_database
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate --create-host-tables >"$state/migrate.log" ||
    die "The migrations failed: $(tail -n 3 "$state/migrate.log")"
  sql postgres -f "$checkout/deploy/lib/bench/measure.sql"
  sql postgres <<SQL
    grant usage on schema measure to app, tacet;
    grant select on all tables in schema measure to app, tacet;
    grant select, insert, update, delete on public.profiles, public.conversations, public.conversation_participants,
      public.messages, public.push_tokens to app;
    call measure.fill_host($2, $3, $4, $5, $6);
SQL
  lowest=1 highest=$6
  sql postgres -c 'vacuum analyze' -c checkpoint
}

# The simulator, and where the service finds it.
start_apns() {
  webhook_secret=whsec_$(openssl rand -base64 24)
  start_simulator >/dev/null
}

# Waits until nothing is in the inbox; a minute is more than any measurement leaves.
await_empty_inbox() {
  is_none_within 60 'select count(*) from tacet.inbox' || die "The service did not empty the inbox; see its log in $state"
}

# Waits until every message has its outcome; held ones have theirs within a minute.
await_no_deliveries() {
  is_none_within 60 'select count(*) from tacet.deliveries' ||
    die "Deliveries are left after a minute; see the service's log in $state"
}

# A device for each recipient, known to the simulator.
register_readers() {
  sql postgres <<'SQL'
    delete from public.push_tokens;
    insert into public.push_tokens (user_id, device_token)
    select distinct reader_id, encode(sha256(convert_to(reader_id::text, 'UTF8')), 'hex') from measure.conversations;
SQL
  sql tacet <<<"select format('url = \"$simulator_control/tokens/%s\"', device_token) from public.push_tokens" >"$state/tokens"
  curl -fsS -X PUT -K "$state/tokens" -H 'content-type: application/json' \
    -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"}"
}

# insert_load PREFIX OPTIONS...: pgbench as the host's role, inserting single messages in separate transactions, into
# the conversations lowest to highest of those that were picked. Its report goes to PREFIX.report.
insert_load() {
  local prefix=$1
  shift
  pgbench -n -M prepared -f "$state/insert.sql" -D "lowest=$lowest" -D "highest=$highest" "$@" "$(conninfo app)" \
    >"$prefix.report" 2>&1
}

write_insert_script() {
  cat >"$state/insert.sql" <<'SQL'
\set n random(:lowest, :highest)
insert into public.messages (conversation_id, from_id, text) select c.conversation_id, c.sender_id, 'Are you coming to the rehearsal tonight?' from measure.conversations c where c.n = :n;
SQL
}

# Transactions per second of a report.
rate_of() { sed -n 's/^tps = \([0-9.]*\) .*/\1/p' "$1.report"; }

calculate() { awk "BEGIN { printf \"%.3f\", $1 }"; }

# verdict VALUE OPERATOR BOUND: says whether it holds, and counts when it does not.
verdict() {
  if awk "BEGIN { exit !($1 $2 $3) }"; then
    printf '%s%s %s: holds%s' "$green" "$2" "$3" "$plain"
  else
    printf '%s%s %s: MISSED%s' "$red" "$2" "$3" "$plain"
    return 1
  fi
}

# check TEXT VALUE OPERATOR BOUND: a line with its verdict.
check() {
  local text
  text=$(verdict "$2" "$3" "$4") || misses=$((misses + 1))
  printf '  %-68s %s\n' "$1" "$text"
}
