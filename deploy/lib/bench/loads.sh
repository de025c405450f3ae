# The servers and loads of other projects that deploy/bench sets beside ours: nghttpd and h2load, nginx and wrk. Sourced;
# needs measure.sh.
#
# h2load and tacet-bench send to the same nghttpd: one connection, as many requests in flight, bodies of the same size, the
# same header fields. h2load takes its fields from the command line, so apns-id and apns-collapse-id are equal in all its
# requests and shrink to a byte each; those of real pushes differ. h2load also composes nothing: all its requests are one
# prepared request. Its processor time includes some milliseconds of its start.
#
# tacet with one reactor and nginx with one worker answer the same 15 bytes with status, type, length and date; nginx adds
# Server and Connection. Neither writes an access log. nginx's limit on the requests of a connection is lifted, because it
# would measure reconnects. Processor time is the server's, from /proc/PID/stat. Nothing is pinned to a processor.

apns_streams=100
apns_devices=64
http_connections=64

make_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$state/key.pem" -out "$state/certificate.pem" 2>"$state/openssl.log" ||
    die "No certificate: $(tail -n 3 "$state/openssl.log")"
}

# nghttpd answers 200 where there is a file, so each device token is one.
make_devices() {
  local number token folder=$state/htdocs/3/device
  rm -rf "$state/htdocs"
  mkdir -p "$folder"
  for ((number = 0; number < apns_devices; number++)); do
    token=$(openssl rand -hex 32)
    : >"$folder/$token"
    printf '%s\n' "$token"
  done >"$state/tokens"
}

answers() { : <"/dev/tcp/127.0.0.1/$bench_port"; }

# start_server NAME COMMAND...: on the port of bench_port, which was free a moment ago.
start_server() {
  start_process "$@"
  wait_until 15 "$1" answers || die "$1 did not start: $(tail -n 5 "$state/$1.log")"
}

start_nghttpd() {
  bench_port=$(free_port)
  start_server nghttpd nghttpd -a 127.0.0.1 -m "$apns_streams" -d "$state/htdocs" "$bench_port" "$state/key.pem" \
    "$state/certificate.pem"
  say "$(nghttpd --version)"
}

# bench_apns REPORT OPTIONS...: the report says what was lost.
bench_apns() {
  local report=$1
  shift
  # Earlier builds print text without it.
  if [[ $("$programs/tacet-bench" apns --help) == *--json* ]]; then set -- --json "$@"; fi
  "$programs/tacet-bench" apns --url "https://127.0.0.1:$bench_port" --ca-file "$state/certificate.pem" \
    --device-tokens "$state/tokens" --concurrency "$apns_streams" "$@" >"$report" 2>"$state/tacet-bench.log" || true
  [[ -s $report ]] || die "tacet-bench has failed: $(tail -n 3 "$state/tacet-bench.log")"
}

# figure NAME REPORT: a number of a report, also one of those inside; 0 when it is not there.
figure() {
  local value
  value=$(sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$2")
  printf '%s\n' "${value:-0}"
}

# write_h2load_input BODY_BYTES
write_h2load_input() {
  sed "s#^#https://127.0.0.1:$bench_port/3/device/#" "$state/tokens" >"$state/uris"
  head -c "$1" /dev/zero | tr '\0' x >"$state/body"
  # As long as a provider token.
  provider_token=$(openssl rand -hex 100)
}

# load_h2 REQUESTS: sets h2load_rate, and h2load_cost in µs of processor time per request.
load_h2() {
  local report=$state/h2load.log identity=7f8dec24-7ad0-5868-9f48-434fc4ff502c
  local TIMEFORMAT='%U %S'
  { time h2load -t 1 -c 1 -m "$apns_streams" -n "$1" -i "$state/uris" -d "$state/body" \
    -H "authorization: bearer $provider_token" -H 'content-type: application/json' -H 'apns-topic: com.example.app' \
    -H 'apns-push-type: alert' -H 'apns-priority: 10' -H "apns-expiration: $(date +%s)" -H "apns-id: $identity" \
    -H "apns-collapse-id: $identity" >"$report" 2>&1; } 2>"$state/h2load.time" ||
    die "h2load has failed: $(tail -n 3 "$report")"
  grep -q "^status codes: $1 2xx" "$report" || die "h2load was refused: $(grep '^status codes' "$report")"
  h2load_rate=$(sed -n 's/^finished in .*, \([0-9.]*\) req\/s.*/\1/p' "$report")
  h2load_cost=$(awk -v requests="$1" '{ printf "%.3f", ($1 + $2) * 1e6 / requests }' "$state/h2load.time")
}

start_nginx() {
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
