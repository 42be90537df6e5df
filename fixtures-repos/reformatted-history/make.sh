#!/bin/sh
# Between the culprit and HEAD every line of code is indented anew, with tabs and with braces on their own lines.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
. "$story/../units.sh"
begin "$@"

# indent_all: what indent does with all .c and .h files: tabs, and a brace begins a line.
indent_all() {
    for _file in *.c *.h; do
        awk '
            {
                tabs = ""
                while (sub(/^    /, "")) tabs = tabs "\t"
                if (sub(/^} else /, "else ")) print tabs "}"
                if (/ \{$/ && !/= \{$/) { sub(/ \{$/, ""); print tabs $0; print tabs "{" }
                else if ($0 == "") print ""
                else print tabs $0
            }' "$_file" >.git/indented
        cat .git/indented >"$_file"
    done
    rm .git/indented
}

# row <author> <name> <kind> <factor>: an everyday commit in the new style.
row() {
    printf '\t{ "%s", "%s", %s },\n' "$2" "$3" "$4" | before table.c '{ NULL, NULL, 0 }'
    next "$1" "Know the $2"
}

units_program
awk '
    /while .isdigit/ { sub(/while \(/, "for (; "); sub(/text\)\) \{/, "text); text++) {") }
    { sub(/\*text\+\+ - /, "*text - "); print }
' parse.c >.git/parse.c
cat .git/parse.c >parse.c
commit ada 0 'Convert length, mass and time'
routines 8

replace parse.c '/* Reads a decimal number;' <<'END'
/*
 * Reads a decimal number, as people type it: perhaps a sign, digits, perhaps a
 * point and more digits. The digits may be grouped.
 *
 * Returns 0 on success, -1 when the text is none.
 */
END
awk '
    /isdigit/ { sub(/isdigit\(\(unsigned char\)\*text\)/, "& || *text == \047,\047") }
    { print }
' parse.c >.git/parse.c
cat .git/parse.c >parse.c
rm .git/parse.c
after parse.c '    int n_digits = 0;' <<'END'
    /* Large numbers lose their last digits: a double has 53 bits. */
END
swap README '    conv 5 foot metre' '    conv 5 foot metre
    conv 1,200 foot metre'
echo '- digits may be grouped' | add NEWS
next dee 'Read numbers with grouped digits'
routines 3

after parse.c '            n_digits++;' <<'END'
            if (n_digits > 30) {
                return -1;
            }
END
swap conv.c '    if (argc != 4)' '    if (argc != 4 || argv[1][0] == 0)'
next bob 'Limit the digits of a fraction'
routines 2

indent_all
next eli 'Run indent'
row ada inch length 0.0254
row cho tonne mass 1000000
swap parse.c "	if (*text == '-')" "	if (*text == '+' && text[1] != '-')
	{
		text++;
	}
	if (*text == '-')"
next dee 'Accept a plus sign'
row bob day time 86400
after parse.c '	double sign = 1, scale = 1, number = 0;' <<'END'
	const double base = 10;
END
swap parse.c '		number = number * 10 + ' '		number = number * base + '
swap parse.c '			scale /= 10;' '			scale /= base;'
next eli 'Give the base of numbers a name'
row ada week time 604800
put_test
next cho 'Test that a comma is no digit'
row dee pound mass 453.59237
finish
