#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

# crlf: gives every line of standard input the line end of another system.
crlf() { sed "s/\$/$(printf '\r')/"; }

# bytes <seed>: 64 bytes that no text has, NUL, CR, LF and the high ones among them.
bytes() {
    i=0
    while [ $i -lt 16 ]; do
        printf '\000\r\n'
        printf "\\$(printf %03o $((128 + ($1 + i * 7) % 128)))"
        i=$((i + 1))
    done
}

menu=$(printf 'menu/caf\351.txt') # Latin-1, not UTF-8

put .gitignore <<'END'
*.o
/mix
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = src/main.o src/blend.o

mix: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): src/blend.h
END
put src/blend.h <<'END'
/* Blends two colours given as 0xRRGGBB, channel by channel. */
unsigned blend(unsigned one, unsigned other);
END
crlf <<'END' | put src/blend.c
#include "blend.h"

/* The mean of one channel. */
static unsigned channel(unsigned one, unsigned other, int shift)
{
    unsigned sum = ((one >> shift) & 255) + ((other >> shift) & 255);

    return (sum / 2) << shift;
}

unsigned blend(unsigned one, unsigned other)
{
    unsigned red = channel(one, other, 16);
    unsigned green = channel(one, other, 8);
    unsigned blue = channel(one, other, 0);

    return red | green | blue;
}
END
put src/main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "blend.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    printf("%06x\n", blend(strtoul(argv[1], NULL, 16), strtoul(argv[2], NULL, 16)));
    return 0;
}
END
bytes 1 | put data/swatch-1.bin
bytes 2 | put data/swatch-2.bin
ln -s swatch-1.bin data/swatch
put tools/stamp.sh <<'END'
#!/bin/sh
date >STAMP
END
chmod 644 tools/stamp.sh
printf 'un caf\351\n' | put "$menu"
printf '1.0' | put VERSION
put_test
commit ada 0 'Blend two colours'
news bob 'Announce the first version'
for topic in gamma names; do news dee "Collect wishes about $topic"; done
chmod 755 tools/stamp.sh
next cho 'Make the stamp script executable'
printf 'un caf\351, deux caf\351s\n' | put "$menu"
next eli 'Extend the menu'
for topic in Debian Fedora; do news eli "Say how to build on $topic"; done
printf '1.1' | put VERSION
next ada 'Release 1.1'

# One of its changes matters, the only one in a source file that is compiled into something else.
crlf <<'END' | put src/blend.c
#include "blend.h"

/* The mean of one channel, rounded down. */
static unsigned channel(unsigned one, unsigned other, int shift)
{
    unsigned sum = ((one >> shift) & 255) + ((other >> shift) & 127);

    return (sum / 2) << shift;
}

unsigned blend(unsigned one, unsigned other)
{
    unsigned red = channel(one, other, 16);
    unsigned green = channel(one, other, 8);
    unsigned blue = channel(one, other, 0);

    return blue | green | red;
}
END
bytes 3 | put data/swatch-1.bin
ln -sf swatch-2.bin data/swatch
chmod 644 tools/stamp.sh
printf 'trois caf\351s' | put "$menu"
printf '1.2' | put VERSION
printf '/* Blends two colours given as 0xRRGGBB. */\nunsigned blend(unsigned one, unsigned other);' | put src/blend.h
next bob 'Release 1.2'
news dee 'Answer the wishes about gamma'
ln -sf swatch-1.bin data/swatch
next cho 'Show the first swatch again'
printf '1.3' | put VERSION
next ada 'Release 1.3'
for topic in Oslo Accra; do news eli "Greet the meeting in $topic"; done
finish
