# The runs of deploy/bench: a line of JSON in .bench/runs.jsonl for each. Sourced; needs loads.sh.
#
# Within a round, compared subjects are measured right after one another, and each round begins with another subject.

# Name; the rounds: every one, or some (the first of a quick measurement, every other of a whole one); the participants: the builds, also the databases, or a reference beside the builds.
bench_scenarios='
  inserts-300    every  references
  inserts-1000   some   references
  insert-trigger some   references
  apns-client    every  references
  http-server    every  references
  messages-300   every  databases
  messages-1000  some   databases
  unfolded-300   some   builds
  sustained      some   builds
  burst-10000    every  builds
  group-1000     some   builds
  kill           some   builds
  start          some   builds
'

# scenarios_of PARTICIPANTS ROUND: the names of those that the round has.
scenarios_of() {
  local name often who
  while read -r name often who; do
    # In a quick measurement history is looked at in one of them.
    if $quick && [[ $who == databases && $name != messages-300 ]]; then who=builds; fi
    if [[ -z $name || $who != "$1" ]] || ! is_in_round "$often" "$2"; then continue; fi
    if ((${#only[@]} > 0)) && [[ " ${only[*]} " != *" $name "* ]]; then continue; fi
    printf '%s\n' "$name"
  done <<<"$bench_scenarios"
}

# is_in_round OFTEN ROUND: by the words of the table; scenarios that were asked for are in every round.
is_in_round() {
  if [[ $1 == every ]] || ((${#only[@]} > 0)); then return; fi
  if $quick; then [[ $1 == some && $2 == 1 ]]; else (($2 % 2)); fi
}

# turns ROUND SUBJECTS...: in the order of that round, one to a line.
turns() {
  local first=$((($1 - 1) % ($# - 1)))
  shift
  printf '%s\n' "${@:first + 1}" "${@:1:first}"
}

# note_run SCENARIO SUBJECT ROUND FIGURE=VALUE...
note_run() {
  local scenario=$1 subject=$2 round=$3 figures=''
  shift 3
  while (($# > 0)); do
    figures+=",\"${1%%=*}\":${1#*=}"
    shift
  done
  printf '{"scenario":"%s","subject":"%s","round":%d,"figures":{%s}}\n' "$scenario" "$subject" "$round" "${figures#,}" \
    >>"$state/runs.jsonl"
}

run_round() {
  local round=$1 scenario builds=() others=()
  mapfile -t builds < <(turns "$round" "${bench_builds[@]}")
  mapfile -t others < <(turns "$round" "${bench_subjects[@]}")
  while read -r scenario; do
    if [[ -n $scenario ]]; then "run_${scenario//-/_}" "$round"; fi
  done < <(scenarios_of references "$round")
  run_service "$round" databases "${others[@]}"
  run_service "$round" builds "${builds[@]}"
}

# run_service ROUND PARTICIPANTS SUBJECTS...: their scenarios through the whole service. The tool names a failed run; the
# others count.
run_service() {
  local round=$1 participants=$2 options=() subject scenario
  shift 2
  while read -r scenario; do options+=(--scenario "$scenario"); done < <(scenarios_of "$participants" "$round")
  if ((${#options[@]} == 0)); then return; fi
  for subject in "$@"; do
    database=$(database_of "$subject")
    options+=(--subject "$subject=$(programs_of "$subject")/tacet,$(conninfo tacet)")
  done
  "$programs/tacet-bench" service "${options[@]}" --host-role app --round "$round" --seconds "$bench_seconds" \
    --warm-up "$bench_warm_up" --folder "$state" >>"$state/runs.jsonl" 9>&- &
  load_pid=$!
  wait "$load_pid" || failures=$((failures + 1))
  load_pid=
}

# The host's inserts into a separate table, 300 a second: pgbench sleeps most of the time, like the service at this rate.
run_inserts_300() { run_pgbench inserts-300 "$1" -c 4 -R 300; }

run_inserts_1000() { run_pgbench inserts-1000 "$1" -c 16 -R 1000; }

run_pgbench() {
  local scenario=$1 round=$2 rate cost ticks
  local TIMEFORMAT='%U %S'
  shift 2
  say "$scenario"
  database=bench_reference
  ticks=$(database_ticks)
  { time pgbench -n -M prepared -j 1 -T "$bench_reference_seconds" -f "$state/reference.sql" "$@" "$(conninfo app)" \
    >"$state/pgbench.report" 2>"$state/pgbench.log"; } 2>"$state/pgbench.time" ||
    die "pgbench has failed: $(tail -n 3 "$state/pgbench.log")"
  ticks=$(($(database_ticks) - ticks))
  rate=$(rate_of "$state/pgbench")
  cost=$(awk -v inserts="$(inserts_of "$state/pgbench.report")" '{ printf "%.3f", ($1 + $2) * 1e6 / inserts }' "$state/pgbench.time")
  note_run "$scenario" pgbench "$round" "inserts_per_second=$rate" "cpu_us_per_insert=$cost" \
    "database_cpu_us_per_insert=$(calculate "$ticks * 1000000 / $(getconf CLK_TCK) / $(inserts_of "$state/pgbench.report")")" \
    "latency_ms=$(sed -n 's/^latency average = \([0-9.]*\) ms/\1/p' "$state/pgbench.report")"
}

# What the trigger adds to an insert on the database's side: one session, which waits for no disk, inserts as fast as it can. With
# the trigger less without; and with a trigger that finds a service asleep, so that it wakes it.
run_insert_trigger() {
  local round=$1 subject leg trigger listening before inserts=3000 legs='without quiet listened listened quiet without'
  local -A ticks
  for subject in $(turns "$round" "${bench_builds[@]}"); do
    say "insert-trigger, $subject"
    database=bench_trigger_$subject
    ticks=([without]=0 [listened]=0 [quiet]=0)
    # In many short turns, because other load comes and goes.
    for leg in $legs $legs $legs; do
      trigger=enable listening=-infinity
      case $leg in without) trigger=disable ;; listened) listening=infinity ;; esac
      sql tacet <<SQL
        truncate tacet.inbox, public.messages;
        alter table public.messages $trigger trigger user;
        update tacet.settings set listening_until = '$listening';
SQL
      before=$(database_ticks)
      PGOPTIONS='-c synchronous_commit=off' insert_load "$state/pgbench" -c 1 -t "$inserts" ||
        die "pgbench has failed: $(tail -n 3 "$state/pgbench.report")"
      ticks[$leg]=$((ticks[$leg] + $(database_ticks) - before))
    done
    note_run insert-trigger "$subject" "$round" "added_cpu_us=$(ticks_each $((ticks[quiet] - ticks[without])) $((6 * inserts)))" \
      "added_cpu_us_notifying=$(ticks_each $((ticks[listened] - ticks[without])) $((6 * inserts)))" \
      "bare_cpu_us=$(ticks_each "${ticks[without]}" $((6 * inserts)))"
  done
}

# When the sessions of pgbench have ended.
database_ticks() {
  while pgrep -P "$(head -n 1 "$cluster/postmaster.pid")" -f "$database" >/dev/null; do sleep 0.05; done
  cluster_ticks
}

# The processor time of PostgreSQL's processes, of ended ones too.
cluster_ticks() {
  local postmaster
  postmaster=$(head -n 1 "$cluster/postmaster.pid")
  pgrep -P "$postmaster" | sed "s|.*|/proc/&/stat|; \$a/proc/$postmaster/stat" | { xargs cat 2>/dev/null || true; } |
    awk -v postmaster="$postmaster" '{
      pid = $1
      sub(/.*\) /, "")
      ticks += $12 + $13 + (pid == postmaster ? $14 + $15 : 0)
    } END { print ticks }'
}

inserts_of() { sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$1"; }

write_reference_script() {
  cat >"$state/reference.sql" <<'SQL'
insert into public.messages (conversation_id, from_id, text) values (gen_random_uuid(), gen_random_uuid(), 'Are you coming to the rehearsal tonight?');
SQL
}

# The APNs client of each build that has a tacet-bench beside h2load, against the same nghttpd, on one connection each.
prepare_apns_client() {
  make_certificate
  make_devices
  start_nghttpd
  apns_port=$bench_port
  bench_apns "$state/bench.json" --pushes "$bench_pushes" --connections 1
  write_h2load_input "$(figure body_bytes "$state/bench.json")"
  load_h2 "$bench_pushes"
}

run_apns_client() {
  local round=$1 subject bench_port=$apns_port
  say 'apns-client'
  for subject in $(turns "$round" h2load "${bench_builds[@]}"); do
    if [[ $subject == h2load ]]; then
      run_h2load "$round"
    elif [[ -x $(programs_of "$subject")/tacet-bench ]]; then
      run_our_client "$subject" "$round"
    fi
  done
}

run_h2load() {
  load_h2 "$bench_pushes"
  note_run apns-client h2load "$1" "requests_per_second=$h2load_rate" "cpu_us_per_request=$h2load_cost" \
    "requests_per_cpu_second=$(calculate "1000000 / $h2load_cost")"
}

run_our_client() {
  local subject=$1 round=$2 report=$state/bench.json cost composing
  programs=$(programs_of "$subject") bench_apns "$report" --pushes "$bench_pushes" --warm-up 1000 --connections 1
  cost=$(figure cpu_microseconds_per_push "$report")
  composing=$(figure cpu_microseconds_composing "$report")
  if [[ $(figure lost "$report") != 0 ]]; then
    complain "apns-client, $subject: $(figure lost "$report") pushes were lost"
    failures=$((failures + 1))
  fi
  # h2load composes nothing: all its requests are one that is prepared.
  note_run apns-client "$subject" "$round" "requests_per_second=$(figure pushes_per_second "$report")" \
    "cpu_us_per_request=$cost" "cpu_us_composing=$composing" "requests_per_cpu_second=$(calculate "1000000 / $cost")" \
    "without_composing_per_cpu_second=$(calculate "1000000 / ($cost - $composing)")"
}

# The HTTP server of each build with one reactor beside nginx with one worker. A service runs only while it is measured.
prepare_http_server() {
  start_nginx
  http_port=$bench_port
  load_http nginx "http://127.0.0.1:$http_port" "$http_connections" 1
}

run_http_server() {
  local round=$1 subject
  say 'http-server'
  for subject in $(turns "$round" nginx "${bench_builds[@]}"); do
    if [[ $subject == nginx ]]; then
      load_http nginx "http://127.0.0.1:$http_port" "$http_connections" "$bench_http_seconds"
      note_http_run nginx "$round"
    else
      run_our_server "$subject" "$round"
    fi
  done
}

run_our_server() {
  local subject=$1 round=$2 name=http-$1 port
  port=$(free_port)
  database=$(database_of "$subject")
  write_http_settings "$port"
  ln -sf "$(programs_of "$subject")/tacet" "$state/$name"
  start_process "$name" TACET_CONFIG="$state/settings" "$state/$name" serve
  wait_until 15 "$name" curl -fsS "http://127.0.0.1:$port/healthz" || die "$name did not start: $(tail -n 5 "$state/$name.log")"
  load_http "$name" "http://127.0.0.1:$port" "$http_connections" 1
  load_http "$name" "http://127.0.0.1:$port" "$http_connections" "$bench_http_seconds"
  stop_process "$name" || die "$name did not stop well; see $state/$name.log"
  note_http_run "$subject" "$round"
}

note_http_run() {
  note_run http-server "$1" "$2" "requests_per_second=$http_rate" "cpu_us_per_request=$http_cost" \
    "user_cpu_us_per_request=$http_user_cost" "latency_p50_us=$http_median" "latency_p99_us=$http_p99"
}

# write_http_settings PORT: nghttpd stands in for APNs, and gets no push.
write_http_settings() {
  if [[ ! -f $state/apns-key.p8 ]]; then
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$state/apns-key.p8" 2>/dev/null
  fi
  cat >"$state/settings" <<SETTINGS
DATABASE_URL=$(conninfo tacet)
LISTEN_ADDRESS=127.0.0.1:$1
WEBHOOK_SECRET=whsec_$(openssl rand -base64 24)
SERVICE_KEY=$(openssl rand -hex 24)
JWT_SECRET=$(openssl rand -hex 32)
APNS_KEY_ID=$key_id
APNS_TEAM_ID=$team_id
APNS_BUNDLE_ID=$bundle
APNS_PRIVATE_KEY_FILE=$state/apns-key.p8
APNS_URL=https://127.0.0.1:$apns_port
APNS_CA_FILE=$state/certificate.pem
REACTORS=1
LOG_LEVEL=warning
SETTINGS
}
