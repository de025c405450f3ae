# The Debian package, from deploy/debian and the archive. Sourced; needs say.sh.

# make_deb FOLDER: sets package, the file.
make_deb() {
  local tree=$work/deb debian=$checkout/deploy/debian script
  # What Debian has under "-" is its own revision.
  deb_version=${version//-/\~}-1
  package=$1/tacet_${deb_version}_$architecture.deb
  install -D -m 755 "$contents/bin/tacet" "$tree/usr/bin/tacet"
  install -D -m 640 "$debian/tacet.conf" "$tree/etc/tacet/tacet.conf"
  copy_units "$tree/usr/lib/systemd/system"
  mkdir -p "$tree/usr/share/tacet" "$tree/DEBIAN"
  cp -r "$contents/db" "$tree/usr/share/tacet/"
  copy_pages "$tree/usr/share/doc/tacet"
  for script in postinst prerm postrm; do install -m 755 "$debian/$script" "$tree/DEBIAN/"; done
  printf '/etc/tacet/tacet.conf\n' >"$tree/DEBIAN/conffiles"
  write_control >"$tree/DEBIAN/control"
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\n' | LC_ALL=C sort | xargs md5sum) >"$work/md5sums"
  install -m 644 "$work/md5sums" "$tree/DEBIAN/md5sums"
  find "$tree" -exec touch -h -d "@$epoch" {} +
  dpkg-deb --build --root-owner-group "$tree" "$package" >/dev/null
}

# copy_units FOLDER: those of the archive, with the path of a package's program, and without how to install them by hand.
copy_units() {
  local unit
  mkdir -p "$1"
  for unit in tacet.service tacet.socket; do
    sed -e '1,/^$/{/^#/d;/^$/d}' -e 's#/usr/local/bin/#/usr/bin/#' "$contents/$unit" >"$1/$unit"
  done
}

# copy_pages FOLDER: as they are in the checkout, so that their links work.
copy_pages() {
  local page
  while read -r page; do
    install -D -m 644 "$checkout/$page" "$1/$page"
  done < <(cd "$checkout" &&
    printf '%s\n' README.md openapi.yaml deploy/{,guides/}*.md deploy/apps/* deploy/{calls,grafana-dashboard.json,prometheus-alerts.yml})
  ln -s ../../tacet/db "$1/db"
  install -m 644 "$checkout/deploy/debian/copyright" "$contents/sbom.cdx.json" "$1/"
  gzip -9n <"$checkout/.github/CHANGELOG.md" >"$1/changelog.gz"
  printf 'tacet (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' \
    "$deb_version" "$(maintainer)" "$(date -u -R -d "@$epoch")" | gzip -9n >"$1/changelog.Debian.gz"
}

maintainer() {
  if [[ -n ${DEBEMAIL:-} ]]; then
    printf '%s <%s>' "${DEBFULLNAME:-$DEBEMAIL}" "$DEBEMAIL"
  else
    git -C "$checkout" log -1 --format='%an <%ae>'
  fi
}

write_control() {
  sed -e "s/@VERSION@/$deb_version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@MAINTAINER@/$(maintainer)/" \
    -e "s/@SIZE@/$(installed_size)/" -e "s/@LIBRARIES@/$(library_packages)/" \
    "$checkout/deploy/debian/control"
}

# In KiB, each file rounded up; the folders' sizes depend on the file system.
installed_size() {
  find "$tree" -type f ! -path '*/DEBIAN/*' -printf '%s\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }'
}

# The packages of the libraries, with the versions whose symbols the program uses. dpkg-shlibdeps reads the control file of a source
# package.
library_packages() {
  local source=$work/source
  mkdir -p "$source/debian"
  printf 'Source: tacet\n\nPackage: tacet\nArchitecture: any\n' >"$source/debian/control"
  (cd "$source" && dpkg-shlibdeps -O "$tree/usr/bin/tacet") | sed -n 's/^shlibs:Depends=//p'
}
