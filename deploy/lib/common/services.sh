# The APNs simulator and the service. Sourced after the files it uses.

bundle=com.example.app
key_id=DEMOKEY001
team_id=DEMOTEAM01
webhook_secret=
jwt_secret=
service_key=
simulator_control=
model_simulator=
port=
url=
# Situations and loads count a push for each message, so nothing folds except in the demo's burst.
fold_window=0

# start_simulator [OPTIONS]
start_simulator() {
  # The form of Apple's .p8 files: PKCS #8 in PEM.
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$state/apns-key.p8" 2>/dev/null ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$state/apns-key.p8" 2>/dev/null
  rm -f "$state/simulator.json"
  start_process apns "$programs/tacet-simulate" apns --listen 127.0.0.1:0 --control 127.0.0.1:0 \
    --key "$key_id:$team_id:$state/apns-key.p8" --bundle "$bundle:$team_id" \
    --ca-out "$state/apns-ca.pem" --ready-file "$state/simulator.json" "$@"
  wait_until 15 apns test -s "$state/simulator.json" ||
    die "The simulator did not start: $(tail -n 5 "$state/apns.log")"
  simulator_control=http://$(address control "$state/simulator.json")
  say "APNs simulator: https://$(address production "$state/simulator.json"), control $simulator_control"
}

# address NAME FILE: an address from a simulator's ready file, which is one flat JSON object.
address() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$2"; }

# write_settings PORT: with the lines of more_settings, if there are any, at the end.
write_settings() {
  cat >"$state/settings" <<SETTINGS
DATABASE_URL=$(service_conninfo)
DATABASE_POOL_MODE=$(service_pool_mode)
LISTEN_ADDRESS=127.0.0.1:$1
WEBHOOK_SECRET=$webhook_secret
APNS_KEY_ID=$key_id
APNS_TEAM_ID=$team_id
APNS_BUNDLE_ID=$bundle
APNS_PRIVATE_KEY_FILE=$state/apns-key.p8
APNS_URL=https://$(address production "$state/simulator.json")
APNS_CA_FILE=$state/apns-ca.pem
${more_settings:-}
SETTINGS
}

# start_service PORT [NAME]: until it is ready, as a process of that name, tacet. Fails when it ends before that.
start_service() {
  local name=${2:-tacet}
  write_settings "$1"
  start_process "$name" TACET_CONFIG="$state/settings" FOLD_WINDOW_SECONDS=$fold_window "$programs/tacet" serve
  wait_until 15 "$name" curl -fsS "http://127.0.0.1:$1/readyz"
}

# start_service_anywhere [NAME]: a port that was free a moment ago may be taken now; three times in a row is something else.
start_service_anywhere() {
  local name=${1:-tacet} tries
  for ((tries = 0; tries < 3; tries++)); do
    port=$(free_port)
    url=http://127.0.0.1:$port
    if start_service "$port" "$name"; then
      say "Service: $url, ready; log in $state/$name.log"
      return
    fi
    stop_process "$name" || true
  done
  die "The service did not become ready:
$(tail -n 10 "$state/$name.log")"
}

# explain OPTIONS...: what tacet explain says, from the database alone, as an operator would ask.
explain() {
  env -i DATABASE_URL="$(service_conninfo)" DATABASE_POOL_MODE="$(service_pool_mode)" "$programs/tacet" explain "$@"
}
