# What the machine must have: Swift, the C libraries, PostgreSQL's programs. Sourced; needs say.sh.

libraries_needed=(libpq-dev libcurl4-openssl-dev libssl-dev libnghttp2-dev)
packages_needed=("${libraries_needed[@]}" postgresql tzdata)

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]; }

missing_packages() {
  local package program
  for package in "${packages_needed[@]}"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
  for program in curl openssl pkg-config; do
    command -v "$program" >/dev/null || printf '%s\n' "$program"
  done
}

# Installs what is missing as root; as anybody else, says which command would.
require_packages() {
  local missing=() log package
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian or Ubuntu: what corresponds to ${packages_needed[*]} curl openssl pkg-config has to be there already."
    return
  fi
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    say "Packages: all there."
    return
  fi
  if ((EUID != 0)); then
    die "Missing: ${missing[*]}. Please run, then start again:
  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  log=$(mktemp /tmp/tacet-packages.XXXXXX)
  export DEBIAN_FRONTEND=noninteractive
  progressing "Reading the package lists" "$log" apt-get update
  install_without_cluster "$log"
  progressing "Installing ${missing[*]}" "$log" apt-get install -y --no-install-recommends "${missing[@]}"
  for package in pgbouncer nginx prometheus; do
    if [[ " ${missing[*]} " == *" $package "* ]]; then keep_off "$package"; fi
  done
  rm -f "$log"
}

# keep_off PACKAGE: its own service, which Debian starts when the package is installed and with the machine, and which
# nobody here asked for.
keep_off() {
  if [[ -d /run/systemd/system ]]; then
    systemctl disable --now --quiet "$1"
  else
    service "$1" stop >/dev/null || true # where nothing starts services it does not run
    update-rc.d "$1" disable
  fi
  say "  $1: its own service is off, so that no server starts by itself"
}

# Debian's postgresql package makes and starts a cluster on port 5432 when it is installed, which nobody here asked for.
# The switch against that comes with postgresql-common, which therefore goes first. A machine that had that package
# before is configured by somebody else, and left as it is.
install_without_cluster() {
  local configuration=/etc/postgresql-common/createcluster.conf
  if is_installed postgresql-common || is_installed postgresql; then return; fi
  progressing "Installing postgresql-common" "$1" apt-get install -y --no-install-recommends postgresql-common
  if [[ -f $configuration ]]; then
    sed -i -E 's/^#? *create_main_cluster *=.*/create_main_cluster = false/' "$configuration"
    say "  $configuration: create_main_cluster = false, so that no server starts by itself"
  fi
}

# The tools version of Package.swift is 6.3.
require_swift() {
  local version
  command -v swift >/dev/null || die "Swift 6.3 or newer is needed and there is no 'swift': https://www.swift.org/install"
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  if [[ $(printf '%s\n' 6.3 "$version" | sort -V | head -n 1) != 6.3 ]]; then
    die "Swift 6.3 or newer is needed; 'swift --version' says '${version:-nothing}': https://www.swift.org/install"
  fi
  say "Swift: $version."
}
