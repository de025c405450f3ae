# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/measure http: what a request costs the server, what a crowd of connections does to it, and whether a restart fails
# anybody. Sourced; needs measure.sh.
#
# A pair is one run of wrk against `tacet serve` with one reactor and one against nginx with one worker, one right after the
# other and first in turns. Both answer the same 15 bytes with status, type, length and date; nginx adds Server and
# Connection. Neither writes an access log. nginx's limit on the requests of a connection is lifted, because reconnecting
# would be measured with it. Processor time is the server's own, from /proc/PID/stat.
#
# wrk, both servers, and the clients in Python share the machine. Nothing is pinned to a processor.

http_connections=64
http_idle=2000
http_slow=200

measure_http() {
  local pairs=7 seconds=5 crowds=5
  if $1; then pairs=3 seconds=2 crowds=3; fi
  PATH=$PATH:/usr/sbin
  headline 'Starting'
  rm -f "$state"/*.log
  start_cluster
  create_database
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate --create-host-tables >"$state/migrate.log" ||
    die "The migrations failed: $(tail -n 3 "$state/migrate.log")"
  start_apns
  more_settings='REACTORS=1'
  start_service_anywhere
  start_nginx_for_http
  headline "Rate and processor time: $pairs pairs of $seconds s, $http_connections connections"
  compare_with_nginx "$pairs" "$seconds"
  stop_process nginx || die "nginx did not stop well; see $state/nginx.log"
  headline "A crowd: $http_idle idle connections and $http_slow that send a byte a second"
  measure_crowd "$crowds" "$seconds"
  stop_process tacet || die "The service did not stop well; see $state/tacet.log"
  headline 'Two processes on one port, one of them restarted by SIGTERM every second for 10 s'
  measure_restarts
}

start_nginx_for_http() {
  bench_port=$(free_port)
  mkdir -p "$state/nginx"
  cat >"$state/nginx/nginx.conf" <<SETTINGS
daemon off;
master_process off;
pid $state/nginx/pid;
events { worker_connections 4096; }
http {
  access_log off;
  server_tokens off;
  keepalive_requests 1000000000;
  default_type application/json;
  client_body_temp_path $state/nginx/body;
  proxy_temp_path $state/nginx/proxy;
  fastcgi_temp_path $state/nginx/fastcgi;
  uwsgi_temp_path $state/nginx/uwsgi;
  scgi_temp_path $state/nginx/scgi;
  server {
    listen 127.0.0.1:$bench_port backlog=4096;
    location = /healthz { return 200 '{"status":"ok"}'; }
  }
}
SETTINGS
  start_server nginx nginx -e "$state/nginx.log" -p "$state/nginx" -c "$state/nginx/nginx.conf"
  say "$(nginx -v 2>&1)"
}

# load_http NAME URL CONNECTIONS SECONDS: sets http_rate, http_median and http_p99 in microseconds, and the processor time of
# NAME for each request in microseconds: http_cost, and http_user_cost without the kernel's part.
load_http() {
  local report=$state/wrk.log pid user kernel user_after kernel_after requests
  pid=$(process_pid "$1")
  read -r user kernel < <(processor_ticks "$pid")
  wrk -t1 "-c$3" "-d${4}s" --latency "$2/healthz" >"$report" 2>&1 || die "wrk has failed: $(tail -n 3 "$report")"
  read -r user_after kernel_after < <(processor_ticks "$pid")
  if grep -E 'Socket errors|Non-2xx' "$report"; then die "$1 did not answer every request."; fi
  requests=$(awk '/ requests in / { print $1 }' "$report")
  http_rate=$(awk '/^Requests\/sec:/ { print $2 }' "$report")
  http_median=$(wrk_percentile 50 "$report")
  http_p99=$(wrk_percentile 99 "$report")
  http_user_cost=$(ticks_each $((user_after - user)) "$requests")
  http_cost=$(ticks_each $((user_after - user + kernel_after - kernel)) "$requests")
}

# User and kernel time of a process in clock ticks. Its name, which may hold spaces, is in brackets before them.
processor_ticks() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 12,13; }

# ticks_each TICKS REQUESTS: microseconds.
ticks_each() { calculate "$1 * 1000000 / $(getconf CLK_TCK) / $2"; }

# wrk_percentile NUMBER REPORT: of wrk's latencies, in microseconds.
wrk_percentile() {
  awk -v row="$1%" '$1 == row {
    factor = $2 ~ /us$/ ? 1 : $2 ~ /ms$/ ? 1000 : 1000000
    printf "%.2f", $2 * factor
  }' "$2"
}

# compare_with_nginx PAIRS SECONDS: the first load of each warms up.
compare_with_nginx() {
  local pairs=$1 seconds=$2 pair
  local rates=() costs=() user_costs=() medians=() our_rates=() their_rates=() our_costs=() their_costs=()
  local our_medians=() their_medians=()
  load_http tacet "$url" "$http_connections" 1
  load_http nginx "http://127.0.0.1:$bench_port" "$http_connections" 1
  for ((pair = 1; pair <= pairs; pair++)); do
    if ((pair % 2)); then load_nginx "$seconds"; fi
    load_tacet "$seconds"
    if ((pair % 2 == 0)); then load_nginx "$seconds"; fi
    rates+=("$(calculate "${our_rates[-1]} / ${their_rates[-1]}")")
    costs+=("$(calculate "${our_costs[-1]} / ${their_costs[-1]}")")
    user_costs+=("$(calculate "$our_user_cost / $their_user_cost")")
    medians+=("$(calculate "${our_medians[-1]} / ${their_medians[-1]}")")
  done
  show_range 'nginx, requests per second' 0 "${their_rates[@]}"
  show_range 'tacet, requests per second' 0 "${our_rates[@]}"
  show_range 'nginx, µs of processor time per request' 2 "${their_costs[@]}"
  show_range 'tacet, µs of processor time per request' 2 "${our_costs[@]}"
  show_range 'nginx, µs of latency on one connection (median of a run)' 0 "${their_medians[@]}"
  show_range 'tacet, µs of latency on one connection (median of a run)' 0 "${our_medians[@]}"
  show_range "latency on one connection, as a multiple of nginx's" 2 "${medians[@]}"
  check_median "requests per second, as a share of nginx's" '>=' 1.0 "${rates[@]}"
  check_median "processor time, as a multiple of nginx's" '<=' 1.0 "${costs[@]}"
  check_median "  outside the kernel" '<=' 1.0 "${user_costs[@]}"
}

# The lists are compare_with_nginx's.
load_tacet() {
  load_http tacet "$url" "$http_connections" "$1"
  our_rates+=("$http_rate") our_costs+=("$http_cost") our_user_cost=$http_user_cost
  load_http tacet "$url" 1 1
  our_medians+=("$http_median")
}

load_nginx() {
  load_http nginx "http://127.0.0.1:$bench_port" "$http_connections" "$1"
  their_rates+=("$http_rate") their_costs+=("$http_cost") their_user_cost=$http_user_cost
  load_http nginx "http://127.0.0.1:$bench_port" 1 1
  their_medians+=("$http_median")
}

# measure_crowd ROUNDS SECONDS: healthy requests on eight connections, with and without a crowd in turns. Memory is looked at
# in the first round, in which the crowd is new to the server.
measure_crowd() {
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

measure_restarts() {
  local client=$state/client.log restarts=0 next end name status=0
  port=$(free_port)
  more_settings=$'REACTORS=1\nLOG_LEVEL=notice'
  write_settings "$port"
  start_one tacet-1
  start_one tacet-2
  python3 "$checkout/deploy/lib/clients.py" "$port" 8 8 10 >"$client" 2>&1 9>&- &
  local pid=$!
  end=$((SECONDS + 9))
  while ((SECONDS < end)); do
    next=$(($(date +%s%N) / 1000000 + 1000))
    name=tacet-$((restarts % 2 + 1))
    stop_process "$name" || die "$name did not stop well; see $state/$name.log"
    start_one "$name"
    restarts=$((restarts + 1))
    sleep_until "$next"
  done
  wait "$pid" || status=$?
  ((status == 0)) || die "The clients have failed: $(tail -n 3 "$client")"
  sed 's/^/  /' "$client"
  stop_process tacet-1 || die "tacet-1 did not stop well; see $state/tacet-1.log"
  stop_process tacet-2 || die "tacet-2 did not stop well; see $state/tacet-2.log"
  check 'restarts' "$restarts" '>=' 5
  check 'requests that failed' "$(awk '/failed$/ { print $1 }' "$client")" == 0
}

# start_one NAME: one of several processes on one port, until it listens; its log says so, as another may answer for it.
start_one() {
  ln -sf "$programs/tacet" "$state/$1"
  rm -f "$state/$1.log"
  start_process "$1" TACET_CONFIG="$state/settings" "$state/$1" serve
  wait_until 15 "$1" grep -q serving "$state/$1.log" || die "$1 did not start: $(tail -n 5 "$state/$1.log")"
}

# sleep_until MILLISECONDS: of the wall clock; not at all when they are over.
sleep_until() {
  local rest=$(($1 - $(date +%s%N) / 1000000))
  if ((rest > 0)); then sleep "$(calculate "$rest / 1000")"; fi
}
