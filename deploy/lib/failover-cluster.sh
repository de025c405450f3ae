# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# deploy/failover's cluster: three PostgreSQL nodes under Patroni, each in a network namespace, and what connects to them.
# Sourced; needs say.sh, postgres.sh, processes.sh, database.sh and services.sh.
#
# A node has two cables: one to the bridge of the clients and the other nodes (data), one to that of etcd (control). A partition
# takes a cable's end out of its bridge: frames vanish, and no one gets an error. The clients (services, simulator, host
# application) and etcd are in the namespace of the bridges.

nodes=(n1 n2 n3)
declare -A node_address=([n1]=10.99.1.11 [n2]=10.99.1.12 [n3]=10.99.1.13)
declare -A patroni_pid=()
all_addresses=10.99.1.11,10.99.1.12,10.99.1.13
pooler_port=6432
pooler_mode=
follower_pid=
# Patroni's defaults are 30, 10 and 10 s, and it restarts a crashed leader for 300 s before another node takes over.
patroni_timing='ttl: 20, loop_wait: 2, retry_timeout: 4, master_start_timeout: 0'

lay_cables() {
  local node
  ip link set lo up
  # The machine keeps its own list of namespaces.
  mkdir -p /run/netns
  mount -t tmpfs tmpfs /run/netns
  ip link add data type bridge
  ip link add control type bridge
  ip addr add 10.99.1.1/24 dev data
  ip addr add 10.99.2.1/24 dev control
  ip link set data up
  ip link set control up
  for node in "${nodes[@]}"; do
    ip netns add "$node"
    ip -n "$node" link set lo up
    lay_cable "$node" data "${node_address[$node]}"
    lay_cable "$node" control "${node_address[$node]/10.99.1./10.99.2.}"
  done
}

lay_cable() {
  ip link add "$1-$2" type veth peer name "$2" netns "$1"
  ip -n "$1" addr add "$3/24" dev "$2"
  ip -n "$1" link set "$2" up
  ip link set "$1-$2" master "$2" up
}

# unplug NODE BRIDGE...
unplug() {
  local bridge
  for bridge in "${@:2}"; do ip link set "$1-$bridge" nomaster; done
}

plug_all() {
  local node bridge
  for node in "${nodes[@]}"; do
    for bridge in data control; do ip link set "$node-$bridge" master "$bridge"; done
  done
  set_isolation off "${nodes[@]}"
}

# set_isolation on|off NODE...: isolated nodes reach the clients and not each other, so replication stops.
set_isolation() {
  local node
  for node in "${@:2}"; do bridge link set dev "$node-data" isolated "$1"; done
}

# run_at NODE COMMAND...: in the node's namespace, as the server's user. Becomes the command; call it in a subshell or with &.
run_at() {
  local node=$1 account
  shift
  account=$(postgres_account)
  cd "$cluster/$node" || exit
  exec nsenter --net="/run/netns/$node" -- setpriv --reuid "$account" --regid "$(id -g "$account")" --clear-groups -- \
    env -i PATH="$PATH" HOME="$cluster" LC_ALL=C.UTF-8 "$@" 9>&-
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  while ! "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      complain "Waited in vain for $what."
      return 1
    fi
    sleep 0.1
  done
}

start_etcd() {
  (cd "$cluster" && as_postgres env -i PATH="$PATH" etcd --data-dir "$cluster/etcd" --log-level error \
    --listen-client-urls http://10.99.2.1:2379 --advertise-client-urls http://10.99.2.1:2379 \
    --listen-peer-urls http://10.99.2.1:2380 >>"$cluster/etcd.log" 2>&1 9>&-) &
  wait_for 20 etcd curl -fs -m 1 http://10.99.2.1:2379/health
}

write_node_settings() {
  local node=$1 address=${node_address[$1]}
  mkdir "$cluster/$node"
  cat >"$cluster/$node/patroni.yml" <<SETTINGS
scope: tacet
name: $node
restapi: {listen: "$address:8008", connect_address: "$address:8008"}
etcd3: {hosts: "10.99.2.1:2379"}
bootstrap:
  dcs:
    {$patroni_timing, maximum_lag_on_failover: 1048576, postgresql: {use_pg_rewind: true, parameters: {wal_log_hints: "on",
      max_connections: 200, shared_buffers: 64MB, fsync: "${DEMO_FSYNC:-off}"}}}
  initdb: [encoding: UTF8, locale: C.UTF-8]
  pg_hba: [local all all trust, host all all 10.99.1.0/24 trust, host replication all 10.99.1.0/24 trust]
postgresql:
  listen: "$address:5432"
  connect_address: "$address:5432"
  use_unix_socket: true
  data_dir: $cluster/$node/data
  bin_dir: $(postgres_programs)
  pgpass: $cluster/$node/pgpass
  parameters: {unix_socket_directories: $cluster/$node}
  authentication: {superuser: {username: postgres}, replication: {username: replicator}}
SETTINGS
}

start_node() {
  if is_running "${patroni_pid[$1]:-0}"; then return; fi
  run_at "$1" patroni "$cluster/$1/patroni.yml" >>"$cluster/$1.log" 2>&1 &
  patroni_pid[$1]=$!
  disown # a fault kills it
}

start_patroni() {
  local node
  rm -rf "$cluster"
  mkdir -m 711 "$cluster"
  for node in "${nodes[@]}"; do write_node_settings "$node"; done
  chown -R "$(postgres_account)" "$cluster"
  start_etcd
  # The first one makes the database system, the others copy it.
  start_node n1
  wait_for 60 'the first leader' find_leader || die "No leader; see $cluster/n1.log"
  for node in n2 n3; do start_node "$node"; done
  wait_for 120 'two standbys' is_healthy || die "The standbys do not follow; see $cluster/n2.log"
}

patroni_control() { PATH=$PATH patronictl -c "$cluster/n1/patroni.yml" "$@"; }

# The node that Patroni calls the leader and that accepts writes.
find_leader() {
  local node
  for node in "${nodes[@]}"; do
    if curl -fs -m 1 -o /dev/null "http://${node_address[$node]}:8008/primary"; then
      printf '%s\n' "$node"
      return
    fi
  done
  return 1
}

ask_leader() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$(conninfo postgres postgres)" -c "$1"; }

# Both standbys follow the leader and have what it has.
is_healthy() {
  local node
  for node in "${nodes[@]}"; do curl -fs -m 1 -o /dev/null "http://${node_address[$node]}:8008/health" || return; done
  [[ $(ask_leader "select count(*) from pg_stat_replication
    where state = 'streaming' and pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) < 65536") == 2 ]]
}

# Makes the cluster healthy again after a fault: cables, stopped processes, Patroni. What cannot follow is copied anew.
heal() {
  local node
  plug_all
  for node in "${nodes[@]}"; do
    signal_server "$node" CONT
    if is_running "${patroni_pid[$node]}"; then kill -CONT "${patroni_pid[$node]}"; fi
    start_node "$node"
  done
  if wait_for 60 'all nodes to follow' is_healthy; then return; fi
  for node in "${nodes[@]}"; do
    curl -fs -m 1 -o /dev/null "http://${node_address[$node]}:8008/health" || patroni_control reinit tacet "$node" --force
  done
  wait_for 90 'new copies to follow' is_healthy || die 'The cluster does not become healthy.'
}

# signal_server NODE SIGNAL: to the postmaster and its children, if they run.
signal_server() {
  local postmaster children
  postmaster=$(head -n 1 "$cluster/$1/data/postmaster.pid" 2>/dev/null) || return 0
  [[ $(readlink "/proc/$postmaster/cwd") == "$cluster/$1/data" ]] || return 0
  read -r -a children <"/proc/$postmaster/task/$postmaster/children" || true
  # The postmaster first: it starts no new children then.
  kill "-$2" "$postmaster" "${children[@]}" 2>/dev/null || true
}

# start_bouncer MODE: a PgBouncer beside the services, in front of the leader. In session mode it has a session for each connection
# of two services, in transaction mode fewer. It knows no leaders: a watcher names the new one to it, as confd would.
start_bouncer() {
  pooler_mode=$1
  run_pooler
  follow_leader &
  follower_pid=$!
}

run_pooler() {
  write_pooler_settings "$(find_leader)"
  (cd "$cluster" && as_postgres env -i PATH="$PATH" pgbouncer "$cluster/pgbouncer.ini" >>"$cluster/pgbouncer.log" 2>&1 9>&-) &
  disown # a fault kills it
  wait_for 10 PgBouncer test -s "$cluster/pgbouncer.pid"
}

write_pooler_settings() {
  local sessions=60
  if [[ $pooler_mode == transaction ]]; then sessions=5; fi
  cat >"$cluster/pgbouncer.new" <<SETTINGS
[databases]
$database = host=${node_address[$1]} user=tacet
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $pooler_port
unix_socket_dir =
auth_type = any
pool_mode = $pooler_mode
default_pool_size = $sessions
max_client_conn = 500
server_login_retry = 0.1
ignore_startup_parameters = options
pidfile = $cluster/pgbouncer.pid
SETTINGS
  chmod 644 "$cluster/pgbouncer.new"
  mv "$cluster/pgbouncer.new" "$cluster/pgbouncer.ini"
}

follow_leader() {
  local node
  trap - EXIT
  while sleep 0.1; do
    node=$(find_leader) || continue
    if grep -q "host=${node_address[$node]} " "$cluster/pgbouncer.ini"; then continue; fi
    write_pooler_settings "$node"
    kill -HUP "$(<"$cluster/pgbouncer.pid")" || true # a killed one reads them when it starts
  done
}

kill_pooler() {
  kill -KILL "$(<"$cluster/pgbouncer.pid")"
  rm -f "$cluster/pgbouncer.pid"
}

stop_bouncer() {
  if [[ -z $follower_pid ]]; then return; fi
  kill "$follower_pid"
  follower_pid=
  kill_pooler
}
