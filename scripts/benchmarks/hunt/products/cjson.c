/* What cJSON makes of these texts. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *texts[] = {"1", "-0", "0.1", "[]", "{\"a\":{}}", "\"\\u0000x\"", "[1,]", "01", "\xef\xbb\xbf{}", " 3 ", "[1e15]", "-"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        cJSON *value = cJSON_Parse(texts[i]);
        char *text = value ? cJSON_PrintUnformatted(value) : NULL;
        printf(text ? "%s\n" : "none: %s\n", text ? text : texts[i]);
        free(text);
        cJSON_Delete(value);
    }
    return 0;
}
