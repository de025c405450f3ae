# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# Private content of the demo: a phone whose pushes are sealed, which the stand-in for APNs cannot read. Sourced after coach.sh.

add_sealed_scene() {
  sql tacet <<'SQL' >/dev/null
    select demo.add_situation('sealed', 'The surprise is on Friday'), demo.add_recipient('sealed', 'Selma', 1);
SQL
}

# sealed_payload EXPRESSION: of the push of message, which is the jsonb p.
sealed_payload() {
  sql tacet -v id="$message" <<<"select $1 from demo.pushes, lateral (select payload::jsonb as p) x where collapse_id = :'id'"
}

play_sealed() {
  local user token key
  IFS='|' read -r user token < <(sql tacet <<<"select t.user_id, t.device_token
    from public.push_tokens t join demo.recipients r using (user_id) where r.situation = 'sealed'")
  headline "Selma's pushes are sealed for her phone: APNs sees that there is one"
  key=$(node "$checkout/deploy/lib/demo/sealed.mjs" key "$state/selmas-key.pem")
  as_user "$user" PUT "/v1/devices/$token" "{\"content\": \"sealed\", \"sealing_key\": \"$key\"}" >/dev/null
  message=$(insert_message sealed)
  conclude 'Selma sent - 1'
  expect 'what Apple sees' 'New message' "$(sealed_payload "p #>> '{aps,alert,title}'")"
  expect 'none of its words, nor of the name' 'f' "$(sealed_payload "payload ~ 'surprise|Friday|Clara'")"
  expect 'what her phone shows' 'Message from Clara: The surprise is on Friday' \
    "$(sealed_payload payload | node "$checkout/deploy/lib/demo/sealed.mjs" open "$state/selmas-key.pem" "$token")"
  rm -f "$state/selmas-key.pem"
  expect 'and the explanation says so' 'sealed for the device' \
    "$(explain --message "$message" | tr -s '[:space:]' ' ' | grep -o 'sealed for the device' | head -n 1)"
}
