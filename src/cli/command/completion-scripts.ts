import {completionRequest, type shells} from './complete.js';

/** What to put where, by shell. */
const places: Readonly<Record<(typeof shells)[number], string>> = {
  bash: 'Add to ~/.bashrc: source <(mycli completion bash)',
  zsh: 'Add to ~/.zshrc, after compinit: source <(mycli completion zsh)',
  fish: 'Save as ~/.config/fish/completions/mycli.fish',
  powershell: 'Add to $PROFILE: mycli completion powershell | Out-String | Invoke-Expression',
};

// Bash splits words at what COMP_WORDBREAKS has of `:`, `=` and `@`, and replaces the last part, with its `@`.
const bash = String.raw`
_mycli() {
  local IFS=$'\n' i part before line kind path match rest=${'$'}{COMP_LINE:0:COMP_POINT}
  local -a typed=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:blank:]]* ]]; then
      rest=${'$'}{rest#"${'$'}{rest%%[![:blank:]]*}"}
      typed+=('')
    fi
    part=${'$'}{COMP_WORDS[i]:0:${'$'}{#rest}}
    rest=${'$'}{rest:${'$'}{#part}}
    part=${'$'}{part//[\\\"\']/}
    before=${'$'}{typed[${'$'}{#typed[@]} - 1]}
    typed[${'$'}{#typed[@]} - 1]=$before$part
  done
  [[ $part == *[!:=]* ]] || before=$before$part
  before=${'$'}{before%@}
  local word=${'$'}{typed[${'$'}{#typed[@]} - 1]}
  while read -r line; do
    case $line in
      :*)
        [[ $line == :files* ]] && kind=-f || kind=-d
        path=${'$'}{word#"${'$'}{line#*$'\t'}"}
        while read -r match; do
          # As file names, they would get a backslash before @.
          if [[ $line == *@ ]]; then
            [[ -d $match ]] && compopt -o nospace 2>/dev/null && match=$match/
            printf -v match %q "$match"
          else
            compopt -o filenames 2>/dev/null
          fi
          match=${'$'}{word%"$path"}$match
          COMPREPLY+=("${'$'}{match#"$before"}")
        done < <(compgen $kind -- "$path")
        ;;
      *) line=${'$'}{line%%$'\t'*}; COMPREPLY+=("${'$'}{line#"$before"}") ;;
    esac
  done < <("$1" ${completionRequest} -- "${'$'}{typed[@]:1}" 2>/dev/null)
}
complete -F _mycli mycli`;

const zsh = String.raw`
_mycli() {
  local line paths
  local -a described
  for line in "${'$'}{(@f)$("${'$'}{words[1]}" ${completionRequest} -- "${'$'}{(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :*) paths=$line ;;
      *$'\t'*) described+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}") ;;
      ?*) described+=("${'$'}{line//:/\\:}") ;;
    esac
  done
  (( ${'$'}#described )) && _describe -V mycli described
  [[ -n $paths ]] || return
  compset -P "${'$'}{(b)paths#*$'\t'}"
  if [[ $paths == :files* ]]; then _files; else _files -/; fi
}
compdef _mycli mycli`;

const fish = String.raw`
function __mycli_complete
  set -l tokens (commandline -opc)
  set -l current (commandline -ct)
  for line in ($tokens[1] ${completionRequest} -- $tokens[2..] "$current" 2>/dev/null)
    if not string match -q ':*' -- $line
      echo $line
      continue
    end
    set -l before (string split -m 1 \t -- $line)[2]
    set -l path (string sub -s (math 1 + (string length -- "$before")) -- "$current")
    # Completed as for a command without completions: with ~ and variables.
    for match in (complete -C "__mycli_none $path")
      if string match -q ':files*' -- $line; or string match -q '*/' -- $match
        echo "$before$match"
      end
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
  $program = $line.GetCommandName()
  & $program ${completionRequest} '--' @typed 2>$null | ForEach-Object {
    $word, $meaning = $_ -split "${'`'}t", 2
    if ($word -in ':files', ':directories') {
      $before = "$meaning"
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
