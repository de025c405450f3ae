# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/measure apns: what a push costs in the APNs client, and whether any is lost at servers that nobody here wrote.
# Sourced; needs measure.sh.
#
# A pair is one run of h2load and one of tacet-bench, one right after the other and first in turns, against the same nghttpd:
# one connection, as many requests in flight, bodies of the same size, the same header fields. h2load takes its fields from the
# command line, so apns-id and apns-collapse-id are the same in all its requests and shrink to a byte each; those of real
# pushes are all different. Its processor time is the whole process's, with some milliseconds of its start; tacet-bench's is that
# of the pushes. Nor does h2load compose anything: all its requests are one that is prepared. So the bound is on what is left
# without composing, which tacet-bench measures apart; with composing it is printed as well.
#
# Client and server share the machine, as the two sides of every pair do. Nothing is pinned to a processor.

apns_streams=100
apns_devices=64

measure_apns() {
  local pairs=5 pushes=100000 bench_port
  if $1; then pairs=3 pushes=20000; fi
  PATH=$PATH:/usr/sbin
  headline 'Starting'
  rm -f "$state"/*.log "$state"/*.json
  make_certificate
  make_devices
  start_nghttpd
  say "$(nproc) processors, shared by client, server, and whatever else runs here."
  headline "Rate and processor time: $pairs pairs of $pushes pushes each, $apns_streams in flight on one connection"
  compare_with_h2load "$pairs" "$pushes"
  headline "Interoperation: $pushes pushes to nghttpd"
  bench_apns "$state/nghttpd.json" --pushes "$pushes"
  check_books "$state/nghttpd.json" "$pushes"
  stop_process nghttpd || true # it knows no other end than a signal
  headline "Interoperation: $pushes pushes to nginx, which ends each connection after 1,000"
  start_nginx
  bench_apns "$state/nginx.json" --pushes "$pushes"
  check_books "$state/nginx.json" "$pushes"
  stop_process nginx || die "nginx did not stop well; see $state/nginx.log"
  check_access_log "$pushes"
}

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

# One process that does all the work, and logs each request as it ends.
start_nginx() {
  bench_port=$(free_port)
  mkdir -p "$state/nginx"
  cat >"$state/nginx/nginx.conf" <<SETTINGS
daemon off;
master_process off;
pid $state/nginx/pid;
events { worker_connections 64; }
http {
  log_format identity '\$status \$http_apns_id';
  access_log $state/nginx/access.log identity;
  client_body_temp_path $state/nginx/body;
  proxy_temp_path $state/nginx/proxy;
  fastcgi_temp_path $state/nginx/fastcgi;
  uwsgi_temp_path $state/nginx/uwsgi;
  scgi_temp_path $state/nginx/scgi;
  server {
    listen 127.0.0.1:$bench_port ssl http2;
    ssl_certificate $state/certificate.pem;
    ssl_certificate_key $state/key.pem;
    keepalive_requests 1000;
    return 200;
  }
}
SETTINGS
  rm -f "$state/nginx/access.log"
  start_server nginx nginx -e "$state/nginx.log" -p "$state/nginx" -c "$state/nginx/nginx.conf"
  say "$(nginx -v 2>&1)"
}

# bench_apns REPORT OPTIONS...: what was lost is in the report, which check_books reads.
bench_apns() {
  local report=$1
  shift
  "$programs/tacet-bench" apns --url "https://127.0.0.1:$bench_port" --ca-file "$state/certificate.pem" \
    --device-tokens "$state/tokens" --concurrency "$apns_streams" --json "$@" >"$report" 2>"$state/tacet-bench.log" || true
  [[ -s $report ]] || die "tacet-bench has failed: $(tail -n 3 "$state/tacet-bench.log")"
}

# figure NAME REPORT: a number of a report, also one of those inside; 0 when it is not there.
figure() {
  local value
  value=$(sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$2")
  printf '%s\n' "${value:-0}"
}

check_books() {
  local report=$1 pushes=$2
  say "  $(figure pushes_per_second "$report" | cut -d . -f 1) pushes/s," \
    "$(printf '%.1f' "$(figure cpu_microseconds_per_push "$report")") µs of processor time each;" \
    "$(figure connections_opened "$report") connections, $(figure resends "$report") resends," \
    "$(figure apns_answer_lost "$report") answers lost on the way"
  check 'pushes lost' "$(figure lost "$report")" == 0
  check 'pushes answered with 200' "$(figure 200 "$report")" == "$pushes"
}

# The server's own books. A push is in them twice when its answer was lost after the server had done its work.
check_access_log() {
  local pushes=$1 seen twice
  seen=$(awk '$1 == 200 { print $2 }' "$state/nginx/access.log" | sort -u | wc -l)
  twice=$(($(grep -c '^200 ' "$state/nginx/access.log") - seen))
  check "identifiers in nginx's access log" "$seen" == "$pushes"
  check "  more than once; at most the answers lost on the way" "$twice" '<=' "$(figure apns_answer_lost "$state/nginx.json")"
}

# compare_with_h2load PAIRS PUSHES: the first pair warms up, and tells the size of a body.
compare_with_h2load() {
  local pairs=$1 pushes=$2 pair report=$state/bench.json
  local rates=() costs=() whole_costs=() ours=() theirs=() our_costs=() their_costs=() composing=()
  bench_apns "$report" --pushes "$pushes" --connections 1
  write_h2load_input "$(figure body_bytes "$report")"
  load_h2 "$pushes"
  for ((pair = 1; pair <= pairs; pair++)); do
    if ((pair % 2)); then load_h2 "$pushes"; fi
    bench_apns "$report" --pushes "$pushes" --warm-up 1000 --connections 1
    if ((pair % 2 == 0)); then load_h2 "$pushes"; fi
    ours+=("$(figure pushes_per_second "$report")") our_costs+=("$(figure cpu_microseconds_per_push "$report")")
    composing+=("$(figure cpu_microseconds_composing "$report")")
    theirs+=("$h2load_rate") their_costs+=("$h2load_cost")
    rates+=("$(calculate "${ours[-1]} / $h2load_rate")")
    costs+=("$(calculate "(${our_costs[-1]} - ${composing[-1]}) / $h2load_cost")")
    whole_costs+=("$(calculate "${our_costs[-1]} / $h2load_cost")")
  done
  show_range 'h2load, requests per second' 0 "${theirs[@]}"
  show_range 'tacet-bench, pushes per second' 0 "${ours[@]}"
  show_range 'h2load, µs of processor time per request' 2 "${their_costs[@]}"
  show_range 'tacet-bench, µs of processor time per push' 2 "${our_costs[@]}"
  show_range '  of them for composing it' 2 "${composing[@]}"
  check_median 'rate, as a share of h2load'\''s' '>=' 0.7 "${rates[@]}"
  check_median 'processor time, as a multiple of h2load'\''s' '<=' 1.6 "${costs[@]}"
  show_range '  with composing' 2 "${whole_costs[@]}"
}

show_range() {
  local text=$1 digits=$2 middle lowest highest
  shift 2
  read -r middle lowest highest < <(median "$@")
  printf "  %-68s %.${digits}f (%.${digits}f … %.${digits}f)\n" "$text" "$middle" "$lowest" "$highest"
}

# check_median TEXT OPERATOR BOUND VALUES...
check_median() {
  local text=$1 operator=$2 bound=$3 middle lowest highest
  shift 3
  read -r middle lowest highest < <(median "$@")
  check "$(printf '%s: %.2f (%.2f … %.2f)' "$text" "$middle" "$lowest" "$highest")" "$middle" "$operator" "$bound"
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
