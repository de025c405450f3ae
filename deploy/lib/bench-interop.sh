# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/bench interop: whether pushes get lost at an HTTP/2 server of another project that ends connections. Sourced; needs
# measure.sh and bench-loads.sh.

measure_interop() {
  local pushes=100000 bench_port
  if $1; then pushes=20000; fi
  headline "$pushes pushes to nginx, which ends each connection after 1,000"
  make_certificate
  make_devices
  start_interop_nginx
  bench_apns "$state/nginx.json" --pushes "$pushes"
  check_books "$state/nginx.json" "$pushes"
  stop_process nginx || die "nginx did not stop well; see $state/nginx.log"
  check_access_log "$pushes"
}

# One process that does all the work, and logs each request as it ends.
start_interop_nginx() {
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
