/** Shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const;

const bash = String.raw`# Completion of mycli for bash: add  eval "$(mycli completion bash)"  to ~/.bashrc.
_mycli_completion() {
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" words current typed cut breaks kind candidate IFS=$' \t\n'
  # Words as they were typed: bash breaks them at colons and equal signs too.
  read -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current="${'$'}{words[${'$'}{#words[@]}-1]}"
  typed="$current"
  [[ $current == --*=* ]] && typed="${'$'}{current#*=}"
  COMPREPLY=()
  # What is offered replaces the word from the last character that bash breaks at.
  breaks="${'$'}{COMP_WORDBREAKS//[^:=]/}"
  cut=''
  [[ -n $breaks ]] && cut="${'$'}{current%"${'$'}{current##*[$breaks]}"}"
  local prefix="${'$'}{current%"$typed"}"
  while IFS=$'\t' read -r candidate _; do
    if [[ -z $kind ]]; then kind="$candidate"; continue; fi
    candidate="$prefix$candidate"
    COMPREPLY+=("${'$'}{candidate#"$cut"}")
  done < <("${'$'}{words[0]}" __complete -- "${'$'}{words[@]:1}" 2>/dev/null)
  compopt -o nosort 2>/dev/null
  local paths=()
  case $kind in
    files) while IFS= read -r candidate; do paths+=("$candidate"); done < <(compgen -f -- "$typed") ;;
    folders) while IFS= read -r candidate; do paths+=("$candidate"); done < <(compgen -d -- "$typed") ;;
  esac
  if [[ ${'$'}{#paths[@]} -gt 0 ]]; then
    compopt -o filenames 2>/dev/null
    for candidate in "${'$'}{paths[@]}"; do
      candidate="$prefix$candidate"
      COMPREPLY+=("${'$'}{candidate#"$cut"}")
    done
  fi
}
complete -F _mycli_completion mycli
`;

const zsh = String.raw`#compdef mycli
# Completion of mycli for zsh: add  eval "$(mycli completion zsh)"  to ~/.zshrc.
_mycli() {
  local line value kind
  local -a given reply offered
  given=("${'$'}{(@Q)words[1,CURRENT-1]}" "${'$'}{(Q)PREFIX}")
  reply=("${'$'}{(@f)$("$given[1]" __complete -- "${'$'}{(@)given[2,-1]}" 2>/dev/null)}")
  kind="$reply[1]"
  for line in "${'$'}{(@)reply[2,-1]}"; do
    value="${'$'}{${'$'}{line%%$'\t'*}//:/\\:}"
    offered+=("$value:${'$'}{line#*$'\t'}")
  done
  [[ $PREFIX == --*=* ]] && compset -P '*='
  (( $#offered )) && _describe -V 'mycli' offered
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if ! (( $+functions[compdef] )); then
  autoload -Uz compinit
  compinit -i
fi
compdef _mycli mycli
# As a file of fpath it is loaded by the first completion, which it has to do itself.
if [[ "$funcstack[1]" = _mycli ]]; then _mycli "$@"; fi
`;

const fish = String.raw`# Completion of mycli for fish: run  mycli completion fish > ~/.config/fish/completions/mycli.fish
function __mycli_completion
    set -l given (commandline -opc)
    set -l current (commandline -ct)
    set -l typed (string replace -r -- '^--[^=]+=' '' "$current")
    set -l prefix (string match -r -- '^--[^=]+=' "$current")
    set -l reply ($given[1] __complete -- $given[2..-1] "$current" 2>/dev/null)
    for line in $reply[2..-1]
        printf '%s\n' "$prefix$line"
    end
    switch "$reply[1]"
        case files
            for path in (__fish_complete_path "$typed")
                printf '%s\n' "$prefix$path"
            end
        case folders
            for path in (__fish_complete_directories "$typed" '')
                printf '%s\n' "$prefix$path"
            end
    end
end
complete -c mycli -k -f -a '(__mycli_completion)'
`;

/** The scripts that make shells complete mycli's command lines. */
export const scripts: Readonly<Record<(typeof shells)[number], string>> = {bash, zsh, fish};
