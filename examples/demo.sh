#!/bin/sh
# The two halves of Smart Context on the sample folder. `make demo` runs it with the folder of the installed commands.
set -eu
BIN=${1:-}
PATH="$(cd "${BIN:-.}" && pwd):$PATH"
cd "$(dirname "$0")/.."
mkdir -p .demo
say() {
    printf '\n$'
    for word in "$@"; do case $word in *" "*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
    printf '\n'
    "$@"
}
FILES="--root examples/handbook --data-dir .demo/data"

say context index $FILES
say context search $FILES "how fast must a lost laptop be reported" -k 2
say context search $FILES "vendor x contract price docx" -k 1
say context search $FILES "回滚"
say context open $FILES examples/handbook/policies/travel-policy.pdf --pointer "page 3"
say context summarize $FILES "what does a hotel night cost at most"
say context build --sources examples/handbook --cache .demo/handbook.cache --force
say context resolve --cache .demo/handbook.cache --query "roll back" --budget 200 --format pretty
say context verify --cache .demo/handbook.cache
printf '\nNext: `context connect` lists the clients it can connect to; docs/ has the guides.\n'
