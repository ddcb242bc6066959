# Completion of evo-tune's programs for bash. `PROGRAM --complete WORDS` prints the completions of a
# command line: first a line that says which files may follow ("none", "folders", "files", or
# "files" and patterns), then one word per line.
_evo_tune() {
  COMPREPLY=()
  # Bash splits words at '=' and ':', but "virtual:l4" and "MACRO=1" are single words for evo-tune.
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
  # Removes the part up to the last '=' or ':', which is already on the command line.
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
  # compopt makes readline add '/' to folders and quote names. It fails outside of a completion.
  [[ $kind == none ]] || compopt -o filenames 2>/dev/null
}
complete -F _evo_tune evo-elite evo-export evo-init evo-judge evo-predict evo-ptx-run evo-record \
  evo-replay evo-report evo-tune
