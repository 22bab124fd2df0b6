import {completionRequest, type shells} from './complete.js';

/** What to put where, by shell. */
const places: Readonly<Record<(typeof shells)[number], string>> = {
  bash: 'Add to ~/.bashrc: source <(mycli completion bash)',
  zsh: 'Add to ~/.zshrc, after compinit: source <(mycli completion zsh)',
  fish: 'Save as ~/.config/fish/completions/mycli.fish',
  powershell: 'Add to $PROFILE: mycli completion powershell | Out-String | Invoke-Expression',
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

// Versions before 7.3 pass no empty word, so a blank stands for it; scripts, such as npm's mycli.ps1, lose a bare `--`.
const powershell = String.raw`
Register-ArgumentCompleter -Native -CommandName mycli -ScriptBlock {
  param($current, $line, $cursor)
  $typed = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } |
    ForEach-Object { if ($_.Value -is [string]) { $_.Value } else { $_.Extent.Text } })
  $typed += if ($current) { $current } else { ' ' }
  $before = if ($current -match '^--[^=]*=') { $Matches[0] } else { '' }
  $program = $line.GetCommandName()
  & $program ${completionRequest} '--' @typed 2>$null | ForEach-Object {
    $word, $meaning = $_ -split "${'`'}t", 2
    if ($word -in ':files', ':directories') {
      [Management.Automation.CompletionCompleters]::CompleteFilename($current.Substring($before.Length)) |
        Where-Object { $word -eq ':files' -or $_.ResultType -eq 'ProviderContainer' } | ForEach-Object {
          [Management.Automation.CompletionResult]::new(
            $before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip)
        }
    } else {
      $quoted = [Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word)
      $text = if ($word -match '^[\w:=./-]+$') { $word } else { "'$quoted'" }
      $tip = if ($meaning) { $meaning } else { $word }
      [Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $tip)
    }
  }
}`;

const scripts: Readonly<Record<(typeof shells)[number], string>> = {bash, zsh, fish, powershell};

/** The script that makes a shell complete mycli. It asks mycli at each Tab, which runs no plugin and sends nothing. */
export function completionScript(shell: (typeof shells)[number]): string {
  return `# ${places[shell]}\n${scripts[shell].trim()}\n`;
}
