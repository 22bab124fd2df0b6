# Add to ~/.zshrc, after compinit: source <(mycli completion zsh)
_mycli() {
  local line paths
  local -a described
  for line in "${(@f)$("${words[1]}" completion:words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      :*) paths=$line ;;
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      ?*) described+=("${line//:/\\:}") ;;
    esac
  done
  (( $#described )) && _describe -V mycli described
  [[ -n $paths ]] || return
  compset -P "${(b)paths#*$'\t'}"
  if [[ $paths == :files* ]]; then _files; else _files -/; fi
}
compdef _mycli mycli
