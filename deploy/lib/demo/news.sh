# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The news of the demo: a slot whose text is fetched from a host that answers, has nothing new, is silent, and stays so. Sourced
# after ritual.sh.

# Answers on loopback, which is why content may come from private addresses.
start_content_host() {
  content_state=$state/content
  content_credential="Bearer $(openssl rand -hex 24)"
  rm -rf "$content_state"
  mkdir "$content_state"
  start_process content-host.py python3 "$checkout/deploy/lib/demo/content-host.py" "$content_state" news
  wait_until 15 content-host.py test -s "$content_state/port" ||
    die "The host of the content did not start: $(tail -n 5 "$state/content-host.py.log")"
  more_settings="CONTENT_AUTHORIZATION=$content_credential
CONTENT_PRIVATE_ADDRESSES=true
${more_settings:-}"
}

create_news_scene() {
  sql tacet -v url="http://127.0.0.1:$(<"$content_state/port")/news" -f "$checkout/deploy/lib/demo/news.sql" >/dev/null
}

# next_news DAYS SECONDS ANSWER: the row of that day is due in so many seconds, and its text is fetched at once. Waits until it is
# decided, and prints the day's status, reason, title and outcome.
next_news() {
  local tries row
  printf '%s\n' "$3" >"$content_state/answer"
  sql tacet -v days="$1" -v seconds="$2" <<<"select demo.make_news_due(:days, :seconds)" >/dev/null
  # A run asked for by a server also looks at slots; without it the service looks every ten seconds.
  trigger_coach >/dev/null
  for ((tries = 0; tries < 800; tries++)); do
    row=$(sql tacet -F ' | ' -v days="$1" <<<"select d.status, coalesce(d.reason, '-'), coalesce(d.title, '-'), coalesce(l.decision, '-')
      from tacet.notif_deliveries d left join tacet.push_log l on l.subject_id = d.push_id
      where d.campaign = 'news' and d.fire_date = current_date + :days and (d.status = 'skipped' or l.decision is not null)")
    if [[ -n $row ]]; then break; fi
    sleep 0.05
  done
  printf '%s\n' "$row"
}

fetched_with() { tail -n 1 "$content_state/requests"; }

play_news() {
  local user
  headline 'News: a text that is fetched before it is due'
  expect 'the host answers: the push has its words' 'sent | - | The lake is open | sent' "$(next_news 1 3 200)"
  expect 'and got the credential' "None $content_credential" "$(fetched_with)"
  expect 'nothing new on the next day, 304: the same words' 'sent | - | The lake is open | sent' "$(next_news 2 3 304)"
  expect 'asked for by the ETag' "\"monday\" $content_credential" "$(fetched_with)"
  expect 'no answer within 12 seconds: the last words serve' 'sent | - | The lake is open | sent' "$(next_news 3 16 none)"
  expect 'which the content says' 'FETCH_TIMEOUT' "$(sql tacet <<<"select failure_code from tacet.notif_contents where campaign = 'news'")"
  sql tacet <<<"update tacet.notif_contents set fresh_until = clock_timestamp() where campaign = 'news'"
  expect 'not for longer than a day: skipped, and it says why' 'skipped | content_stale | - | -' "$(next_news 4 16 none)"
  user=$(sql tacet <<<"select user_id from demo.readers")
  explain --campaign news --user "$user" | head -n 14 | sed 's/^/      /'
}
