# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The Debian package and the units of the archive, in a Debian of their own that systemd boots in a container of namespaces.
# Sourced after package-try.sh.

leader=

try_deb() {
  debian=$state/debian
  attempt 'deb: lintian has no error' check_policy
  # shellcheck source=/dev/null
  suite=$(source /etc/os-release && printf '%s' "$VERSION_CODENAME")
  # Of this release, because the package has the libraries of this machine.
  progressing "Unpacking $suite" "$work/debootstrap.log" debootstrap --variant=minbase --include=systemd,dbus "$suite" "$debian"
  if boot_debian >"$work/boot" 2>&1; then
    rows+=("$(printf '%-6s %-46s %s' ok 'debian: systemd boots' "$(tail -n 1 "$work/boot")")")
  else
    # Not on every machine; the package and what the unit says are checked all the same.
    cat "$work/boot"
    rows+=("$(printf '%-6s %-46s %s' none 'debian: systemd boots' 'systemd-nspawn cannot here, so no unit is started')")
    stop_debian || true
    leader=
  fi
  port=$(free_port)
  attempt 'deb: apt-get install' install_deb
  attempt 'deb: user and settings' check_installed
  attempt 'unit: systemd-analyze verify' inside systemd-analyze verify tacet.service tacet.socket
  attempt 'unit: exposure, at most 1.5' measure_exposure
  if [[ -n $leader ]]; then try_units; fi
  attempt 'deb: purge leaves nothing' purge
  if [[ -n $leader ]]; then
    attempt 'archive: installed as its unit says' install_archive
    attempt 'debian: ends' stop_debian
  fi
}

try_units() {
  write_configuration_folder "$debian/etc/tacet" /run/postgresql "$(inside id -g tacet)"
  create_database
  attempt 'deb: tacet migrate, Unix socket' inside setpriv --reuid tacet --regid tacet --clear-groups \
    env TACET_CONFIG=/etc/tacet/tacet.conf tacet migrate --create-host-tables
  attempt 'unit: starts, /readyz is 200' start_units
  attempt 'unit: restarts without a lost connection' restart_under_clients
  attempt 'unit: systemctl reload' reload_unit
  attempt 'unit: the watchdog ends a process that hangs' hang
  attempt 'deb: an upgrade restarts it' upgrade
  attempt 'unit: systemctl stop ends it with 0' stop_units
}

check_policy() {
  lintian --fail-on error "$package" || return 1
  say "$(lintian "$package" | grep -c '^W:') warnings"
}

# Its network is the machine's. Nothing of it is registered with a systemd of the machine, which may have none.
boot_debian() {
  start_process nspawn systemd-nspawn --machine=tacet-try --register=no --keep-unit --boot --console=pipe \
    --bind="$postgres_socket:/run/postgresql" --directory="$debian"
  if ! wait_until 60 nspawn is_booted; then
    tail -n 20 "$state/nspawn.log"
    return 1
  fi
  inside systemctl --version | head -n 1
}

is_booted() {
  local pid
  pid=$(<"$state/nspawn.pid")
  leader=$(tr -d ' ' <"/proc/$pid/task/$pid/children") || return 1
  [[ -n $leader ]] && inside systemctl is-system-running
}

# inside COMMAND...: in that Debian, booted or not.
inside() {
  local enter=(nsenter --target "$leader" --all)
  if [[ -z $leader ]]; then enter=(chroot "$debian"); fi
  "${enter[@]}" env -i PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

install_deb() {
  cp "$package" "$debian/root/tacet.deb" && cp /etc/resolv.conf "$debian/etc/" || return 1
  inside apt-get update && inside apt-get install -y --no-install-recommends /root/tacet.deb || return 1
  inside dpkg-query -W -f '${Package} ${Version} ${Status}\n' tacet
}

check_installed() {
  local found
  found=$(inside stat -c '%n %a %U:%G' /etc/tacet /etc/tacet/tacet.conf | tr '\n' ' ')
  printf '%s%s\n' "$found" "$(inside id tacet)"
  [[ $found == '/etc/tacet 750 root:tacet /etc/tacet/tacet.conf 640 root:tacet ' ]]
}

measure_exposure() {
  inside systemd-analyze security --no-pager --offline=true --threshold=15 tacet.service >"$work/exposure" || return 1
  sed -n 's/.*Overall exposure level for \(.*\) OK.*/\1/p' "$work/exposure"
}

# set_address: another than 8080, which may be taken on this machine.
set_address() {
  mkdir -p "$debian/etc/systemd/system/tacet.socket.d"
  printf '[Socket]\nListenStream=\nListenStream=127.0.0.1:%s\n' "$port" >"$debian/etc/systemd/system/tacet.socket.d/address.conf"
  inside systemctl daemon-reload
}

start_units() {
  # Installing starts nothing: there are no settings yet.
  if inside systemctl is-active tacet.service tacet.socket; then return 1; fi
  set_address && inside systemctl enable --now tacet.socket tacet.service && eventually 30 is_ready >/dev/null || {
    inside journalctl --no-pager -u tacet.service -n 20
    return 1
  }
  inside systemctl show -P Type -P WatchdogUSec -P SubState tacet.service | tr '\n' ' '
}

# Two clients with a new connection for each request, while the service restarts five times.
restart_under_clients() {
  local number pids=() status=0 failed
  for number in 1 2; do
    keep_asking "$number" &
    pids+=("$!")
  done
  for number in 1 2 3 4 5; do
    inside systemctl restart tacet.service || status=1
    sleep 0.5
  done
  touch "$work/asked"
  wait "${pids[@]}"
  sort -k 2n "$work"/answers-* >"$work/answers"
  grep -v '^200 ' "$work/answers" | head -n 5
  failed=$(grep -vc '^200 ' "$work/answers")
  say "$failed of $(wc -l <"$work/answers") requests failed, the longest took $(tail -n 1 "$work/answers" | cut -d ' ' -f 2) s"
  [[ -s $work/answers ]] && ((status == 0 && failed == 0))
}

keep_asking() {
  until [[ -e $work/asked ]]; do
    curl -s -m 30 -o /dev/null -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$port/healthz" >>"$work/answers-$1"
  done
}

reload_unit() {
  inside systemctl reload tacet.service || return 1
  eventually 10 reload_is_logged
}

reload_is_logged() { inside journalctl --no-pager -o cat -u tacet.service | grep 'settings reloaded'; }

main_pid() { inside systemctl show -P MainPID tacet.service; }

is_another() { [[ $(main_pid) != "$1" ]] && is_ready; }

# Stopped as a process that hangs would be, with a shorter time than the unit's.
hang() {
  local before
  inside mkdir -p /run/systemd/system/tacet.service.d || return 1
  printf '[Service]\nWatchdogSec=3\n' | inside tee /run/systemd/system/tacet.service.d/watchdog.conf
  inside systemctl daemon-reload && inside systemctl restart tacet.service && eventually 30 is_ready >/dev/null || return 1
  sleep 4 # More than the time: one that lives is let be.
  before=$(main_pid)
  [[ $(inside systemctl show -P NRestarts tacet.service) == 0 ]] || return 1
  inside kill -STOP "$before"
  eventually 30 is_another "$before" >/dev/null || return 1
  inside journalctl --no-pager -o cat -u tacet.service | grep -i 'watchdog timeout' || return 1
  inside rm -r /run/systemd/system/tacet.service.d && inside systemctl daemon-reload
}

upgrade() {
  local before
  before=$(main_pid)
  cp "$debian/etc/tacet/tacet.conf" "$work/settings"
  inside dpkg -i /root/tacet.deb || return 1
  eventually 30 is_another "$before" >/dev/null && cmp "$debian/etc/tacet/tacet.conf" "$work/settings"
}

stop_units() {
  local result
  inside systemctl stop tacet.socket tacet.service || return 1
  result=$(inside systemctl show -P Result -P ExecMainStatus tacet.service | tr '\n' ' ')
  say "$result"
  [[ $result == 'success 0 ' ]]
}

purge() {
  local left
  # Keys would stay, and with them the user.
  rm -rf "$debian/etc/tacet/"apns-* "$debian/etc/systemd/system/tacet.socket.d"
  inside dpkg --purge tacet || return 1
  left=$(inside find /etc /usr /var/lib /run/systemd -name '*tacet*')
  if [[ -n $left ]] || inside getent passwd tacet || inside getent group tacet; then
    say "left: $left"
    return 1
  fi
  say 'no file, no user'
}

# The commands at the head of the unit. The settings are there before the last one, which starts it.
install_archive() {
  local commands
  cp -r "$contents" "$debian/root/archive"
  sed -n '/^$/q; s/^#   //p' "$contents/tacet.service" >"$work/commands"
  head -n -1 "$work/commands" >"$debian/root/archive/install"
  inside sh -e -c 'cd /root/archive && . ./install' || return 1
  write_configuration_folder "$debian/etc/tacet" /run/postgresql "$(inside id -g tacet)"
  set_address && inside sh -e -c "$(tail -n 1 "$work/commands")" && eventually 30 is_ready >/dev/null || return 1
  inside systemctl stop tacet.socket tacet.service && inside systemctl show -P FragmentPath tacet.service
}

stop_debian() {
  if [[ -z $(process_pid nspawn) ]]; then return; fi
  stop_process nspawn
}
