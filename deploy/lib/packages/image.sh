# The container image, made without a container engine: a folder of files becomes one layer of an OCI layout. Sourced; needs say.sh.

user_id=65532

# make_root FOLDER: the image's files. No shell, no package manager, nothing that runs but the program.
make_root() {
  local root=$1
  mkdir -p "$root"/{etc/ssl/certs,usr/bin,usr/lib,usr/share}
  ln -s usr/lib "$root/lib"
  install -m 755 "$contents/bin/tacet" "$root/usr/bin/tacet"
  copy_libraries
  copy_authorities
  cp -a /usr/share/zoneinfo "$root/usr/share/"
  write_accounts
  copy_notices
}

# Each library under the name by which the loader looks for it, where it looks without a cache. Programs name the loader by a
# path with /lib or /lib64.
copy_libraries() {
  local path
  ldd "$contents/bin/tacet" >"$work/needed"
  if grep 'not found' "$work/needed"; then die 'The machine lacks these libraries.'; fi
  libraries=()
  while read -r path; do
    mkdir -p "$root/usr$(dirname "${path#/usr}")"
    install -m 644 "$path" "$root/usr${path#/usr}"
    libraries+=("$path")
  done < <(grep -o '/[^ ]*' "$work/needed" | LC_ALL=C sort -u)
  find "$root/usr" -name 'ld-linux*' -exec chmod 755 {} +
  if [[ -d $root/usr/lib64 ]]; then ln -s usr/lib64 "$root/lib64"; fi
}

# Mozilla's authorities as they are packaged, and not those that the machine's owner has added. OpenSSL finds them one by one under
# the hashes of their names, libcurl in one file.
copy_authorities() {
  local certificate folder=$root/etc/ssl/certs
  for certificate in /usr/share/ca-certificates/mozilla/*.crt; do
    install -m 644 "$certificate" "$folder/$(basename "$certificate" .crt).pem"
  done
  openssl rehash "$folder"
  cat /usr/share/ca-certificates/mozilla/*.crt >"$folder/ca-certificates.crt"
  install -m 644 /etc/ssl/openssl.cnf "$root/etc/ssl/openssl.cnf"
  mkdir -p "$root/usr/lib/ssl"
  ln -s /etc/ssl/certs /etc/ssl/openssl.cnf "$root/usr/lib/ssl/"
}

write_accounts() {
  printf 'tacet:x:%d:%d:Tacet:/nonexistent:/usr/sbin/nologin\n' "$user_id" "$user_id" >"$root/etc/passwd"
  printf 'tacet:x:%d:\n' "$user_id" >"$root/etc/group"
  printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
}

# The licences of what is passed on, and what scanners need to know its versions, where distroless images have it.
copy_notices() {
  local name
  install -D -m 644 "$contents/LICENSE" "$root/usr/share/doc/tacet/copyright"
  install -m 644 "$contents/sbom.cdx.json" "$root/usr/share/doc/tacet/"
  mkdir -p "$root/var/lib/dpkg/status.d"
  packages_of "${libraries[@]}" /usr/share/ca-certificates/mozilla /usr/share/zoneinfo/UTC /etc/ssl/openssl.cnf >"$work/owners"
  while read -r name; do
    install -D -m 644 "/usr/share/doc/$name/copyright" "$root/usr/share/doc/$name/copyright"
    dpkg-query -s "$name" >"$root/var/lib/dpkg/status.d/$name"
  done <"$work/owners"
}

# packages_of FILE...: the packages that have these files. A package may have listed a file of /usr/lib as one of /lib.
packages_of() {
  local file
  for file in "$@"; do
    { dpkg-query -S "$file" || dpkg-query -S "/usr$file" || dpkg-query -S "$(realpath "$file")"; } 2>/dev/null |
      sed -n 's/^\([^:, ]*\).*/\1/p;q' || die "No package has $file."
  done | LC_ALL=C sort -u
}

# make_image ROOT FILE: sets image, the file, which is an OCI layout in an archive, and image_digest.
make_image() {
  local layout=$work/layout layer=$work/layer.tar created size digest uncompressed layer_size layer_digest
  image=$2
  created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
  mkdir -p "$layout/blobs/sha256" "${image%/*}"
  pack "$1" >"$layer"
  uncompressed=sha256:$(sha256sum "$layer" | cut -c 1-64)
  gzip -9n "$layer"
  add_blob "$layer.gz"
  write_configuration >"$work/configuration.json"
  layer_size=$size layer_digest=$digest
  add_blob "$work/configuration.json"
  write_manifest >"$work/manifest.json"
  add_blob "$work/manifest.json"
  image_digest=$digest
  printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
  printf '{"schemaVersion":2,"manifests":[{"mediaType":"%s","digest":"%s","size":%d,"annotations":{"%s":"%s"}}]}' \
    application/vnd.oci.image.manifest.v1+json "$digest" "$size" org.opencontainers.image.ref.name "$version" >"$layout/index.json"
  pack "$layout" >"$image"
}

# pack FOLDER: as a tar whose bytes depend on names, modes and contents only.
pack() {
  (cd "$1" && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort |
    tar --no-recursion --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -c -T -)
}

# add_blob FILE: moves it among the blobs; sets digest and size.
add_blob() {
  size=$(stat -c %s "$1")
  digest=sha256:$(sha256sum "$1" | cut -c 1-64)
  mv "$1" "$layout/blobs/sha256/${digest#sha256:}"
}

# A container's loopback address is reachable from nowhere else, so the image listens on all addresses.
write_configuration() {
  cat <<JSON
{"created": "$created", "architecture": "$architecture", "os": "linux",
 "config": {
  "User": "$user_id:$user_id", "Env": ["LISTEN_ADDRESS=0.0.0.0:8080"], "ExposedPorts": {"8080/tcp": {}}, "WorkingDir": "/",
  "Entrypoint": ["/usr/bin/tacet"], "Cmd": ["serve"], "StopSignal": "SIGTERM",
  "Labels": {
   "org.opencontainers.image.title": "tacet", "org.opencontainers.image.version": "$version",
   "org.opencontainers.image.description": "Push notifications of chats in PostgreSQL",
   "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.created": "$created"}},
 "rootfs": {"type": "layers", "diff_ids": ["$uncompressed"]},
 "history": [{"created": "$created", "created_by": "deploy/package"}]}
JSON
}

write_manifest() {
  cat <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
 "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": "$digest", "size": $size},
 "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": "$layer_digest", "size": $layer_size}]}
JSON
}
