/* Simulates a process scheduler with three priorities, a time slice, and ageing.
 *
 * usage: scheduler SLICE AGEING <commands
 *   new PRIORITY NAME WORK   a process of priority 0 (low) to 2 (high) that needs WORK ticks
 *   tick N                   lets N ticks pass
 *   block NAME, wake NAME    takes a process away from, and back to, its queue
 *   raise NAME PRIORITY      gives a process another priority
 *   kill NAME, show
 * Exit status: 0, or 1 if some command was wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_PRIORITIES 3
#define MAX_NAME 16

enum state { READY, RUNNING, BLOCKED };

struct process {
    int id;
    char name[MAX_NAME];
    int priority;
    int work;
    int done;
    int waited;
    int total_wait;
    int born;
    enum state state;
    struct process *next;
    struct process *previous;
};

struct queue {
    struct process *first;
    struct process *last;
    int length;
};

struct command {
    const char *name;
    int n_words;
    int (*run)(char **words);
};

static struct queue ready[N_PRIORITIES];
static struct queue blocked;
static struct process *running;
static int now;
static int next_id = 1;
static int slice;
static int ageing;
static int slice_left;
static int n_switches;
static int n_finished;
static long sum_turnaround;
static long sum_wait;

static void push(struct queue *queue, struct process *process) {
    process->next = NULL;
    process->previous = queue->last;
    if (queue->last != NULL) {
        queue->last->next = process;
    } else {
        queue->first = process;
    }
    queue->last = process;
    queue->length++;
}

static void detach(struct queue *queue, struct process *process) {
    if (process->previous != NULL) {
        process->previous->next = process->next;
    } else {
        queue->first = process->next;
    }
    if (process->next != NULL) {
        process->next->previous = process->previous;
    } else {
        queue->last = process->previous;
    }
    process->next = NULL;
    process->previous = NULL;
    queue->length--;
}

static struct process *find_in(const struct queue *queue, const char *name) {
    struct process *process;
    for (process = queue->first; process != NULL; process = process->next) {
        if (strcmp(process->name, name) == 0) {
            break;
        }
    }
    return process;
}

static struct process *find(const char *name) {
    struct process *found;
    int priority;
    if (running != NULL && strcmp(running->name, name) == 0) {
        return running;
    }
    for (priority = 0; priority < N_PRIORITIES; priority++) {
        found = find_in(&ready[priority], name);
        if (found != NULL) {
            return found;
        }
    }
    return find_in(&blocked, name);
}

static void make_ready(struct process *process) {
    process->state = READY;
    process->waited = 0;
    push(&ready[process->priority], process);
}

static int best_priority(void) {
    int priority;
    for (priority = N_PRIORITIES - 1; priority >= 0; priority--) {
        if (ready[priority].length > 0) {
            return priority;
        }
    }
    return -1;
}

/* Chooses who runs next; nobody if all queues are empty. */
static void dispatch(void) {
    int priority = best_priority();
    if (priority < 0) {
        running = NULL;
        return;
    }
    running = ready[priority].first;
    detach(&ready[priority], running);
    running->state = RUNNING;
    slice_left = slice;
    n_switches++;
    printf("%4d: %s runs\n", now, running->name);
}

static void finish(struct process *process) {
    int turnaround = now - process->born;
    printf("%4d: %s ends after %d, waited %d\n", now, process->name, turnaround, process->total_wait);
    sum_turnaround += turnaround;
    sum_wait += process->total_wait;
    n_finished++;
    free(process);
}

/* Who waits for long rises by one priority. */
static void age(void) {
    int priority;
    for (priority = N_PRIORITIES - 2; priority >= 0; priority--) {
        struct process *process = ready[priority].first;
        while (process != NULL) {
            struct process *following = process->next;
            if (ageing > 0 && process->waited >= ageing) {
                detach(&ready[priority], process);
                process->priority = priority + 1;
                printf("%4d: %s rises to %d\n", now, process->name, process->priority);
                make_ready(process);
            }
            process = following;
        }
    }
}

static void wait_in_queues(void) {
    int priority;
    for (priority = 0; priority < N_PRIORITIES; priority++) {
        struct process *process;
        for (process = ready[priority].first; process != NULL; process = process->next) {
            process->waited++;
            process->total_wait++;
        }
    }
}

static void tick(void) {
    if (running == NULL) {
        dispatch();
    }
    wait_in_queues();
    now++;
    if (running == NULL) {
        return;
    }
    running->done++;
    slice_left--;
    if (running->done >= running->work) {
        finish(running);
        running = NULL;
    } else if (slice_left <= 0 && best_priority() >= running->priority) {
        make_ready(running);
        running = NULL;
    } else if (slice_left <= 0) {
        slice_left = slice;
    }
    age();
    if (running != NULL && best_priority() > running->priority) {
        printf("%4d: %s gives way\n", now, running->name);
        make_ready(running);
        running = NULL;
    }
}

static int is_priority(int priority) {
    return priority >= 0 && priority < N_PRIORITIES;
}

static int run_new(char **words) {
    struct process *process;
    int priority = atoi(words[1]);
    int work = atoi(words[3]);
    if (!is_priority(priority) || work <= 0 || strlen(words[2]) >= MAX_NAME || find(words[2]) != NULL) {
        return 0;
    }
    process = calloc(1, sizeof *process);
    if (process == NULL) {
        return 0;
    }
    strcpy(process->name, words[2]);
    process->id = next_id;
    next_id++;
    process->priority = priority;
    process->work = work;
    process->born = now;
    make_ready(process);
    return 1;
}

static int run_tick(char **words) {
    int n = atoi(words[1]);
    if (n < 1 || n > 1000) {
        return 0;
    }
    while (n > 0) {
        tick();
        n--;
    }
    return 1;
}

static int run_block(char **words) {
    struct process *process = find(words[1]);
    if (process == NULL || process->state == BLOCKED) {
        return 0;
    }
    if (process == running) {
        running = NULL;
    } else {
        detach(&ready[process->priority], process);
    }
    process->state = BLOCKED;
    push(&blocked, process);
    printf("%4d: %s blocks\n", now, process->name);
    return 1;
}

static int run_wake(char **words) {
    struct process *process = find_in(&blocked, words[1]);
    if (process == NULL) {
        return 0;
    }
    detach(&blocked, process);
    make_ready(process);
    printf("%4d: %s wakes\n", now, process->name);
    return 1;
}

static int run_raise(char **words) {
    struct process *process = find(words[1]);
    int priority = atoi(words[2]);
    if (process == NULL || !is_priority(priority)) {
        return 0;
    }
    if (process->state == READY) {
        detach(&ready[process->priority], process);
        process->priority = priority;
        make_ready(process);
    } else {
        process->priority = priority;
    }
    return 1;
}

static int run_kill(char **words) {
    struct process *process = find(words[1]);
    if (process == NULL) {
        return 0;
    }
    switch (process->state) {
    case RUNNING:
        running = NULL;
        break;
    case READY:
        detach(&ready[process->priority], process);
        break;
    case BLOCKED:
        detach(&blocked, process);
        break;
    }
    printf("%4d: %s is killed with %d of %d done\n", now, process->name, process->done, process->work);
    free(process);
    return 1;
}

static void show_queue(const char *title, const struct queue *queue) {
    const struct process *process;
    if (queue->first == NULL) {
        return;
    }
    printf("      %s:", title);
    for (process = queue->first; process != NULL; process = process->next) {
        printf(" %s#%d(%d/%d)", process->name, process->id, process->done, process->work);
    }
    printf(" - %d\n", queue->length);
}

static int run_show(char **words) {
    static const char *const titles[N_PRIORITIES] = {"low", "middle", "high"};
    int priority;
    (void)words;
    printf("%4d: %s\n", now, running == NULL ? "idle" : running->name);
    for (priority = N_PRIORITIES - 1; priority >= 0; priority--) {
        show_queue(titles[priority], &ready[priority]);
    }
    show_queue("blocked", &blocked);
    return 1;
}

static const struct command commands[] = {
    {"new", 4, run_new},     {"tick", 2, run_tick},   {"block", 2, run_block}, {"wake", 2, run_wake},
    {"raise", 3, run_raise}, {"kill", 2, run_kill}, {"show", 1, run_show},
};

static int split(char *line, char **words, int max_words) {
    int n = 0;
    char *word = strtok(line, " \t\n");
    while (word != NULL && n < max_words) {
        words[n] = word;
        n++;
        word = strtok(NULL, " \t\n");
    }
    return n;
}

static int obey(char **words, int n_words) {
    size_t i;
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, words[0]) != 0) {
            continue;
        }
        if (commands[i].n_words != n_words) {
            return 0;
        }
        return commands[i].run(words);
    }
    return 0;
}

static void clear(struct queue *queue) {
    while (queue->first != NULL) {
        struct process *process = queue->first;
        detach(queue, process);
        free(process);
    }
}

int main(int argc, char **argv) {
    char line[128];
    char *words[5];
    int n_wrong = 0;
    int n_lines = 0;
    int priority;
    if (argc != 3) {
        fprintf(stderr, "usage: scheduler SLICE AGEING\n");
        return 1;
    }
    slice = atoi(argv[1]);
    ageing = atoi(argv[2]);
    if (slice < 1) {
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        int n_words = split(line, words, 5);
        n_lines++;
        if (n_words == 0 || words[0][0] == '#') {
            continue;
        }
        if (!obey(words, n_words)) {
            printf("line %d: wrong: %s\n", n_lines, words[0]);
            n_wrong++;
        }
    }
    printf("%d finished, %d switches, %d ticks\n", n_finished, n_switches, now);
    if (n_finished > 0) {
        printf("mean turnaround %ld, mean wait %ld\n", sum_turnaround / n_finished, sum_wait / n_finished);
    }
    free(running);
    for (priority = 0; priority < N_PRIORITIES; priority++) {
        clear(&ready[priority]);
    }
    clear(&blocked);
    return n_wrong > 0;
}
