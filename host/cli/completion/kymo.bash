# SPDX-License-Identifier: Apache-2.0
# Completion of kymo in bash; see `kymo completion --help`.
_kymo() {
  local line=${COMP_LINE:0:COMP_POINT} word=${COMP_WORDS[COMP_CWORD]} candidate suffix file words
  read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  # bash also splits words at = and :, and takes only the part after them.
  [[ $word == [=:] ]] && word=
  local last=${words[${#words[@]} - 1]}
  local taken=${last%"$word"}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case $candidate in
      :files*)
        compopt -o filenames 2> /dev/null
        suffix=${candidate#:files}
        while IFS= read -r file; do
          [[ -d $file || $file == *"$suffix" ]] && COMPREPLY+=("$file")
        done < <(compgen -f -- "$word")
        ;;
      *)
        COMPREPLY+=("${candidate#"$taken"}")
        [[ $candidate == *[=/] ]] && compopt -o nospace 2> /dev/null
        ;;
    esac
  done < <("${words[0]}" complete -- "${words[@]:1}" 2> /dev/null)
}
complete -F _kymo kymo
