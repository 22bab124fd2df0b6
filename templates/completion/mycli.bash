# Add to ~/.bashrc: source <(mycli completion bash)
# Bash splits words at what COMP_WORDBREAKS has of `:`, `=` and `@`, and replaces the last part, with its `@`, or what
# follows an open quote.
_mycli() {
  local IFS=$'\n' i j part plain quote behind before line kind path match lead rest=${COMP_LINE:0:COMP_POINT}
  local -a typed=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:blank:]]* ]]; then
      rest=${rest#"${rest%%[![:blank:]]*}"}
      typed+=('')
    fi
    part=${COMP_WORDS[i]:0:${#rest}}
    rest=${rest:${#part}}
    plain='' quote=''
    for ((j = 0; j < ${#part}; j++)); do
      case $quote${part:j:1} in
        [\"\']) quote=${part:j:1} behind=$plain ;;
        \"\" | \'\') quote='' ;;
        \\ | \"\\) ((j += 1)); plain+=${part:j:1} ;;
        *) plain+=${part:j:1} ;;
      esac
    done
    before=${typed[${#typed[@]} - 1]}
    typed[${#typed[@]} - 1]=$before$plain
  done
  [[ $part == *[!:=@]* ]] || before=$before$part
  if [[ $quote ]]; then before=$before$behind; else before=${before%@}; fi
  local word=${typed[${#typed[@]} - 1]}
  while read -r line; do
    case $line in
      :*)
        [[ $line == :files* ]] && kind=-f || kind=-d
        path=${word#"${line#*$'\t'}"}
        lead=${word%"$path"}
        while read -r match; do
          # With something before the path, such as @, Bash would not take it for a file name.
          if [[ ${lead#"$before"} ]]; then
            [[ -d $match ]] && compopt -o nospace 2>/dev/null && match=$match/
            [[ $quote ]] || printf -v match %q "$match"
            match=${match/#\\~/'~'}
          else
            compopt -o filenames 2>/dev/null
          fi
          match=$lead$match
          COMPREPLY+=("${match#"$before"}")
        done < <(compgen $kind -- "$path")
        ;;
      *) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$before"}") ;;
    esac
  done < <("$1" completion:words -- "${typed[@]:1}" 2>/dev/null)
}
complete -F _mycli mycli
