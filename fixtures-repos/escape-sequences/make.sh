#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

esc=$(printf '\033') bel=$(printf '\007')
bidi=$(printf '\342\200\256') pop=$(printf '\342\200\254') # U+202E, U+202C

# A name that clears the screen, one that starts a workflow command on a line of its own, one in HTML.
clear=$(printf 'rates/%s[2J%s[Hred.txt' "$esc" "$esc")
command=$(printf 'rates/a\n::error file=x::owned.txt')
html='rates/<img src=x onerror=alert(1)>.txt'

# hostile <name> <message>: commits as somebody with this name.
hostile() {
    as eli $((clock + 97 + clock % 613))
    GIT_AUTHOR_NAME=$1 GIT_COMMITTER_NAME=$1
    git add -A
    printf '%s\n' "$2" | git commit -q --no-verify --no-gpg-sign --cleanup=verbatim -F -
}

put .gitignore <<'END'
*.o
/rates.out
/total
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

total: total.o
	$(CC) $(CFLAGS) -o $@ total.o
END
put total.c <<'END'
#include <stdio.h>

/* Prints the sum of the numbers in all files, and shows every file. */
int main(int argc, char **argv)
{
    long sum = 0;
    int i;

    for (i = 1; i < argc; i++) {
        long value;
        FILE *file = fopen(argv[i], "r");

        if (file == NULL)
            return 66;
        while (fscanf(file, "%*s %ld", &value) == 1)
            sum += value;
        fclose(file);
        printf("read %s\n", argv[i]);
    }
    printf("%ld\n", sum);
    return 0;
}
END
put "$clear" <<END
gas 10
${esc}[31mpower${esc}[0m 20
water 30
END
put "$command" <<END
::warning::rent 5
END
put "$html" <<'END'
<b>tax</b> 7
END
put_test
commit ada 0 'Add up the rates'
printf '%s\n' "$bidi* hidden$pop" >>NEWS
hostile "${esc}]0;owned${bel}Mallory" "Say ${bidi}doog si ti taht${pop} in the news"
news bob 'Announce the first version'
printf '<script>alert(1)</script>\n' >>NEWS
hostile 'Mallory &lt;b&gt; "quoted"' '<script>alert("subject")</script>'
for topic in gas water; do news dee "Collect wishes about $topic"; done
swap total.c 'int i;' 'int i; /* position of the argument */'
next cho 'Explain a counter'
news bob 'Plan the second version'
put "$clear" <<END
${esc}[8mgas 10
${esc}[31mpower${esc}[0m 21
waste 0
water 30
END
put "$html" <<'END'
<b>tax</b> 7
</pre><script>alert("patch")</script> 0
END
hostile "${bidi}Eve${esc}[1A" "${esc}[2K::error file=total.c,line=1::owned ${bidi}<b>rates</b>${esc}[0m

::set-output name=x::y
${esc}[5mblink
--> ]]> \`\`\`"
news dee 'Answer the wishes about gas'
printf '::endgroup::\n' >>NEWS
hostile "::add-mask::x" '::group::owned'
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
news dee 'Answer the wishes about water'
printf '%s[31m* Thanks.%s[0m\n' "$esc" "$esc" >>NEWS
hostile "Mallory" "${esc}[31mThank${esc}[0m the ${bidi}srotubirtnoc${pop}"
finish
