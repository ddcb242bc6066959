# Completion of evo-tune's programs for bash. `PROGRAM --complete WORDS` answers what may stand at the
# end of a command line: a line that says what of the file system fits, then one word a line.
_evo_tune() {
  COMPREPLY=()
  # Bash splits words at '=' and ':', which belong to them here: "virtual:l4", "--set MACRO=1".
  local - words=() i part glued=1
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    part=${COMP_WORDS[i]}
    if [[ $glued -eq 0 || $part == [:=]* ]] && ((${#words[@]} > 0)); then
      words[-1]+=$part
    else
      words+=("$part")
    fi
    [[ $part == *[:=] ]]
    glued=$?
  done
  local word=${words[-1]} answer=()
  mapfile -t answer < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete "${words[@]}" 2>/dev/null)
  COMPREPLY=("${answer[@]:1}")
  # What stands before the last '=' or ':' is on the command line already.
  local before=${word%"${word##*[:=]}"}
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  COMPREPLY=("${COMPREPLY[@]// /\\ }") # names with blanks
  local typed=$word
  [[ $typed == --*=* ]] && typed=${typed#*=}
  local kind=${answer[0]} pattern
  case $kind in
    folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$typed") ;;
    files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$typed") ;;
    files\ *)
      set -f
      for pattern in ${kind#files }; do
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!$pattern" -- "$typed")
      done
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$typed")
      ;;
  esac
  # Readline adds the '/' of folders and quotes names; outside of a completion there is none.
  [[ $kind == none ]] || compopt -o filenames 2>/dev/null
}
complete -F _evo_tune evo-elite evo-export evo-init evo-judge evo-predict evo-ptx-run evo-record \
  evo-replay evo-report evo-tune
