# The programs, and what is installed with them. Sourced; needs say.sh and machine.sh.

# build_products CONFIGURATION PRODUCT...: sets programs, the folder where they are. The configuration debug takes half of the time of
# release, in which Swift's own libraries are linked into the programs: these run where no Swift is installed, take a few megabytes
# less, and spend a twentieth less of the processor.
build_products() {
  local build=(swift build) product
  if [[ $1 == release ]]; then build+=(-c release --static-swift-stdlib); fi
  headline 'Building (the first time takes a few minutes)'
  cd "$checkout" || exit
  for product in "${@:2}"; do "${build[@]}" --product "$product" 9>&-; done
  programs=$("${build[@]}" --show-bin-path)
}

# make_programs CONFIGURATION PRODUCT...: sets programs to the folder that TACET_PROGRAMS names, which then has these, or else to a
# build's.
make_programs() {
  local product
  if [[ -z ${TACET_PROGRAMS:-} ]]; then
    require_swift
    build_products "$@"
    return
  fi
  programs=$(cd "$TACET_PROGRAMS" && pwd -P)
  for product in "${@:2}"; do [[ -x $programs/$product ]] || die "TACET_PROGRAMS has no program $product."; done
}

# copy_files CHECKOUT FOLDER: what the archive has beside the program.
copy_files() {
  local folder
  mkdir -p "$2/db"
  for folder in migrations functions host examples; do cp -r "$1/db/$folder" "$2/db/"; done
  cp "$1/db/CONTRACT.md" "$1/db/README.md" "$1/db/uninstall.sql" "$2/db/"
  install -m 644 "$1"/deploy/tacet.{service,socket} "$1/LICENSE" "$1/openapi.yaml" "$2/"
  find "$2" -type d -exec chmod 755 {} +
  find "$2" -type f ! -path '*/bin/*' -exec chmod 644 {} +
}
