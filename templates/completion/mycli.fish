# Save as ~/.config/fish/completions/mycli.fish
function __mycli_complete
  set -l tokens (commandline -opc)
  set -l current (commandline -ct)
  set -l quote (string match -r '^(?:--[\w-]+=)?\K["\']' -- "$current")
  set -l current (string replace -r '^(--[\w-]+=)?["\']' '$1' -- "$current")
  for line in ($tokens[1] completion:words -- $tokens[2..] "$current" 2>/dev/null)
    if not string match -q ':*' -- $line
      echo $line
      continue
    end
    set -l before (string split -m 1 \t -- $line)[2]
    set -l path (string sub -s (math 1 + (string length -- "$before")) -- "$current")
    # Completed as for a command without completions: with ~ and variables.
    for match in (complete -C "__mycli_none $quote$path")
      if string match -q ':files*' -- $line; or string match -q '*/' -- $match
        echo "$before$match"
      end
    end
  end
end
complete -c mycli -f -a '(__mycli_complete)'
