# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The coach of the demo: a language model's stand-in, five people, and what a run makes of them. Sourced after situations.sh.

# The one check-in that must not be sent: it repeats what Mona has written. The others the stand-in writes by itself.
model_rules='{"match": "event: interview", "steps": [{"text":
  "{\"title\":\"Your interview is tomorrow\",\"body\":\"Are you still afraid of freezing in front of them?\"}"}]}'

start_model_simulator() {
  local key
  key=$(openssl rand -hex 24)
  printf '{"rules": [%s]}\n' "$model_rules" >"$state/model-script.json"
  rm -f "$state/model.json"
  start_process model "$programs/tacet-simulate" model --listen 127.0.0.1:0 --key "$key" \
    --script "$state/model-script.json" --ready-file "$state/model.json"
  wait_until 15 model test -s "$state/model.json" ||
    die "The model's simulator did not start: $(tail -n 5 "$state/model.log")"
  model_simulator=$(address url "$state/model.json")
  more_settings="PUSH_TRIGGER_ENABLED=true
LANGUAGE_MODEL_URL=$model_simulator
LANGUAGE_MODEL_KEY=$key
${more_settings:-}"
  say "Language model's simulator: $model_simulator"
}

create_coach_scene() {
  sql tacet -f "$checkout/db/examples/coach.sql" 2>/dev/null
  sql tacet -f "$checkout/deploy/lib/demo/coach.sql" >/dev/null
}

# trigger_coach [PARAMETERS]: the run's answer and, on a line of its own, its status.
trigger_coach() {
  curl -sS -w '\n%{http_code}' -X POST "$url/v1/push-trigger${1:-}" -H @<(bearer "$service_key") \
    -H 'prefer: wait=30'
}

# Until APNs has what was queued, which the ledger tells; fails after 10 s.
await_check_ins() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    if [[ $(sql tacet <<<'select count(*) from demo.check_ins where push_id is not null and outcome is null') == 0 ]]; then
      return
    fi
    sleep 0.05
  done
  return 1
}

# explain_coach NAME: from the database alone, as an operator would ask.
explain_coach() {
  local user
  user=$(sql tacet -v name="$1" <<<"select user_id from demo.coached where name = :'name'")
  explain --campaign coach --user "$user"
}

# conclude_check_in NAME TITLE EXPECTED: what was decided, about what, and the title that arrived at the simulator, if any.
conclude_check_in() {
  headline "$2"
  explain_coach "$1" | sed 's/^/      /'
  expect "$3" "$3" "$(sql tacet -F ' ' -v name="$1" <<<"
    select decision, coalesce(reason, '-'), coalesce(layer, '-'), pushes, payload #>> '{aps,alert,title}'
    from demo.check_ins where name = :'name'" | sed 's/ *$//')"
}

play_coach() {
  local answer
  headline 'The coach looks at five people: first a dry run, then the run of the day'
  answer=$(trigger_coach '?dry_run=true')
  expect 'a dry run: there is something to tell four of them, and nothing was decided' '5 4 200 0' \
    "$(sql tacet -F ' ' -v body="${answer%$'\n'*}" -v status="${answer##*$'\n'}" <<<"
      select a ->> 'eligible', jsonb_array_length(jsonb_path_query_array(a, '\$.users[*] ? (@.would_send == true)')),
        :'status', (select count(*) from tacet.campaign_decisions)
      from (select :'body'::jsonb) j (a)")"
  expect_run 'three pushes, and two people who are told nothing' '5 3 2 0 200'
  await_check_ins || true # what is missing shows as a difference
  load_pushes
  conclude_check_in Eva 'Eva named a presentation, which is tomorrow: sent' \
    'committed - event 1 Your presentation is tomorrow'
  conclude_check_in Paul 'Paul was away for two days, and something comes up again and again: sent' \
    'committed - pattern 1 Something about saying yes too fast'
  conclude_check_in Rita 'Rita was away for five days: sent' 'committed - re_engagement 1 Still thinking about health'
  conclude_check_in Nils 'Nils wrote yesterday, and nothing comes up: nothing is sent' 'skipped nothing_to_say - 0'
  conclude_check_in Mona "Mona has an interview, and the model repeats Mona's words: nothing is sent" \
    'skipped reply_quotes_user event 0'
  expect 'the app is told where to go' 'new_conversation event_based work t' "$(sql tacet -F ' ' <<<"
    select payload ->> 'action', payload ->> 'push_type', payload ->> 'domain', payload ? 'push_log_id'
    from demo.check_ins where name = 'Eva'")"
  expect_run 'asked again on the same day, it looks at nobody' '0 0 0 0 200'
}

# expect_run WHAT EXPECTED [PARAMETERS]: users noted, pushes, users told nothing, failures and the status of a run.
expect_run() {
  local answer
  answer=$(trigger_coach "${3:-}")
  say "      ${answer//$'\n'/ }"
  expect "$1" "$2" "$(sql tacet -F ' ' -v body="${answer%$'\n'*}" -v status="${answer##*$'\n'}" <<<"
    select a ->> 'enrolled', a ->> 'committed', a ->> 'skipped', a ->> 'failed', :'status'
    from (select :'body'::jsonb) j (a)")"
}
