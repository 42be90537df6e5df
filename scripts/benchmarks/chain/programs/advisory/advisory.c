/* Advises a pilot about intruders, record by record.
 *
 * usage: advisory [-v] <records
 * A record is a line of ten numbers:
 *   id, own altitude (ft), own climb (ft/min), its altitude, its climb, distance (ft), closing speed (ft/s),
 *   report quality (0 none, 1 no altitude, 2 full), intent of the other (0 none, 1 goes up, 2 goes down), landing gear (0 or 1)
 * Exit status: 0, or 1 if some record is malformed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LEVELS 5
#define MAX_TRACKS 8
#define N_FIELDS 10
#define NEVER 9999

enum advice { CLEAR, TRAFFIC, LEVEL_OFF, CLIMB, DESCEND, N_ADVICES };

static const char *const advice_names[N_ADVICES] = {"clear", "traffic", "level off", "climb", "descend"};

struct record {
    int id;
    int own_altitude;
    int own_climb;
    int other_altitude;
    int other_climb;
    int distance;
    int closing;
    int quality;
    int intent;
    int gear_down;
};

/* What is too near, by altitude. */
struct level {
    int below;
    int traffic_seconds;
    int advice_seconds;
    int separation;
    int wanted;
    int nearest;
};

static const struct level levels[N_LEVELS] = {
    {1000, 20, 0, 600, 300, 1200},   {5000, 25, 15, 600, 300, 2100},    {10000, 30, 20, 600, 350, 3300},
    {20000, 40, 25, 700, 400, 4800}, {NEVER * 10, 48, 30, 850, 600, 6600},
};

struct track {
    int id;
    enum advice advice;
    int age;
    int n_changes;
};

static struct track tracks[MAX_TRACKS];
static int n_tracks;
static int counts[N_ADVICES];
static int n_reversals;
static int n_malformed;
static int is_verbose;

static int absolute(int value) {
    return value < 0 ? -value : value;
}

static const struct level *level_of(int altitude) {
    int i;
    for (i = 0; i < N_LEVELS - 1; i++) {
        if (altitude < levels[i].below) {
            break;
        }
    }
    return &levels[i];
}

/* Seconds until the two meet, as if `nearest` feet before it were the place. */
static int time_to_go(const struct record *record, const struct level *level) {
    int way = record->distance - level->nearest;
    if (way <= 0) {
        return 0;
    }
    if (record->closing <= 0) {
        return NEVER;
    }
    return way / record->closing;
}

/* The altitude after some seconds of the same climb. */
static int projected(int altitude, int climb, int seconds) {
    int result = altitude + climb * seconds / 60;
    if (result < 0) {
        result = 0;
    }
    return result;
}

static struct track *track_of(int id) {
    int i;
    struct track *oldest = &tracks[0];
    for (i = 0; i < n_tracks; i++) {
        if (tracks[i].id == id) {
            return &tracks[i];
        }
        if (tracks[i].age > oldest->age) {
            oldest = &tracks[i];
        }
    }
    if (n_tracks < MAX_TRACKS) {
        oldest = &tracks[n_tracks];
        n_tracks++;
    }
    oldest->id = id;
    oldest->advice = CLEAR;
    oldest->age = 0;
    oldest->n_changes = 0;
    return oldest;
}

/* How far apart the two are if we climb or descend with 1,500 ft/min from now on; the pilot needs five seconds. */
static int separation_after(const struct record *record, enum advice advice, int seconds) {
    int rate = advice == CLIMB ? 1500 : -1500;
    int other = projected(record->other_altitude, record->other_climb, seconds);
    int delayed = seconds > 5 ? 5 : seconds;
    int own = projected(record->own_altitude, record->own_climb, delayed);
    own = projected(own, rate, seconds - delayed);
    return advice == CLIMB ? own - other : other - own;
}

static int may_descend(const struct record *record) {
    return record->own_altitude > 1450 && !record->gear_down;
}

static int may_climb(const struct record *record) {
    if (record->own_altitude >= 41000) {
        return 0;
    }
    return !(record->gear_down && record->own_climb < -500);
}

static enum advice choose_sense(const struct record *record, const struct level *level, int seconds) {
    int up = separation_after(record, CLIMB, seconds);
    int down = separation_after(record, DESCEND, seconds);
    int crosses_up = record->other_altitude > record->own_altitude;
    enum advice chosen;
    if (record->intent == 1) {
        return may_descend(record) ? DESCEND : LEVEL_OFF;
    }
    if (record->intent == 2) {
        return may_climb(record) ? CLIMB : LEVEL_OFF;
    }
    if (up >= level->wanted && down >= level->wanted) {
        chosen = crosses_up ? DESCEND : CLIMB;
    } else {
        chosen = up > down ? CLIMB : DESCEND;
    }
    if (chosen == CLIMB && !may_climb(record)) {
        chosen = may_descend(record) ? DESCEND : LEVEL_OFF;
    } else if (chosen == DESCEND && !may_descend(record)) {
        chosen = may_climb(record) ? CLIMB : LEVEL_OFF;
    }
    return chosen;
}

static int levelling_is_enough(const struct record *record, const struct level *level, int seconds) {
    int other = projected(record->other_altitude, record->other_climb, seconds);
    int margin = absolute(record->own_altitude - other);
    return record->own_climb != 0 && margin >= level->wanted;
}

static enum advice decide(const struct record *record, const struct level *level, int seconds) {
    int gap = absolute(record->own_altitude - record->other_altitude);
    int own = projected(record->own_altitude, record->own_climb, seconds);
    int other = projected(record->other_altitude, record->other_climb, seconds);
    int gap_then = absolute(own - other);
    int is_near = record->distance < level->nearest || seconds < level->traffic_seconds;
    if (record->quality == 0 || !is_near) {
        return CLEAR;
    }
    if (record->quality == 1) {
        return TRAFFIC;
    }
    if (gap > 1200 && gap_then > 1200) {
        return CLEAR;
    }
    if (level->advice_seconds == 0 || seconds >= level->advice_seconds) {
        return TRAFFIC;
    }
    if (gap_then >= level->separation) {
        return TRAFFIC;
    }
    if (levelling_is_enough(record, level, seconds)) {
        return LEVEL_OFF;
    }
    return choose_sense(record, level, seconds);
}

/* Advice does not jump: a reversal needs a gain of 200 ft, and what is over fades to traffic first. */
static enum advice settle(struct track *track, enum advice wanted, const struct record *record, int seconds) {
    enum advice before = track->advice;
    enum advice after = wanted;
    int is_reversal = (before == CLIMB && wanted == DESCEND) || (before == DESCEND && wanted == CLIMB);
    if (is_reversal) {
        int gain = separation_after(record, wanted, seconds) - separation_after(record, before, seconds);
        if (gain < 200 && record->intent == 0) {
            after = before;
        } else {
            n_reversals++;
        }
    } else if (before >= LEVEL_OFF && wanted == CLEAR) {
        after = TRAFFIC;
    }
    if (after != before) {
        track->n_changes++;
        track->advice = after;
    }
    return after;
}

static void grow_old(void) {
    int i;
    for (i = 0; i < n_tracks; i++) {
        tracks[i].age++;
    }
}

static int parse(char *line, struct record *record) {
    int fields[N_FIELDS];
    int n = 0;
    char *at = line;
    for (;;) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        if (n == N_FIELDS) {
            return 0;
        }
        fields[n] = (int)value;
        n++;
        at = end;
    }
    if (n < N_FIELDS || at[strspn(at, " \t\n")] != '\0') {
        return 0;
    }
    record->id = fields[0];
    record->own_altitude = fields[1];
    record->own_climb = fields[2];
    record->other_altitude = fields[3];
    record->other_climb = fields[4];
    record->distance = fields[5];
    record->closing = fields[6];
    record->quality = fields[7];
    record->intent = fields[8];
    record->gear_down = fields[9];
    return record->distance >= 0 && record->quality >= 0 && record->quality <= 2;
}

static void advise(const struct record *record) {
    const struct level *level = level_of(record->own_altitude);
    int seconds = time_to_go(record, level);
    struct track *track;
    enum advice advice;
    grow_old();
    track = track_of(record->id);
    advice = settle(track, decide(record, level, seconds), record, seconds);
    track->age = 0;
    counts[advice]++;
    printf("%d: %s", record->id, advice_names[advice]);
    if (is_verbose && seconds < NEVER) {
        printf(" (%d s, %d ft)", seconds, record->other_altitude - record->own_altitude);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    char line[160];
    int i;
    if (argc == 2 && strcmp(argv[1], "-v") == 0) {
        is_verbose = 1;
    } else if (argc != 1) {
        fprintf(stderr, "usage: advisory [-v]\n");
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct record record;
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        if (!parse(line, &record)) {
            printf("malformed: %s", line);
            n_malformed++;
            continue;
        }
        advise(&record);
    }
    for (i = 0; i < N_ADVICES; i++) {
        printf("%s %d%s", advice_names[i], counts[i], i + 1 < N_ADVICES ? ", " : "\n");
    }
    for (i = 0; i < n_tracks; i++) {
        printf("track %d: %d changes, now %s\n", tracks[i].id, tracks[i].n_changes, advice_names[tracks[i].advice]);
    }
    if (n_reversals > 0) {
        printf("%d reversals\n", n_reversals);
    }
    return n_malformed > 0 ? 1 : 0;
}
