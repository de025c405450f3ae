# A throwaway machine: namespaces for mounts, processes, network, host name and System V, with this machine's files under a layer in
# memory, and systemd as its first process. Nothing that happens in it reaches this machine, and ending its first process ends and
# removes all of it. Sourced; needs say.sh, build.sh and machine.sh of deploy/lib.

machine=        # its systemd, as this machine numbers processes
machine_parent= # the process that waits for it
machine_clone=  # the clone of the checkout, as this machine sees it
machine_groups=()

# Sets programs, archive and scratch; whatever is made goes at the end.
prepare_machines() {
  ((EUID == 0)) || die 'It needs root, for a machine of namespaces.'
  # Of prometheus only promtool is used.
  packages_needed=(postgresql pgbouncer prometheus systemd dbus iproute2 python3 python3-venv python3-cryptography git tzdata
    ca-certificates dpkg-dev)
  require_packages
  scratch=$(mktemp -d /var/tmp/tacet-checks.XXXXXX)
  trap 'stop_machine; rm -rf "$scratch"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  "$checkout/deploy/build"
  make_programs release tacet-simulate
  archive=$checkout/.release/tacet-$(sed -n 's/^appVersion: //p' "$checkout/deploy/helm/tacet/Chart.yaml")-linux-$(uname -m).tar.gz
}

# start_machine CHECKOUT
start_machine() {
  local tries
  rm -f "$scratch/up"
  mkdir -p "$scratch/root"
  own_control_groups
  CHECKOUT=$1 PROGRAMS=$programs ARCHIVE=$archive unshare --mount --pid --fork --kill-child --net --uts --ipc bash -c \
    "$(declare -f enter_control_groups); enter_control_groups ${machine_groups[*]}; exec unshare --cgroup \
    bash '$1/deploy/checks/boot.sh' '$scratch'" >"$scratch/boot.log" 2>&1 &
  machine_parent=$!
  for ((tries = 0; tries < 600; tries++)); do
    machine=$(pgrep -P "$machine_parent" || true)
    if [[ -n $machine && -e $scratch/up ]] && in_machine systemctl is-system-running >/dev/null 2>&1; then
      machine_clone=/proc/$machine/root/root/tacet
      return
    fi
    if ! kill -0 "$machine_parent" 2>/dev/null; then break; fi
    sleep 0.1
  done
  die "The machine of namespaces did not start; it needs root without the limits of most containers:
$(tail -n 5 "$scratch/boot.log")"
}

in_machine() {
  nsenter --target "$machine" --mount --pid --net --uts --ipc --cgroup --root env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

stop_machine() {
  local group tries
  if [[ -z $machine_parent ]]; then return 0; fi
  if [[ -n $machine ]]; then kill -KILL "$machine" 2>/dev/null || true; fi
  kill -KILL "$machine_parent" 2>/dev/null || true
  wait "$machine_parent" 2>/dev/null || true
  machine='' machine_parent=''
  for group in "${machine_groups[@]}"; do
    # The last processes end a little later than the first one.
    for ((tries = 0; tries < 100; tries++)); do
      if find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; then break; fi
      sleep 0.05
    done
  done
}

# Groups below this process's, so that the machine's systemd leaves nothing among those of this machine.
own_control_groups() {
  local number controllers path folder
  machine_groups=()
  while IFS=: read -r number controllers path; do
    if [[ $number == 0 ]]; then controllers=$(control_group_root); fi
    folder=/sys/fs/cgroup/${controllers#name=}$path
    if [[ -w $folder ]]; then
      mkdir -p "$folder/tacet-checks.$$"
      machine_groups+=("$folder/tacet-checks.$$")
    fi
  done </proc/self/cgroup
}

# Version 2 is beside the controllers of version 1, or alone.
control_group_root() { if [[ -d /sys/fs/cgroup/unified ]]; then printf unified; fi; }

enter_control_groups() {
  local group
  for group in "$@"; do
    if [[ -e $group/cpuset.cpus && -e $group/cpuset.mems ]]; then
      cat "$group/../cpuset.cpus" >"$group/cpuset.cpus" 2>/dev/null || true
      cat "$group/../cpuset.mems" >"$group/cpuset.mems" 2>/dev/null || true
    fi
    echo $$ >"$group/cgroup.procs"
  done
}
