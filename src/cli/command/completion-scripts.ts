import {completionRequest, type shells} from './complete.js';

/** What to put where, by shell. */
const places: Readonly<Record<(typeof shells)[number], string>> = {
  bash: 'Add to ~/.bashrc: source <(mycli completion bash)',
  zsh: 'Add to ~/.zshrc, after compinit: source <(mycli completion zsh)',
  fish: 'Save as ~/.config/fish/completions/mycli.fish',
};

// Bash splits words at colons and equals signs, and replaces only what follows the last one.
const bash = String.raw`
_mycli() {
  local IFS=$'\n' line word=${'$'}{COMP_LINE:0:COMP_POINT}
  local -a typed
  COMPREPLY=()
  IFS=' ' read -ra typed <<<"$word"
  [[ $word == *' ' ]] && typed+=('')
  word=${'$'}{typed[${'$'}{#typed[@]} - 1]}
  local before=${'$'}{word%"${'$'}{word##*[:=]}"} current=${'$'}{word##*[:=]}
  while read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")) ;;
      :directories) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$current")) ;;
      *) line=${'$'}{line%%$'\t'*}; COMPREPLY+=("${'$'}{line#"$before"}") ;;
    esac
  done < <("$1" ${completionRequest} -- "${'$'}{typed[@]:1}" 2>/dev/null)
}
complete -F _mycli mycli`;

const zsh = String.raw`
_mycli() {
  local line
  local -a described
  for line in "${'$'}{(@f)$("${'$'}{words[1]}" ${completionRequest} -- "${'$'}{(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) compset -P '--*='; _files ;;
      :directories) compset -P '--*='; _files -/ ;;
      ?*) described+=("${'$'}{${'$'}{${'$'}{line%%$'\t'*}//:/\\:}}:${'$'}{${'$'}{line#*$'\t'}#${'$'}{line%%$'\t'*}}") ;;
    esac
  done
  (( ${'$'}#described )) && _describe -V mycli described
}
compdef _mycli mycli`;

const fish = String.raw`
function __mycli_complete
  set -l tokens (commandline -opc)
  set -l current (commandline -ct)
  set -l before (string match -r -- '^--[^=]*=' "$current")
  set -l path (string replace -r -- '^--[^=]*=' '' "$current")
  for line in ($tokens[1] ${completionRequest} -- $tokens[2..] "$current" 2>/dev/null)
    switch $line
      case :files
        printf '%s\n' "$before"(__fish_complete_path "$path")
      case :directories
        printf '%s\n' "$before"(__fish_complete_directories "$path")
      case '*'
        echo $line
    end
  end
end
complete -c mycli -f -a '(__mycli_complete)'`;

const scripts: Readonly<Record<(typeof shells)[number], string>> = {bash, zsh, fish};

/** The script that makes a shell complete mycli. It asks mycli at each Tab, which runs no plugin and sends nothing. */
export function completionScript(shell: (typeof shells)[number]): string {
  return `# ${places[shell]}\n${scripts[shell].trim()}\n`;
}
