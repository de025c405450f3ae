# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The image under runc. Sourced after package-try.sh.

container=tacet-try-$$

try_image() {
  bundle_folder=$state/image
  attempt 'both: a second build is the same' build_again
  attempt 'image: unpacked by umoci' unpack_image
  attempt 'image: size' image_size
  attempt 'image: files' list_files
  sed 's/^/  /' "$work/files"
  attempt 'image: one program' one_program
  port=$(free_port)
  write_configuration_folder "$state/settings-of-image" 127.0.0.1 "$user_id"
  attempt 'image: tacet --version' run_image --version
  attempt 'image: tacet migrate' run_image migrate --create-host-tables
  attempt 'image: tacet serve, /readyz is 200' serve_image
  attempt 'image: its user and rights' image_rights
  attempt 'image: tacet doctor' run_image doctor
  attempt 'image: SIGTERM ends it with 0' stop_served_image
}

build_again() (
  made=("$image" "$package") digest=$image_digest work=$work/again
  mkdir "$work" && make_root "$work/root" && make_image "$work/root" "$work/image.tar" && make_deb "$work" || exit
  cmp "$image" "${made[0]}" && cmp "$package" "${made[1]}" && say "the image's digest is $digest"
)

unpack_image() {
  mkdir "$state/layout" && tar -C "$state/layout" -xf "$image" || return 1
  umoci unpack --image "$state/layout:$version" "$bundle_folder" || return 1
  cp "$bundle_folder/config.json" "$state/unpacked.json" &&
    jq -r '"runs \(.process.args | join(" ")) as \(.process.user.uid):\(.process.user.gid)"' "$state/unpacked.json"
}

image_size() {
  printf '%s MB packed, %s MB unpacked\n' "$(megabytes "$image")" "$(megabytes "$bundle_folder/rootfs")"
}

megabytes() { du -sb "$1" | awk '{ printf "%.1f", $1 / 1e6 }'; }

# Everything, but certificates, time zones and notices as counts.
list_files() {
  (cd "$bundle_folder/rootfs" && find . ! -type d -printf '/%P\n') |
    sed -E 's#^(/etc/ssl/certs|/usr/share/zoneinfo|/usr/share/doc|/var/lib/dpkg/status.d)/.*#\1/...#' |
    LC_ALL=C sort | uniq -c | awk '{ print ($1 > 1 ? $2 " (" $1 ")" : $2) }' >"$work/files"
  find "$bundle_folder/rootfs" ! -type d | wc -l
}

# Besides the loader, which is a program too, and no library can be run.
one_program() {
  local found
  found=$(cd "$bundle_folder/rootfs" && find . -type f -perm /111 ! -name 'ld-linux*' -printf '/%P ')
  printf 'executable: %s\n' "$found"
  [[ $found == '/usr/bin/tacet ' ]]
}

# write_bundle ARGUMENTS...: what a careful orchestrator sets: the root read-only, no capability, no new privileges. The network
# is the machine's, because database and simulator listen on its loopback address; hence another address than the image's.
write_bundle() {
  jq --arg settings "$state/settings-of-image" --arg address "LISTEN_ADDRESS=127.0.0.1:$port" '
    .root.readonly = true
    | .process.terminal = false | .process.capabilities = {} | .process.noNewPrivileges = true
    | .process.args = .process.args[:1] + $ARGS.positional
    | .process.env |= map(select(startswith("LISTEN_ADDRESS=") | not)) + [$address, "TACET_CONFIG=/etc/tacet/tacet.conf"]
    | .linux.namespaces |= map(select(.type != "network"))
    | .mounts += [{destination: "/etc/tacet", type: "bind", source: $settings, options: ["bind", "ro"]}]
    ' "$state/unpacked.json" --args -- "$@" >"$bundle_folder/config.json"
}

run_image() {
  write_bundle "$@" && runc --root "$state/runc" run --bundle "$bundle_folder" "$container-${1#--}" </dev/null
}

serve_image() {
  write_bundle serve || return 1
  start_process runc runc --root "$state/runc" run --bundle "$bundle_folder" "$container"
  if ! wait_until 30 runc is_ready; then
    tail -n 20 "$state/runc.log"
    return 1
  fi
  say "with $(runc --version | sed -n '1s/ version / /p')"
}

image_rights() {
  local pid status
  pid=$(runc --root "$state/runc" state "$container" | jq .pid) || return 1
  status=$(awk '/^(Uid|CapEff|CapBnd|NoNewPrivs):/ { print $1 $2 }' "/proc/$pid/status" | sort | tr '\n' ' ')
  printf '%s' "$status"
  awk '$5 == "/" { print "root:" substr($6, 1, 2) }' "/proc/$pid/mountinfo" | tee "$work/root-mount"
  [[ $status == "CapBnd:0000000000000000 CapEff:0000000000000000 NoNewPrivs:1 Uid:$user_id " && $(<"$work/root-mount") == root:ro ]]
}

stop_served_image() {
  if ! stop_process runc; then
    tail -n 20 "$state/runc.log"
    return 1
  fi
  tail -n 1 "$state/runc.log"
}

stop_container() {
  local id
  stop_process runc || true
  for id in "$container" "$container"-{version,migrate,doctor}; do
    runc --root "$state/runc" delete --force "$id" 2>/dev/null || true
  done
}
