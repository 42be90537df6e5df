/* What parson makes of these texts. */
#include "parson.h"
#include <stdio.h>

int main(void)
{
    const char *texts[] = {"[1]", "{\"a\":{}}", "[0.1]", "[1,]", "[01]", "[\"/\"]", "[-0]", "{\"a\":1,\"a\":2}", "1", "\"x\"", "[1] x"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        JSON_Value *value = json_parse_string(texts[i]);
        char *text = value ? json_serialize_to_string(value) : NULL;
        printf("%s -> %s\n", texts[i], text ? text : "none");
    }
    return 0;
}
