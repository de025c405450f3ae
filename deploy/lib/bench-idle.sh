# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench idle: what a service asks its database while nothing happens, with IDLE_MODE=poll and webhook. Sourced; needs
# measure.sh.
#
# The server counts: pg_stat_statements has every statement of the service's role, BEGIN and the statements of functions not
# among them. A scraper reads /metrics every 15 seconds, as Prometheus does. With webhook the count begins when the service says
# that it sleeps and has closed its sessions; looks by itself, half an hour apart, are not in it. Then a message is committed, and a
# webhook names it.

idle_seconds=120

measure_idle() {
  local mode
  if $1; then idle_seconds=20; fi
  headline 'Starting'
  start_cluster shared_preload_libraries=pg_stat_statements
  make_host tacet 100 50 0 2 20
  sql postgres -c 'create extension pg_stat_statements'
  start_apns
  register_readers
  for mode in poll webhook; do
    headline "Nothing happens for $idle_seconds s, with IDLE_MODE=$mode"
    more_settings="IDLE_MODE=$mode
IDLE_SECONDS=5"
    start_service_anywhere >/dev/null
    if [[ $mode == webhook ]]; then await_sleep; else sleep 20; fi
    count_idle_statements
    if [[ $mode == webhook ]]; then
      check "statements a minute: $idle_rate" "$idle_rate" '==' 0
      check "sessions: $idle_sessions" "$idle_sessions" '==' 0
      wake_by_webhook
    else
      printf '  %-68s %s\n' 'statements a minute' "$idle_rate" 'sessions' "$idle_sessions"
    fi
    stop_process tacet
  done
}

# Until the service says that it sleeps, and no session is open.
await_sleep() {
  wait_until 60 tacet eval "curl -fsS '$url/metrics' | grep -q '^tacet_database_asleep 1'" ||
    die "The service does not sleep; see $state/tacet.log"
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if [[ $(service_sessions) == 0 ]]; then return; fi
    sleep 0.1
  done
  die 'The service says that it sleeps, and has sessions open.'
}

service_sessions() { sql postgres <<<"select count(*) from pg_stat_activity where usename = 'tacet'"; }

# Sets idle_rate and idle_sessions.
count_idle_statements() {
  local second calls
  sql postgres <<<'select pg_stat_statements_reset()' >/dev/null
  for ((second = 0; second < idle_seconds; second++)); do
    if ((second % 15 == 0)); then curl -fsS "$url/metrics" >/dev/null; fi
    sleep 1
  done
  calls=$(sql postgres <<<"select coalesce(sum(s.calls), 0) from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = 'tacet'")
  idle_rate=$(calculate "$calls * 60 / $idle_seconds")
  idle_rate=${idle_rate%.000}
  idle_sessions=$(service_sessions)
}

# From the webhook to its answer, which has the outcome: the sessions are opened, and the message is claimed, sent and recorded.
wake_by_webhook() {
  local id answer seconds
  id=$(sql app <<<"insert into public.messages (conversation_id, from_id, text)
    select c.conversation_id, c.sender_id, 'Are you coming to the rehearsal tonight?' from measure.conversations c
    where c.n = 1 returning id")
  answer=$(curl -fsS -w ' %{time_total}' "$url/v1/webhooks/messages" -H @<(bearer "$webhook_secret") \
    -H 'content-type: application/json' -d "{\"message_id\":\"$id\"}")
  seconds=${answer##* }
  check 'pushes for the message after the sleep' "$(grep -c '"sent":true' <<<"$answer" || true)" '==' 1
  printf '  %-68s %.0f\n' 'milliseconds from the webhook to the outcome' "$(calculate "$seconds * 1000")"
}
