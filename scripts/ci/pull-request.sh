#!/bin/sh
# pull-request.sh: opens a pull request with the fix that git idd recommends.
#
# Run after nightly.sh in the same clone. Without a recommended fix it does nothing. Without a token it changes nothing either:
# it prints the push and the call of the API that it would make. The branch is named after the first bad commit; if the remote
# has it already, nothing is done. Your working tree is not changed.
#
# IDD_TOKEN  token that may push and open pull requests (default: GH_TOKEN)
# IDD_API    address of the API (default: GITHUB_API_URL, or https://api.github.com; Gitea and Forgejo: https://<host>/api/v1)
# IDD_REPO   owner/name (default: GITHUB_REPOSITORY, or that of `origin`)
# IDD_BASE   branch that gets the fix (default: GITHUB_REF_NAME, or the current branch)
set -eu
token=${IDD_TOKEN:-${GH_TOKEN:-}}
api=${IDD_API:-${GITHUB_API_URL:-https://api.github.com}}
origin=$(git remote get-url origin 2>/dev/null || :)
repo=${IDD_REPO:-${GITHUB_REPOSITORY:-$(printf '%s\n' "$origin" | sed 's,/*$,,; s,\.git$,,; s,.*[:/]\([^/]*/[^/]*\)$,\1,')}}
case $repo in
*[!A-Za-z0-9._/-]* | */*/* | /* | */ | '') repo= ;;
*/*) ;;
*) repo= ;;
esac
base=${IDD_BASE:-${GITHUB_REF_NAME:-$(git symbolic-ref --quiet --short HEAD || :)}}
if [ -z "$repo" ]; then
    echo "error: \`origin\` does not tell owner and name of the repository; set IDD_REPO to owner/name" >&2
    exit 2
fi
if [ -z "$base" ]; then
    echo 'error: no branch is checked out; set IDD_BASE to the branch that gets the fix' >&2
    exit 2
fi

tmp=$(mktemp -d)
trap 'git worktree remove --force "$tmp/tree" 2>/dev/null || :; rm -rf -- "$tmp"' EXIT
git idd show --json >"$tmp/finding.json"
field() {
    sed -n "s/.*$1\"\([^\"]*\)\".*/\1/p" "$tmp/finding.json"
}
status=$(field '"schema":"[^"]*","status":')
first_bad=$(field '"first_bad":{"commit":')
hunt=$(field '"hunt":')
if [ "$status" != found ] || grep -q '"fix":null' "$tmp/finding.json"; then
    echo "no fix is recommended: $status" >&2
    exit 0
fi
short=$(printf %.12s "$first_bad")
branch=idd/fix-$short
title="Take back what broke a test in $short"
if [ -n "$token" ] && git ls-remote --exit-code origin "refs/heads/$branch" >/dev/null; then
    echo "the branch $branch exists already" >&2
    exit 0
fi

# The fix as a commit, made in a checkout of its own.
git worktree add --quiet --detach "$tmp/tree" HEAD
git -C "$tmp/tree" idd apply --hunt "$hunt" >&2
git -C "$tmp/tree" add --all
if ! git var GIT_COMMITTER_IDENT >/dev/null 2>&1; then
    export GIT_AUTHOR_NAME=git-idd GIT_AUTHOR_EMAIL=git-idd@localhost
    export GIT_COMMITTER_NAME=git-idd GIT_COMMITTER_EMAIL=git-idd@localhost
fi
git -C "$tmp/tree" commit --quiet -m "$title" -m "The test fails since the commit $first_bad. git idd found this fix and tested it."
commit=$(git -C "$tmp/tree" rev-parse HEAD)

# A JSON string of standard input. The report has no control characters but line ends and tabs.
string() {
    sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | awk '{ printf "%s\\n", $0 }'
}
text() {
    printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'
}
printf '{"title":"%s","head":"%s","base":"%s","body":"%s"}\n' "$(text "$title")" "$(text "$branch")" "$(text "$base")" \
    "$(git idd report --hunt "$hunt" --format markdown | string)" >"$tmp/call.json"

if [ -z "$token" ]; then
    echo 'there is no token (IDD_TOKEN), so this is only printed:' >&2
    echo "git push origin $commit:refs/heads/$branch"
    echo "POST $api/repos/$repo/pulls"
    cat "$tmp/call.json"
    exit 0
fi
# Neither git nor curl gets the token on its command line, which other users can read.
umask 077
printf 'Authorization: Bearer %s\n' "$token" >"$tmp/header"
case $(git remote get-url --push origin) in
https://*)
    GIT_CONFIG_COUNT=1
    GIT_CONFIG_KEY_0=http.extraHeader
    GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$token" | base64 | tr -d '\n')"
    export GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
    ;;
esac
git push --quiet origin "$commit:refs/heads/$branch"
curl --fail --silent --show-error --header "@$tmp/header" --header 'Content-Type: application/json' \
    --data-binary "@$tmp/call.json" --output "$tmp/answer.json" "$api/repos/$repo/pulls"
echo "opened a pull request from $branch into $base"
