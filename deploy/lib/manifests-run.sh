#!/usr/bin/env bash
# Starts what manifests describe, on this machine and without containers: the programs, as the manifests' user and with their
# arguments, environments and files. Run by deploy/check-manifests as root, in namespaces of its own for network and mounts:
# the ports and names of containers are free here, and files of /etc are this run's.
#
#   manifests-run.sh FOLDER PYTHON   FOLDER with tacet, apns-simulator, compose.json, and the renderings of Kubernetes' manifests
# shellcheck disable=SC2034,SC2154 # variables are shared with what is sourced
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
for part in say postgres processes; do
  # shellcheck source=/dev/null
  source "$checkout/deploy/lib/$part.sh"
done
state=$1
programs=$state
python=$2
cluster=$state/postgres

stop_everything() {
  local status=$?
  trap - EXIT INT TERM HUP
  stop_process tacet || true
  stop_process apns-simulator || true
  postgres_stop "$cluster"
  exit "$status"
}

of_compose() { "$python" -c 'import json, sys; print(eval(sys.argv[2], json.load(open(sys.argv[1]))))' "$state/compose.json" "$1"; }
environment_of() { "$python" "$checkout/deploy/lib/manifests.py" environment "$@"; }
as_container() { setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all -- "$@"; }
says_ok() { [[ $(curl -s -m 2 -o "$state/answer" -w '%{http_code}' "$1") == 200 ]]; }

# Names and folders as in the containers.
open_network() {
  ip link set lo up
  cp -a /etc "$state/etc"
  printf '127.0.0.1 localhost postgres apns\n' >"$state/etc/hosts"
  mkdir "$state/etc/tacet" "$state/etc/postgres"
  mount --bind "$state/etc" /etc
}

start_database() {
  postgres_start "$cluster" listen_addresses=127.0.0.1
  PATH=$(postgres_programs):$PATH
  psql -X -q -d "host=$postgres_socket user=postgres" -c 'create role tacet superuser login' -c 'create database app owner tacet'
}

# start_tacet ENVIRONMENT WHAT: until it is ready, with figures at their own port only.
start_tacet() {
  local lines
  mapfile -t lines <<<"$1"
  # What Kubernetes gives to every container.
  start_process tacet setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all -- \
    env -i KUBERNETES_SERVICE_HOST=10.0.0.1 KUBERNETES_PORT=tcp://10.0.0.1:443 "${lines[@]}" "$state/tacet" serve
  wait_until 20 tacet says_ok http://127.0.0.1:8080/readyz ||
    die "$2: tacet serve is not ready: $(tail -n 5 "$state/tacet.log") $(cat "$state/answer" 2>/dev/null)"
  says_ok http://127.0.0.1:8080/healthz || die "$2: /healthz does not answer"
  says_ok http://127.0.0.1:9090/metrics || die "$2: there are no metrics at METRICS_ADDRESS"
  grep -q '^tacet_inbox_events{state="fresh"}' "$state/answer" || die "$2: the autoscaler's metric is not there"
}

stop_tacet() {
  stop_process tacet || die "$1: it did not stop well"
  say "  $1: known settings, ready, metrics, stopped"
}

# check_settings ENVIRONMENT WHAT: all of them as a file, where every unknown name is a problem; in the environment only names
# that begin as tacet's do are.
check_settings() {
  local status=0
  { grep -v ^TACET_CONFIG= <<<"$1" && cat /etc/tacet/tacet.conf; } >"$state/strict.conf"
  env -i TACET_CONFIG="$state/strict.conf" "$state/tacet" doctor >"$state/doctor.log" 2>&1 || status=$?
  if ((status > 1)) || grep -q '^FAIL  settings' "$state/doctor.log"; then
    die "$2: $(grep -E '^FAIL|error' "$state/doctor.log")"
  fi
}

run_compose() {
  local environment arguments
  environment=$(environment_of "$state/compose.json" tacet)
  bash -euc "$(of_compose 'services["secrets"]["command"][0].replace("$$", "$")')" 2>"$state/secrets.log" ||
    die "compose.yaml: secrets: $(cat "$state/secrets.log")"
  mapfile -t arguments < <(of_compose '"\n".join(services["migrate"]["command"])')
  as_container env -i TACET_CONFIG=/etc/tacet/tacet.conf "$state/tacet" "${arguments[@]}" >"$state/migrate.log" 2>&1 ||
    die "compose.yaml: migrate: $(tail -n 3 "$state/migrate.log")"
  mapfile -t arguments < <(of_compose '"\n".join(services["apns"]["command"])')
  start_process apns-simulator setpriv --reuid 65532 --regid 65532 --clear-groups -- "$state/apns-simulator" "${arguments[@]}"
  wait_until 15 apns-simulator says_ok http://127.0.0.1:2199/healthz || die "apns: $(tail -n 3 "$state/apns-simulator.log")"
  check_settings "$environment" compose.yaml
  start_tacet "$environment" compose.yaml
  # The doctor sent one to no device, which this simulator takes.
  curl -fsS -m 5 -X DELETE http://127.0.0.1:2199/pushes >"$state/answer"
  psql -X -q -v ON_ERROR_STOP=1 -d 'host=127.0.0.1 user=tacet dbname=app' -f "$checkout/deploy/lib/manifests-message.sql"
  curl -fsS -m 15 'http://127.0.0.1:2199/pushes/wait?count=1&timeout_ms=10000' | grep -qF '"outcomes":{"200":1}' ||
    die "compose.yaml: the local APNs got no push"
  say "  compose.yaml: a message in the database is a push at the local APNs"
  stop_tacet compose.yaml
}

# The Secret's files as Kubernetes mounts them: root's, and readable by the group of fsGroup. The key and the simulator are those
# of compose.yaml.
write_secret() {
  {
    grep -E '^(DATABASE_URL|WEBHOOK_SECRET)=' "$state/etc/tacet/tacet.conf"
    printf '%s\n' APNS_KEY_ID=LOCALKEY01 APNS_TEAM_ID=LOCALTEAM1 APNS_BUNDLE_ID=com.example.app APNS_URL=https://apns:2197 \
      APNS_CA_FILE=/etc/tacet/apns.pem
  } >"$state/new.conf"
  mv "$state/new.conf" /etc/tacet/tacet.conf
  chown root:65532 /etc/tacet/*
  chmod 440 /etc/tacet/*
}

trap stop_everything EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
open_network
start_database
run_compose
write_secret
for rendered in "$state"/kustomize/*.yaml; do
  name=$(basename "$rendered" .yaml)
  environment=$(environment_of "$rendered")
  check_settings "$environment" "$name"
  start_tacet "$environment" "$name"
  stop_tacet "$name"
done
