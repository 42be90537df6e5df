#!/bin/sh
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/echoer
/answer
END
put Makefile <<'END'
CFLAGS = -O0 -Wall

echoer: main.c echo.c echo.h
	$(CC) $(CFLAGS) -o $@ main.c echo.c
END
put echo.h <<'END'
/* Turns a request into its answer, in place. */
void answer(char *text);
END
put echo.c <<'END'
#include "echo.h"

void answer(char *text)
{
    char *end = text;

    while (*end != '\0' && *end != '\n')
        end++;
    *end = '\0';
}
END
put main.c <<'END'
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "echo.h"

/* Takes its port, as a server does, and answers the request that it is given. */
int main(int argc, char **argv)
{
    struct sockaddr_in place = {0};
    char text[64];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;

    if (argc != 2 || strlen(argv[1]) >= sizeof text)
        return 2;
    place.sin_family = AF_INET;
    place.sin_port = htons(27113);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) != 0 || listen(listener, 1) != 0) {
        printf("the port is in use\n");
        return 1;
    }
    usleep(500000); /* as a server takes to start */
    strcpy(text, argv[1]);
    answer(text);
    printf("%s\n", text);
    return 0;
}
END
put_test
commit ada 0 'Answer what is asked'
news bob 'Announce the first version'
news dee 'Collect wishes'
swap echo.c "*end != '\\0' && *end != '\\n'" "end[1] != '\\0' && *end != '\\n'"
next ada 'Look ahead for the end'
news eli 'Greet the meeting in Oslo'
swap main.c 'as a server takes' 'as long as a server takes'
next cho 'Explain the pause'
news bob 'Thank the contributors'
finish
