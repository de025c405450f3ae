# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The demo's own pushes, decided again: by the rules of their time, and with a shorter window. Sourced after situations.sh.

# replay_ledger OPTION...
replay_ledger() {
  env -i DATABASE_URL="$(service_conninfo)" DATABASE_POOL_MODE="$(service_pool_mode)" "$programs/tacet" replay "$@"
}

play_replay() {
  local report
  headline 'All of these pushes, decided again by tacet replay'
  report=$(replay_ledger --examples 0) || true
  sed 's/^/  /' <<<"$report"
  expect 'by the rules of their time nothing changes' 'differences: 0' "$(grep '^differences: ' <<<"$report")"
  expect 'and no record contradicts them' '' "$(grep 'contradict' <<<"$report" || true)"
  say ''
  say '  With a window of 5 s instead:'
  printf '{"window_seconds": 5}\n' >"$state/rules.json"
  report=$(replay_ledger --rules "$state/rules.json" --examples 1)
  sed 's/^/  /' <<<"$report"
  expect 'somebody would have been pushed earlier, or at all' 'yes' \
    "$(if grep -Eq '^(more|earlier) ' <<<"$report"; then printf 'yes'; else printf 'no'; fi)"
}
