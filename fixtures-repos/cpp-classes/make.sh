#!/bin/sh
# A queue of jobs: one commit changes three methods and a template, and one statement of it breaks the order.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/jobs
END
put src/queue.hpp <<'END'
#pragma once
namespace jobs {

/// A job with a priority; the larger one runs first.
struct Job {
    const char *name;
    int priority;
};

template <typename T, typename Less>
void insert_sorted(T *all, int &size, const T &one, Less less)
{
    int at = size++;
    for (; at > 0 && less(all[at - 1], one); at--)
        all[at] = all[at - 1];
    all[at] = one;
}

class Queue {
public:
    explicit Queue(int limit) : limit_(limit) {}
    bool add(const Job &job);
    bool is_empty() const { return size_ == 0; }
    Job take();

private:
    int limit_;
    int size_ = 0;
    Job waiting_[8];
};

} // namespace jobs
END
put src/queue.cpp <<'END'
#include "queue.hpp"

namespace jobs {

bool Queue::add(const Job &job)
{
    if (size_ == limit_)
        return false;
    insert_sorted(waiting_, size_, job, [](const Job &one, const Job &two) { return one.priority < two.priority; });
    return true;
}

Job Queue::take()
{
    Job first = waiting_[0];
    for (int i = 1; i < size_; i++)
        waiting_[i - 1] = waiting_[i];
    size_--;
    return first;
}

} // namespace jobs
END
put src/main.cpp <<'END'
#include "queue.hpp"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv)
{
    jobs::Queue queue(8);
    for (int i = 1; i + 1 < argc; i += 2)
        if (!queue.add({argv[i], std::atoi(argv[i + 1])}))
            std::fprintf(stderr, "no place for %s\n", argv[i]);
    while (!queue.is_empty())
        std::printf("%s ", queue.take().name);
    std::printf("\n");
    return 0;
}
END
put_test
commit ada 0 'Run jobs by their priority'
news bob 'Announce the first version'
for topic in threads deadlines; do news dee "Collect wishes about $topic"; done

swap src/queue.cpp 'return one.priority < two.priority;' 'return one.priority <= two.priority;'
replace src/queue.cpp '    size_--;' <<'END'
    waiting_[--size_] = Job{"", 0};
END
before src/queue.cpp 'Job first = waiting_[0];' <<'END'
    if (is_empty())
        return {"", 0};
END
swap src/queue.cpp 'if (size_ == limit_)' 'if (is_full())'
after src/queue.hpp 'bool is_empty() const' <<'END'
    bool is_full() const { return size_ >= limit_; }
END
before src/queue.hpp 'template <typename T, typename Less>' <<'END'
/// Puts one after those that are not less.
END
next cho 'Say when the queue is full'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish
