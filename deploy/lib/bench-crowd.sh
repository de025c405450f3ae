# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench crowd: what idle and slow connections cost the server and its healthy requests. Sourced; needs measure.sh and
# bench-loads.sh. wrk, the service and the crowd in Python share the machine.

http_idle=2000
http_slow=200

measure_crowd() {
  local rounds=5 seconds=5
  if $1; then rounds=3 seconds=2; fi
  headline 'Starting'
  start_cluster
  create_database
  migrate_host_tables
  start_apns
  more_settings='REACTORS=1'
  start_service_anywhere
  headline "A crowd: $http_idle idle connections and $http_slow that send a byte a second"
  compare_crowd "$rounds" "$seconds"
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
}

# compare_crowd ROUNDS SECONDS: healthy requests on eight connections, with and without a crowd in turns. Memory is looked at
# in the first round, in which the crowd is new to the server.
compare_crowd() {
  local rounds=$1 seconds=$2 round quiet before after bytes=() ratios=() alone=() beside=()
  for ((round = 1; round <= rounds; round++)); do
    load_http tacet "$url" 8 "$seconds"
    quiet=$http_p99
    before=$(resident_kibibytes)
    start_crowd "$http_idle" 0
    after=$(resident_kibibytes)
    bytes+=("$(calculate "($after - $before) * 1024 / $http_idle")")
    stop_crowd
    start_crowd "$http_idle" "$http_slow"
    load_http tacet "$url" 8 "$seconds"
    stop_crowd
    alone+=("$quiet") beside+=("$http_p99")
    ratios+=("$(calculate "$http_p99 / $quiet")")
  done
  show_range 'slowest hundredth of healthy requests, µs' 0 "${alone[@]}"
  show_range 'the same beside the crowd, µs' 0 "${beside[@]}"
  check_median '  as a multiple' '<=' 2.0 "${ratios[@]}"
  check "$(printf 'memory of an idle connection, bytes: %.0f' "${bytes[0]}")" "${bytes[0]}" '<' 4096
}

resident_kibibytes() { awk '/^VmRSS:/ { print $2 }' "/proc/$(process_pid tacet)/status"; }

# start_crowd IDLE SLOW: until all of them are connected.
start_crowd() {
  rm -f "$state/crowd.log"
  start_process crowd "$(command -v python3)" "$checkout/deploy/lib/crowd.py" "$port" "$1" "$2" "$state/crowd.ready"
  wait_until 30 crowd grep -q '^ready' "$state/crowd.log" || die "No crowd: $(tail -n 3 "$state/crowd.log")"
}

# The server has lost none of the idle ones, and has let go of what the crowd let go of.
stop_crowd() {
  local tries
  stop_process crowd || die "The crowd did not hold: $(tail -n 3 "$state/crowd.log")"
  for ((tries = 0; tries < 200; tries++)); do
    if (($(find "/proc/$(process_pid tacet)/fd" -lname 'socket:*' | wc -l) < http_idle)); then return; fi
    sleep 0.05
  done
  die 'The service has kept the connections of a crowd that left.'
}
