# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# The programs as they are run in production. Sourced; needs say.sh.

# Swift's own libraries are linked into the programs: these run where no Swift is installed, take a few megabytes less, and
# spend a twentieth less of the processor.
release_build=(swift build -c release --static-swift-stdlib)

# build_release PRODUCT...: sets programs, the folder where they are.
build_release() {
  local product
  headline 'Building (the first time takes a few minutes)'
  cd "$checkout" || exit
  for product in "$@"; do
    "${release_build[@]}" --product "$product" 9>&-
  done
  programs=$("${release_build[@]}" --show-bin-path)
}
