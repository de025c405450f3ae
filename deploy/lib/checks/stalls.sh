# Ends a test run that has come to a stand, and says which tests it hangs in. Sourced; needs say.sh.
#
# The runner writes a line for each event. When none comes for some minutes, a test waits for something that will not happen,
# and the run would end only by the limit of whoever started it, without a word.

# The longest test takes about a minute.
stall_seconds=300

# watch_for_stall EVENTS: returns when the run that writes the file EVENTS has stood still, after it was ended.
watch_for_stall() {
  local events=$1 runner
  while (($(date +%s) - $(stat -c %Y "$events") < stall_seconds)); do sleep 5; done
  complain "No test has begun or ended for $stall_seconds s. These have begun and not ended:"
  unfinished_tests "$events" >&2
  # The runner itself before what started it, which then ends too.
  for runner in $(pgrep -f -- "$events" | sort -rn); do
    complain "Threads of process $runner, and what they wait for:"
    thread_states "$runner" >&2
    complain 'Its children:'
    ps -o pid,stat,etimes,args --ppid "$runner" >&2 || true
    kill -KILL "$runner" || true
  done
}

# unfinished_tests EVENTS: the tests, without suites, that have begun and not ended.
unfinished_tests() {
  grep -F '"kind":"event"' "$1" | awk '
    match($0, /"testID":"[^"]*"/) {
      test = substr($0, RSTART + 10, RLENGTH - 11)
      if ($0 ~ /"kind":"testStarted"/) open[test] = 1
      if ($0 ~ /"kind":"testEnded"/) delete open[test]
    }
    END { for (test in open) if (test ~ /\//) print "  " test }' | sort
}

thread_states() {
  local task
  for task in "/proc/$1/task"/*; do
    printf '  %s %s\n' "$(cat "$task/comm" 2>/dev/null)" "$(cat "$task/wchan" 2>/dev/null)"
  done | sort | uniq -c
}
