# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The faults of deploy/failover. Sourced; needs failover-cluster.sh.
#
# Each function prepares, calls begin_fault, does harm, and calls end_fault, which judges while the fault still lasts.

declare -A fault_text=(
  [kill]='leader killed: SIGKILL of postmaster and children'
  [kill-sync]='the same with synchronous_mode on'
  [switchover]='switchover by patronictl'
  [partition]='leader cut off from nodes, etcd and clients'
  [etcd]='leader cut off from etcd only'
  [forget]='replication cut for 2 s, then the leader crashed'
  [standby]='one standby refuses, one is paused; all sessions end'
  [manual]='leader crashed, standby promoted by hand'
  [kill-session]='leader killed, PgBouncer in session mode'
  [kill-transaction]='leader killed, PgBouncer in transaction mode'
  [pgbouncer-session]='PgBouncer (session) killed for 5 s'
  [pgbouncer-transaction]='PgBouncer (transaction) killed for 5 s'
)
all_faults=(kill kill-sync switchover partition etcd forget standby manual kill-session pgbouncer-session kill-transaction
  pgbouncer-transaction)
quick_faults=(kill switchover standby)

play_fault() {
  leader=$(find_leader)
  case $1 in
  kill) play_kill "$1" ;;
  kill-sync) play_kill_sync ;;
  kill-session | kill-transaction) play_kill "$1" ;;
  pgbouncer-session | pgbouncer-transaction) play_pooler "$1" ;;
  *) "play_$1" ;;
  esac
}

play_kill() {
  begin_fault "$1" leader
  mark injected
  signal_server "$leader" KILL
  await_new_leader
  end_fault
}

play_kill_sync() {
  set_synchronous true
  wait_for 30 'a synchronous standby' has_synchronous_standby
  begin_fault kill-sync leader --synchronous
  mark injected
  signal_server "$leader" KILL
  await_new_leader
  end_fault
  set_synchronous false
}

set_synchronous() { patroni_control edit-config tacet --force --quiet --set "synchronous_mode=$1" >/dev/null; }

has_synchronous_standby() { [[ $(ask_leader "select count(*) from pg_stat_replication where sync_state = 'sync'") == 1 ]]; }

play_switchover() {
  begin_fault switchover leader
  mark injected
  patroni_control switchover tacet --master "$leader" --force >>"$state/patronictl.log" 2>&1
  await_new_leader
  end_fault
}

play_partition() {
  begin_fault partition leader
  mark injected
  unplug "$leader" data control
  await_new_leader
  end_fault
}

play_etcd() {
  begin_fault etcd leader
  mark injected
  unplug "$leader" control
  await_new_leader
  end_fault
}

# What asynchronous replication forgets: messages of these two seconds are acknowledged, pushed and lost with the machine. Its
# cables are out before the others are connected again, because its kernel would still send what killed processes have written.
play_forget() {
  local node
  begin_fault forget leader
  set_isolation on "${nodes[@]}"
  sleep 2
  mark injected
  crash "$leader"
  unplug "$leader" data control
  for node in "${nodes[@]}"; do
    if [[ $node != "$leader" ]]; then set_isolation off "$node"; fi
  done
  await_new_leader
  end_fault
}

crash() {
  kill -KILL "${patroni_pid[$1]}"
  signal_server "$1" KILL
}

# The standbys are before the leader in DATABASE_URL, and the services must connect anew. One starts anew, and knows no host.
play_standby() {
  local ended
  if [[ $leader != n3 ]]; then
    patroni_control switchover tacet --master "$leader" --candidate n3 --force >>"$state/patronictl.log" 2>&1
    wait_for 60 'all nodes to follow' is_healthy
    leader=n3
  fi
  begin_fault standby standby
  mark injected
  kill -TERM "${patroni_pid[n1]}"
  kill -STOP "${patroni_pid[n2]}"
  signal_server n2 STOP
  wait_for 20 'n1 to refuse' refuses_connections n1
  mark standbys
  ended=$(ask_leader "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'tacet'")
  ((ended > 0)) || die 'The services had no sessions to end.'
  sleep "$hold_seconds"
  start_newcomer
  end_fault
  stop_process tacet-3
}

# A service that starts now tries the paused standby before the leader, and waits for neither: ready within two seconds.
start_newcomer() {
  local began=$EPOCHREALTIME took
  launch_service 3
  took=$(awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { printf "%.2f", ended - began }')
  say "  a service that starts meanwhile is ready after $took s"
  if awk -v took="$took" 'BEGIN { exit took <= 2 }'; then
    say '  MISSED: that is more than 2 s'
    misses=$((misses + 1))
  fi
}

refuses_connections() { ! (: <"/dev/tcp/${node_address[$1]}/5432") 2>/dev/null; }

# The node is dead, Patroni included, and Patroni elsewhere does nothing. The person who promotes takes two seconds.
play_manual() {
  local chosen=n1
  if [[ $leader == n1 ]]; then chosen=n2; fi
  patroni_control pause tacet --wait >>"$state/patronictl.log" 2>&1
  begin_fault manual leader
  mark injected
  crash "$leader"
  sleep 2
  (run_at "$chosen" "$(postgres_programs)/pg_ctl" promote -s -w -D "$cluster/$chosen/data")
  await_new_leader
  end_fault
  # Patroni accepts the new leader when the lock of the old one has expired. The old one needs a new copy: Patroni 3.0 may wait
  # for ever to rewind it from a leader that it has not promoted itself.
  wait_for 60 'Patroni to accept the new leader' find_leader
  patroni_control resume tacet --wait >>"$state/patronictl.log" 2>&1
  start_node "$leader"
  wait_for 20 "Patroni of $leader" curl -fs -m 1 "http://${node_address[$leader]}:8008/liveness"
  patroni_control reinit tacet "$leader" --force >>"$state/patronictl.log" 2>&1
}

# The host application does not use PgBouncer: messages are committed while the services are without a database.
play_pooler() {
  begin_fault "$1" pooler
  mark injected
  kill_pooler
  sleep 5
  run_pooler
  mark restored
  sleep "$hold_seconds"
  end_fault
}

mark() { printf '%s %s\n' "$1" "$EPOCHREALTIME" >>"$state/marks"; }

# begin_fault NAME KIND [OPTIONS]: the host application, until 2 s of its commits are acknowledged.
begin_fault() {
  local name=$1
  : >"$state/marks"
  : >"$state/acknowledged"
  say "$name: ${fault_text[$name]}; the leader is $leader"
  /usr/bin/python3 "$checkout/deploy/lib/failover.py" play --state "$state" --kind "$2" \
    --fault "\`$name\`: ${fault_text[$name]}" --hosts "$all_addresses" --control "$simulator_control" \
    --leader "${node_address[$leader]}" \
    "${@:3}" 9>&- &
  load_pid=$!
  wait_for 30 'acknowledged commits' has_acknowledged 100 || die 'The load does not come up.'
}

has_acknowledged() { (($(wc -l <"$state/acknowledged") >= $1)); }

# Until another node than the leader at the beginning acknowledges commits, then a while longer.
await_new_leader() {
  wait_for 90 'commits on another node' acknowledged_elsewhere || true
  sleep "$hold_seconds"
}

acknowledged_elsewhere() { tail -n 20 "$state/acknowledged" | grep -v -q " ${node_address[$leader]}$"; }

# Ends the load; it waits for what is on its way, judges, and adds a row to rows.jsonl.
end_fault() {
  local status=0
  kill -TERM "$load_pid"
  wait "$load_pid" || status=$?
  load_pid=
  if ((status != 0)); then misses=$((misses + 1)); fi
}
