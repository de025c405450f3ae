# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The demo's parts: cluster, migrations, simulators, service. Sourced after the files it uses.

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
# Situations and loads count a push for each message, so nothing folds except in burst.sh. Older programs ignore it.
fold_window=0

start_all() {
  rm -f "$state"/*.log
  stop_process tacet || true
  stop_process apns || true
  stop_process model || true
  stop_process content-host.py || true
  stop_process psql || true
  stop_process event-host.py || true
  stop_pooler
  postgres_start "$cluster"
  say "PostgreSQL: $("$(postgres_programs)/postgres" --version | cut -d ' ' -f 3), in $cluster, socket in $postgres_socket"
  say "  fsync is ${DEMO_FSYNC:-off}; DEMO_FSYNC=on adds the disk's share of a commit to the times below"
  create_database
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate --create-host-tables | sed 's/^/  /'
  create_demo_schema
  set_scene
  create_coach_scene
  create_ritual_scene
  create_engagement_scene
  start_content_host
  start_event_host
  create_news_scene
  add_sealed_scene
  create_workout_scene
  create_locales_scene
  start_pooler
  start_simulator
  start_model_simulator
  register_devices
  webhook_secret=whsec_$(openssl rand -base64 24)
  jwt_secret=$(openssl rand -hex 32)
  service_key=$(openssl rand -hex 24)
  openssl ecparam -name prime256v1 -genkey -noout >"$state/vapid-key.pem"
  more_settings="JWT_SECRET=$jwt_secret
SERVICE_KEY=$service_key
VAPID_PRIVATE_KEY_FILE=$state/vapid-key.pem
VAPID_SUBJECT=mailto:ops@example.com
WEB_PUSH_URL=https://chat.example.com/c/{conversation_id}
${more_settings:-}"
  start_service_anywhere
  write_env
}

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

# What a second shell needs.
write_env() {
  local user conversation
  IFS='|' read -r user conversation < <(sql tacet <<<"select r.user_id, s.conversation_id
    from demo.recipients r join demo.situations s on s.name = r.situation where s.name = 'away'")
  cat >"$state/env" <<ENV
DEMO_URL='$url'
WEBHOOK_SECRET='$webhook_secret'
DEMO_DATABASE='$(conninfo tacet)'
DEMO_SIMULATOR='$simulator_control'
DEMO_MODEL='$model_simulator'
SERVICE_KEY='$service_key'
DEMO_USER='$user'
DEMO_CONVERSATION='$conversation'
CLIENT_TOKEN='$(client_token "$jwt_secret" "$user")'
$(declare -f bearer)
ENV
  cat >"$state/insert-message" <<SCRIPT
#!/usr/bin/env bash
# Inserts a message for a situation, such as away or viewing, as the host application would, and prints its id.
set -euo pipefail
id=\$('$(command -v psql)' -X -q -A -t -v ON_ERROR_STOP=1 -d '$(conninfo app)' -v situation="\${1:?away or viewing}" \\
  <<<"select demo.insert_message(:'situation')")
[[ -n \$id ]] || { printf 'no such situation: %s\n' "\$1" >&2; exit 1; }
printf '%s\n' "\$id"
SCRIPT
  chmod +x "$state/insert-message"
}

say_how_to_try() {
  cat <<TRY

It stays up until Ctrl-C. In a second shell, in $checkout:

  source .demo/env
  id=\$(.demo/insert-message away)
  curl -s "\$DEMO_URL/v1/webhooks/messages" -H @<(bearer "\$WEBHOOK_SECRET") \\
    -H 'content-type: application/json' -d "{\"message_id\":\"\$id\"}"; echo
  curl -s "\$DEMO_SIMULATOR/pushes?collapse_id=\$id"; echo
  curl -s "\$DEMO_URL/readyz"; echo
  psql -d "\$DEMO_DATABASE" -c \\
    'select user_id, decision, reason, woken_by from tacet.push_log order by claimed_at desc limit 5'
  curl -s -X POST "\$DEMO_URL/v1/push-trigger?dry_run=true" -H @<(bearer "\$SERVICE_KEY"); echo
  deploy/smoke "\$DEMO_URL"

The service is $url, the webhook secret $webhook_secret
TRY
}
