# SPDX-License-Identifier: Apache-2.0
# Completion of kymo in fish; see `kymo completion --help`.
function __kymo_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete -- $words[2..] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':files*'
                __fish_complete_suffix "$current" (string replace ':files' '' -- $line)
            case '*'
                echo $line
        end
    end
end
complete -c kymo -f -a '(__kymo_complete)'
