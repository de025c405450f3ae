# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench metrics: whether the histogram of /metrics tells the truth under load. Sourced; needs measure.sh.
#
# pgbench inserts messages at random times, 300 a second on average, in separate transactions. The service measures the time
# from each commit to APNs' acceptance. The simulator, which shares only the machine's clock with it, records when each push
# arrived and was answered, and PostgreSQL when each message was committed. The same quantiles of both are compared: the
# service's as Prometheus' histogram_quantile reads them from the buckets, the record's exactly. Both sides see all pushes.
#
# The record ends when the simulator answers, and the service's time when it has read the answer. That step is part of the
# difference.

metrics_rate=300
metrics_seconds=20
# In milliseconds, of each quantile.
metrics_difference_max=1

measure_metrics() {
  if $1; then metrics_seconds=5; fi
  headline 'Starting'
  start_cluster
  make_host tacet 20000 10000 0 2 2000
  start_apns
  register_readers
  more_settings=
  start_service_anywhere >/dev/null
  headline "Warming up, which does not count"
  insert_load "$state/warm" -c 4 -j 1 -R "$metrics_rate" -T 3 || die "pgbench failed: $(tail -n 3 "$state/warm.report")"
  await_empty_inbox
  await_no_deliveries
  forget_pushes
  scrape_latency >"$state/before"
  headline "$metrics_rate messages a second for $metrics_seconds s"
  insert_load "$state/load" -c 4 -j 1 -R "$metrics_rate" -T "$metrics_seconds" ||
    die "pgbench failed: $(tail -n 3 "$state/load.report")"
  await_empty_inbox
  await_no_deliveries
  scrape_latency >"$state/after"
  load_record
  compare_with_record
}

# The simulator's record begins anew.
forget_pushes() { curl -fsS -X DELETE "$simulator_control/pushes" >/dev/null; }

# A line for each bucket from commit to acceptance: its bound in milliseconds, and how many took that long at most.
scrape_latency() {
  curl -fsS "$url/metrics" | sed -n 's/^tacet_push_latency_seconds_bucket{stage="accepted",le="\([^"]*\)"} /\1 /p' |
    awk '{ print ($1 == "+Inf" ? "inf" : $1 * 1000), $2 }'
}

# A line for each push: milliseconds from its message's commit to the simulator's answer, ascending.
load_record() {
  curl -fsS "$simulator_control/pushes?limit=10000" >"$state/pushes.json"
  sql postgres -v file="$state/pushes.json" <<'SQL' | sort -g >"$state/record"
    \set pushes `cat :file`
    select extract(epoch from timestamptz 'epoch' + p.answered_us * interval '1 microsecond' - pg_xact_commit_timestamp(m.xmin)) * 1000
    from jsonb_to_recordset(:'pushes'::jsonb -> 'pushes') as p (answered_us bigint, collapse_id uuid, status int)
    join public.messages m on m.id = p.collapse_id
    where p.status = 200;
SQL
}

compare_with_record() {
  local inserted counted seen share service record difference
  inserted=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$state/load.report")
  counted=$(latency_buckets | awk 'END { print $2 }')
  seen=$(wc -l <"$state/record")
  headline 'From commit to acceptance, in milliseconds'
  say '             /metrics   simulator  difference'
  for share in 0.5 0.9 0.99; do
    service=$(latency_buckets | bucket_quantile "$share")
    record=$(record_quantile "$share")
    difference=$(calculate "$service - $record")
    say "$(printf '  p%-9s %9.3f   %9.3f   %9.3f' "$(calculate "$share * 100" | sed 's/\.0*$//')" "$service" "$record" "$difference")"
    if [[ $share != 0.9 ]]; then
      check "  apart, in milliseconds" "${difference#-}" '<=' "$metrics_difference_max"
    fi
  done
  check "pushes counted by the service" "$counted" '==' "$inserted"
  check "pushes in the simulator's record" "$seen" '==' "$inserted"
}

# The cumulative buckets of the time between the two scrapes.
latency_buckets() { paste -d ' ' "$state/before" "$state/after" | awk '{ print $3, $4 - $2 }'; }

# bucket_quantile SHARE: as histogram_quantile reads it, in a straight line through the bucket.
bucket_quantile() {
  awk -v share="$1" '
    { bound[NR] = $1; count[NR] = $2 }
    END {
      rank = share * count[NR]
      for (i = 1; count[i] < rank; i++) {}
      low = i > 1 ? bound[i - 1] : 0
      before = i > 1 ? count[i - 1] : 0
      if (bound[i] == "inf") print low
      else printf "%.3f\n", low + (bound[i] - low) * (rank - before) / (count[i] - before)
    }'
}

record_quantile() {
  awk -v share="$1" '{ v[NR] = $1 } END { i = int(NR * share); if (i < NR * share) i++; if (i < 1) i = 1; printf "%.3f\n", v[i] }' \
    "$state/record"
}
