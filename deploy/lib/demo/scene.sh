# The demo's scene: the database, the application's server, the service with its stand-ins, and how what came is compared with what must
# come. Sourced after the other files.

differences=0

# expect WHAT EXPECTED ACTUAL
expect() {
  if [[ $2 == "$3" ]]; then
    say "  ${green}ok${plain}  $1"
  else
    differences=$((differences + 1))
    say "  ${red}DIFFERS  $1"
    say "    expected: ${2//$'\n'/; }"
    say "    but got:  ${3//$'\n'/; }${plain}"
  fi
}

# ask QUERY [VARIABLE=VALUE...]: rows of the demo's database, their columns separated by " | ".
ask() {
  local query=$1 options=() setting
  shift
  for setting in "$@"; do options+=(-v "$setting"); done
  sql tacet -F ' | ' "${options[@]}" <<<"$query"
}

# expect_row WHAT EXPECTED QUERY [VARIABLE=VALUE...]
expect_row() { expect "$1" "$2" "$(ask "${@:3}")"; }

# expect_in DOCUMENT WHAT EXPECTED EXPRESSIONS [VARIABLE=VALUE...]: of SQL over a document of JSON, which is the jsonb j.
expect_in() { expect_row "$2" "$3" "select $4 from (select :'document'::jsonb) d (j)" document="$1" "${@:5}"; }

# await QUERY [VARIABLE=VALUE...]: until it answers true. For some 40 seconds at most, because what is missing shows as a difference.
await() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if [[ $(ask "$@") == t ]]; then return; fi
    sleep 0.05
  done
}

person() { ask "select demo.person(:'name')" name="$1"; }

# device NAME [NUMBER]: the token of one of somebody's devices.
device() { ask "select demo.token(demo.person(:'name'), :number)" name="$1" number="${2:-1}"; }

# as NAME METHOD PATH [BODY]: a request of that person's app.
as() {
  curl -sS -X "$2" "$url$3" -H @<(bearer "$(client_token "$jwt_secret" "$(person "$1")")") \
    ${4:+-H 'content-type: application/json' --data-raw "$4"}
}

# show_explained LINES OPTIONS...: so many lines of what tacet explain says.
show_explained() { explain "${@:2}" | sed -n "1,${1}s/^/      /p"; }

start_again() { start_service "$port" || die "the service did not start again; see $state/tacet.log"; }

insert_message() { sql app -v situation="$1" <<<"select demo.insert_message(:'situation')"; }

await_outcome() { sql tacet -v id="$1" <<<"call demo.await_outcome(:'id')"; }

# Takes the simulator's records into demo.pushes.
load_pushes() {
  curl -fsS "$simulator_control/pushes?limit=10000" >"$state/pushes.json"
  sql tacet -v file="$state/pushes.json" <<'SQL'
    \set pushes `cat :file`
    insert into demo.pushes (number, arrived_us, answered_us, token, collapse_id, status, payload)
    select number, arrived_us, answered_us, token, collapse_id, status, payload
    from jsonb_to_recordset(:'pushes'::jsonb -> 'pushes')
      as p (number int, arrived_us bigint, answered_us bigint, token text, collapse_id text, status int, payload text)
    on conflict do nothing;
SQL
}

start_all() {
  rm -f "$state"/*.log
  stop_processes
  postgres_start "$cluster"
  say "PostgreSQL: $("$(postgres_programs)/postgres" --version | cut -d ' ' -f 3), in $cluster, socket in $postgres_socket"
  say "  fsync is ${DEMO_FSYNC:-off}; DEMO_FSYNC=on adds the disk's share of a commit to the times below"
  create_database
  env -i DATABASE_URL="$(conninfo tacet)" "$programs/tacet" migrate --create-host-tables | sed 's/^/  /'
  start_app_host
  fill_database
  start_pooler
  start_simulator
  start_model_simulator
  register_devices
  webhook_secret=whsec_$(openssl rand -base64 24)
  jwt_secret=$(openssl rand -hex 32)
  service_key=$(openssl rand -hex 24)
  openssl ecparam -name prime256v1 -genkey -noout >"$state/vapid-key.pem"
  more_settings+="
PUSH_TRIGGER_ENABLED=true
JWT_SECRET=$jwt_secret
SERVICE_KEY=$service_key
VAPID_PRIVATE_KEY_FILE=$state/vapid-key.pem
VAPID_SUBJECT=mailto:ops@example.com
WEB_PUSH_URL=https://chat.example.com/c/{conversation_id}"
  start_service_anywhere
  write_env
}

# Answers on loopback, which is why content may come from private addresses and events may go without TLS.
start_app_host() {
  host_state=$state/app
  content_credential="Bearer $(openssl rand -hex 24)"
  rm -rf "$host_state"
  mkdir "$host_state"
  printf 'whsec_%s\n' "$(openssl rand -base64 24)" >"$host_state/secret"
  printf '200\n' >"$host_state/events-answer"
  : >"$host_state/events"
  start_process app-host.py python3 "$checkout/deploy/lib/demo/app-host.py" "$host_state"
  wait_until 15 app-host.py test -s "$host_state/port" ||
    die "The application's server did not start: $(tail -n 5 "$state/app-host.py.log")"
  host_url=http://127.0.0.1:$(<"$host_state/port")
  more_settings="CONTENT_AUTHORIZATION=$content_credential
CONTENT_PRIVATE_ADDRESSES=true
EVENTS_URL=$host_url/events
EVENTS_SECRET=$(<"$host_state/secret")"
}

# The demo's own schema and the people of all situations, on top of the migrations.
fill_database() {
  local examples=$checkout/db/examples
  sql tacet -f "$checkout/deploy/lib/demo/demo.sql"
  sql tacet <<'SQL'
    grant usage on schema demo to app;
    grant select on all tables in schema demo to app;
    grant select, insert, update, delete on public.profiles, public.conversations, public.conversation_participants,
      public.messages, public.push_tokens to app;
SQL
  add_situations
  PGOPTIONS='-c client_min_messages=error' sql tacet -v news_url="$host_url/news" -f "$examples/coach.sql" \
    -f "$examples/ritual.sql" -f "$examples/engagement.sql" -f "$examples/achievement.sql" \
    -f "$checkout/deploy/lib/demo/campaigns.sql" -f "$checkout/deploy/lib/demo/application.sql" >/dev/null
}

# Tells the simulator of every device.
register_devices() {
  local token
  while read -r token; do
    curl -fsS -X PUT "$simulator_control/tokens/$token" -H 'content-type: application/json' \
      -d "{\"environment\":\"production\",\"bundle_id\":\"$bundle\"}"
  done < <(sql tacet <<<'select device_token from public.push_tokens')
}

# Texts that the model's stand-in does not make up by itself: one check-in that must not be sent, because it repeats what Mona has
# written; for Lena, a morning, a workout and an achievement; one that takes longer than two seconds; and a meal's, with a link.
start_model_simulator() {
  local key
  key=$(openssl rand -hex 24)
  cat >"$state/model-script.json" <<'JSON'
{"rules": [
  {"match": "event: interview", "steps": [{"text":
    "{\"title\":\"Your interview is tomorrow\",\"body\":\"Are you still afraid of freezing in front of them?\"}"}]},
  {"match": "name: Lena", "steps": [{"text": "Still five kilometres?|Ten easy minutes would be a fine beginning, Lena."}]},
  {"match": "name: Olaf", "steps": [{"text": "Hello Olaf|Too late.", "delay_ms": 3000}]},
  {"match": "Greet a person in the morning", "steps": [{"text": "You slept well, and the sun is out."}]},
  {"match": "a workout that begins now", "steps": [{"text": "{\"body\": \"Five days in a row. Shoes on for the sixth?\"}"}]},
  {"match": "on an achievement", "steps": [{"text": "Seven early mornings in a row, Ida. You make it look easy."}]},
  {"match": "eat and log a meal", "steps": [{"text": "Order at https://lunch.example now"}]}]}
JSON
  rm -f "$state/model.json"
  start_process model "$programs/tacet-simulate" model --listen 127.0.0.1:0 --key "$key" \
    --script "$state/model-script.json" --ready-file "$state/model.json"
  wait_until 15 model test -s "$state/model.json" ||
    die "The model's simulator did not start: $(tail -n 5 "$state/model.log")"
  model_simulator=$(address url "$state/model.json")
  more_settings+="
LANGUAGE_MODEL_URL=$model_simulator
LANGUAGE_MODEL_KEY=$key"
  say "Language model's simulator: $model_simulator"
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
  deploy/calls                     # every operation of the API once
  deploy/smoke "\$DEMO_URL"

The service is $url, the webhook secret $webhook_secret
TRY
}
