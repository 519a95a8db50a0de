#!/bin/bash
source lib/common.sh
. ./other.sh

LIMIT=10
readonly NAME=x

# Says hello.
greet() {
    local who=$1
    echo "$who $LIMIT"
    COUNT=3
}

function main {
    greet world
}
main "$@"
