# Completion of evo-tune's programs: the options are those that --help lists.
_evo_tune() {
  local word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  [[ $word == -* ]] || return 0 # file names
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | grep -oE '^  (-h,)?--[a-z0-9-]+' | grep -oE -- '--.*')" -- "$word"))
}
complete -o default -F _evo_tune evo-elite evo-export evo-init evo-judge evo-ptx-run evo-record \
  evo-replay evo-report evo-tune
