#compdef kymo
# SPDX-License-Identifier: Apache-2.0
# Completion of kymo in zsh; see `kymo completion --help`.
_kymo() {
  local line candidate suffix
  local -a complete_words open_words
  for line in "${(@f)$("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    candidate=${line%%$'\t'*}
    case $candidate in
      '') ;;
      :files*)
        suffix=${candidate#:files}
        compset -P '*='
        if [[ -n $suffix ]]; then _files -g "*$suffix"; else _files; fi
        ;;
      *[=/]) open_words+=("${candidate//:/\\:}:${line#*$'\t'}") ;;
      *) complete_words+=("${candidate//:/\\:}${${line#$candidate}/#$'\t'/:}") ;;
    esac
  done
  (( $#open_words )) && _describe kymo open_words -S ''
  (( $#complete_words )) && _describe kymo complete_words
}
if [[ $funcstack[1] == _kymo ]]; then _kymo "$@"; else compdef _kymo kymo; fi
