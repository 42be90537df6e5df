#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
*.o
area
END
put Makefile <<'END'
CFLAGS = -O0 -Wall
OBJS = main.o shapes.o

area: $(OBJS)
	$(CC) $(CFLAGS) -o $@ $(OBJS)

$(OBJS): shapes.h
END
put shapes.h <<'END'
int area_of_rectangle(int width, int height);
int area_of_square(int side);
END
put shapes.c <<'END'
#include "shapes.h"

int area_of_rectangle(int width, int height)
{
    return width * height;
}

int area_of_square(int side)
{
    return area_of_rectangle(side, side);
}
END
put main.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#include "shapes.h"

int main(int argc, char **argv)
{
    if (argc == 2) {
        printf("%d\n", area_of_square(atoi(argv[1])));
        return 0;
    }
    if (argc == 3) {
        printf("%d\n", area_of_rectangle(atoi(argv[1]), atoi(argv[2])));
        return 0;
    }
    return 64;
}
END
# The first test had the right numbers; the one in the work tree today is the story's test.sh.
put test.sh <<'END'
#!/bin/sh
# The area of a rectangle and of a square.
area=$(./area 3 7)
[ "$area" = 21 ] || { echo "FAIL: the area is $area, want 21"; exit 1; }
area=$(./area 4)
[ "$area" = 16 ] || { echo "FAIL: the area is $area, want 16"; exit 1; }
END
chmod 755 test.sh
commit ada 0 'Compute areas'
news bob 'Announce the first version'
for topic in circles triangles; do news dee "Collect wishes about $topic"; done
swap shapes.c 'return width * height;' 'return height * width;'
next cho 'Multiply in the order of the manual'
for topic in Debian Fedora Guix; do news eli "Say how to build on $topic"; done
swap Makefile '-Wall' '-Wall -Wextra'
next ada 'Turn on more warnings'
news bob 'Plan the second version'
put_test
next cho 'Let the test say which shape it means'
for topic in circles triangles; do news dee "Answer the wishes about $topic"; done
after shapes.h 'int area_of_square' <<'END'
int area_of_frame(int outer, int inner);
END
add shapes.c <<'END'

int area_of_frame(int outer, int inner)
{
    return area_of_square(outer) - area_of_square(inner);
}
END
next bob 'Compute the area of a frame'
news eli 'Thank the contributors'
finish
