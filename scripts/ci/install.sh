#!/bin/sh
# install.sh: installs git-idd from its source, as the README does, at one version.
#
# IDD_SOURCE   address of the repository of git-idd
# IDD_VERSION  commit or tag in it
set -eu
: "${IDD_SOURCE:?name the repository of git-idd}" "${IDD_VERSION:?name a commit or tag of git-idd}"
place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
git clone --quiet --no-checkout -- "$IDD_SOURCE" "$place/git-idd"
cd -- "$place/git-idd"
git checkout --quiet --detach "$IDD_VERSION"
cargo install --locked --path .
