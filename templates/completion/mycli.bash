# Add to ~/.bashrc: source <(mycli completion bash)
# Bash splits words at what COMP_WORDBREAKS has of `:`, `=` and `@`, and replaces the last part, with its `@`.
_mycli() {
  local IFS=$'\n' i part before line kind path match rest=${COMP_LINE:0:COMP_POINT}
  local -a typed=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:blank:]]* ]]; then
      rest=${rest#"${rest%%[![:blank:]]*}"}
      typed+=('')
    fi
    part=${COMP_WORDS[i]:0:${#rest}}
    rest=${rest:${#part}}
    part=${part//[\\\"\']/}
    before=${typed[${#typed[@]} - 1]}
    typed[${#typed[@]} - 1]=$before$part
  done
  [[ $part == *[!:=@]* ]] || before=$before$part
  before=${before%@}
  local word=${typed[${#typed[@]} - 1]}
  while read -r line; do
    case $line in
      :*)
        [[ $line == :files* ]] && kind=-f || kind=-d
        path=${word#"${line#*$'\t'}"}
        while read -r match; do
          # As file names, they would get a backslash before @.
          if [[ $line == *@ ]]; then
            [[ -d $match ]] && compopt -o nospace 2>/dev/null && match=$match/
            printf -v match %q "$match"
          else
            compopt -o filenames 2>/dev/null
          fi
          match=${word%"$path"}$match
          COMPREPLY+=("${match#"$before"}")
        done < <(compgen $kind -- "$path")
        ;;
      *) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$before"}") ;;
    esac
  done < <("$1" completion:words -- "${typed[@]:1}" 2>/dev/null)
}
complete -F _mycli mycli
