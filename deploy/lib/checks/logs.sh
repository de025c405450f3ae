# Searches the logs of a test run for what must not be in them. Sourced; needs say.sh.
#
# The folder has the logs, and the list that the tests have made of their secrets, tokens and texts (`secrets`: a kind, a tab,
# a value). grep, because it is nobody's code here.

# log_hits LIST FILE...: a line for each place where a value of the list stands: its kind, file and line. Never the value.
log_hits() {
  local list=$1
  shift
  { LC_ALL=C grep -a -H -n -o -F -f <(cut -f 2- "$list") -- "$@" || (($? == 1)); } | LC_ALL=C awk -v list="$list" '
    BEGIN {
      while ((getline line < list) > 0) {
        tab = index(line, "\t")
        kind[substr(line, tab + 1)] = substr(line, 1, tab - 1)
      }
    }
    {
      file = $0; sub(/:.*/, "", file)
      rest = substr($0, length(file) + 2)
      number = rest; sub(/:.*/, "", number)
      value = substr(rest, length(number) + 2)
      print (value in kind ? kind[value] : "a listed value") ": " file ", line " number
    }'
}

# check_planted LIST: whether the search finds one value of each kind where it has been planted. A search that finds nothing
# because it is broken would prove nothing.
check_planted() {
  local list=$1 folder kinds found
  folder=$(mktemp -d)
  LC_ALL=C sort -u -k 1,1 "$list" | while IFS=$'\t' read -r kind value; do
    printf '2027-01-31T12:00:00Z info tacet: planted value=%s end\n' "$value" >"$folder/$kind.log"
  done
  kinds=$(cut -f 1 "$list" | sort -u | wc -l)
  found=$(log_hits "$list" "$folder"/*.log | cut -d , -f 1 | sort -u | wc -l)
  rm -rf "$folder"
  say "  planted one value of each kind: $found of $kinds found"
  ((found == kinds))
}

# check_logs FOLDER FILE...: searches every log in the folder, and these files. Fails on a hit, with 2 when the list is
# empty, and when the search does not find what is planted.
check_logs() {
  local folder=$1 list=$1/secrets files hits
  shift
  files=("$@")
  while IFS= read -r -d '' file; do files+=("$file"); done < <(find "$folder" -type f ! -name secrets -print0)
  if [[ ! -s $list ]]; then
    complain '  The tests have noted no secret, token or text: there is nothing to search for.'
    return 2
  fi
  say "  searched: ${#files[@]} files, $(cat -- "${files[@]}" | wc -l) lines, $(cat -- "${files[@]}" | wc -c) bytes"
  say "  searched for: $(cut -f 1 "$list" | sort | uniq -c | awk '{ printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2 }')"
  check_planted "$list" || return 1
  hits=$(log_hits "$list" "${files[@]}")
  if [[ -n $hits ]]; then
    complain "  found: $(printf '%s\n' "$hits" | wc -l)"
    printf '%s\n' "$hits" | head -n 20 | sed 's/^/    /' >&2
    return 1
  fi
  say '  found: none'
}
