//! The ask/tell protocol between what decides and what tries.
//!
//! A [`Search`] asks for probes and is told answers; it does no I/O. Engines are written as plain `async` functions over
//! an [`Asker`], so that a search inside a search (a repair inside a revision's verdict inside the walk) is an
//! ordinary nested call, and [`Asking`] turns the outermost one into a `Search`. No runtime is involved: the only
//! thing such a function ever waits for is the next [`Search::tell`].

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What a search wants next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<Q, F> {
    /// Answer these, best first; never empty. Those behind the first are speculation.
    Probe(Vec<Q>),
    /// The search is over.
    Found(F),
}

/// Something that decides what to try next.
///
/// Answers are consumed in the order asked, never in the order finished: the result does not depend on the width.
pub trait Search {
    /// A subset of units, a tree at a revision, ...
    type Query;
    /// An outcome, a person's feedback, ...
    type Answer;
    /// What the search is for.
    type Found;

    /// Returns at most `width` queries (`width` >= 1), best first. Asking again without telling asks the same.
    fn ask(&mut self, width: usize) -> Step<Self::Query, Self::Found>;

    /// Takes the answers to the first `answers.len()` queries of the last [`ask`](Self::ask); returns how many were used,
    /// the rest was speculation.
    fn tell(&mut self, answers: &[Self::Answer]) -> usize;
}

struct Mailbox<Q, A> {
    width: usize,
    asked: Vec<Q>,
    told: VecDeque<A>,
    used: usize,
}

/// The engine's end of the protocol: a handle to ask through, cheap to clone.
pub struct Asker<Q, A> {
    mailbox: Rc<RefCell<Mailbox<Q, A>>>,
}

impl<Q, A> Clone for Asker<Q, A> {
    fn clone(&self) -> Self {
        Self { mailbox: Rc::clone(&self.mailbox) }
    }
}

impl<Q: Clone, A> Asker<Q, A> {
    /// Asks for one answer.
    pub async fn one(&self, query: Q) -> A {
        self.one_before(query, std::iter::empty()).await
    }

    /// Asks for one answer, and as speculation for what may be asked next, best first.
    ///
    /// `guesses` is drawn only as far as the width in force allows; what they show counts once it is asked for.
    pub async fn one_before(&self, query: Q, guesses: impl IntoIterator<Item = Q>) -> A {
        let mut answer = None;
        self.first(std::iter::once(query).chain(guesses), |given| {
            answer = Some(given);
            true
        })
        .await;
        answer.expect("a search that goes on was told an answer")
    }

    /// Asks for `queries` in order until `is_hit` accepts an answer; returns the index of that query.
    ///
    /// `queries` is drawn only as far as the width in force allows, so a long lazy list costs nothing.
    pub async fn first<I, H>(&self, queries: I, mut is_hit: H) -> Option<usize>
    where
        I: IntoIterator<Item = Q>,
        H: FnMut(A) -> bool,
    {
        let mut queries = queries.into_iter();
        let mut index = 0;
        while let Some(answer) = self.next_told(&mut queries).await {
            if is_hit(answer) {
                let mut mailbox = self.mailbox.borrow_mut();
                mailbox.asked.clear();
                mailbox.told.clear();
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// The answer to the first query that is still open; meanwhile as many are asked as the width allows, which may change
    /// with every poll. `None` if there are no more.
    async fn next_told(&self, queries: &mut impl Iterator<Item = Q>) -> Option<A> {
        poll_fn(|_| {
            let mut mailbox = self.mailbox.borrow_mut();
            if let Some(answer) = mailbox.told.pop_front() {
                mailbox.asked.remove(0);
                mailbox.used += 1;
                return Poll::Ready(Some(answer));
            }
            let n_missing = mailbox.width.saturating_sub(mailbox.asked.len());
            mailbox.asked.extend(queries.take(n_missing));
            if mailbox.asked.is_empty() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }
}

/// An `async` function seen as a [`Search`].
pub struct Asking<'a, Q, A, F> {
    mailbox: Rc<RefCell<Mailbox<Q, A>>>,
    future: Option<Pin<Box<dyn Future<Output = F> + 'a>>>,
    found: Option<F>,
}

impl<'a, Q, A, F> Asking<'a, Q, A, F> {
    /// Prepares `engine`; nothing of it runs before the first [`Search::ask`].
    pub fn new<E, Fut>(engine: E) -> Self
    where
        E: FnOnce(Asker<Q, A>) -> Fut,
        Fut: Future<Output = F> + 'a,
    {
        let mailbox = Rc::new(RefCell::new(Mailbox { width: 1, asked: Vec::new(), told: VecDeque::new(), used: 0 }));
        let asker = Asker { mailbox: Rc::clone(&mailbox) };
        Self { mailbox, future: Some(Box::pin(engine(asker))), found: None }
    }

    fn advance(&mut self) {
        if let Some(future) = self.future.as_mut()
            && let Poll::Ready(found) = future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            self.found = Some(found);
            self.future = None;
        }
    }
}

impl<Q: Clone, A: Clone, F: Clone> Search for Asking<'_, Q, A, F> {
    type Query = Q;
    type Answer = A;
    type Found = F;

    fn ask(&mut self, width: usize) -> Step<Q, F> {
        self.mailbox.borrow_mut().width = width.max(1);
        if self.found.is_none() {
            self.advance();
        }
        if let Some(found) = &self.found {
            return Step::Found(found.clone());
        }
        let mailbox = self.mailbox.borrow();
        assert!(!mailbox.asked.is_empty(), "a search waits only for answers that it asked for");
        Step::Probe(mailbox.asked.iter().take(width.max(1)).cloned().collect())
    }

    fn tell(&mut self, answers: &[A]) -> usize {
        let used_before = {
            let mut mailbox = self.mailbox.borrow_mut();
            mailbox.told.extend(answers.iter().cloned());
            // Nothing new is drawn while answers are consumed; the next `ask` says how much it wants.
            mailbox.width = 1;
            mailbox.used
        };
        self.advance();
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.told.clear();
        mailbox.used - used_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drives `search` with `answer`; returns what it found and the queries whose answers were used.
    fn drive<F: Clone>(
        mut search: Asking<'_, u32, u32, F>,
        width: usize,
        answer: impl Fn(u32) -> u32,
    ) -> (F, Vec<u32>) {
        let mut used = Vec::new();
        loop {
            match search.ask(width) {
                Step::Found(found) => return (found, used),
                Step::Probe(queries) => {
                    assert!(queries.len() <= width);
                    let answers: Vec<u32> = queries.iter().map(|query| answer(*query)).collect();
                    let n_used = search.tell(&answers);
                    used.extend(&queries[..n_used]);
                }
            }
        }
    }

    async fn two_nested_searches(asker: Asker<u32, u32>) -> (Option<usize>, u32) {
        let hit = asker.first(10..20, |answer| answer == 13).await;
        let sum = asker.one(1).await + asker.one(2).await;
        (hit, sum)
    }

    #[test]
    fn the_result_and_the_used_answers_do_not_depend_on_the_width() {
        let expected = ((Some(3), 3), vec![10, 11, 12, 13, 1, 2]);
        for width in 1..8 {
            assert_eq!(drive(Asking::new(two_nested_searches), width, |query| query), expected, "width {width}");
        }
    }

    #[test]
    fn a_list_without_a_hit_is_asked_to_its_end() {
        let (hit, used) =
            drive(Asking::new(|asker| async move { asker.first(0..5, |_| false).await }), 2, |query| query);
        assert_eq!(hit, None);
        assert_eq!(used, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_search_speculates_as_far_as_it_is_asked_to_also_after_answers() {
        let engine = |asker: Asker<u32, u32>| async move {
            asker.one_before(1, [2, 3]).await;
            asker.one_before(3, [4, 5, 6]).await;
            asker.first(10..20, |answer| answer == 12).await
        };
        let mut search = Asking::new(engine);
        assert_eq!(search.ask(2), Step::Probe(vec![1, 2]));
        assert_eq!(search.tell(&[1]), 1);
        assert_eq!(search.ask(3), Step::Probe(vec![3, 4, 5]));
        assert_eq!(search.ask(9), Step::Probe(vec![3, 4, 5, 6]));
        assert_eq!(search.tell(&[3, 4]), 1);
        assert_eq!(search.ask(3), Step::Probe(vec![10, 11, 12]));
        assert_eq!(search.tell(&[10]), 1);
        assert_eq!(search.ask(3), Step::Probe(vec![11, 12, 13]));
        assert_eq!(search.tell(&[11, 12, 13]), 2);
        assert_eq!(search.ask(3), Step::Found(Some(2)));
    }

    #[test]
    fn asking_again_without_telling_asks_the_same() {
        let mut search = Asking::new(two_nested_searches);
        assert_eq!(search.ask(3), search.ask(3));
        assert_eq!(search.ask(2), Step::Probe(vec![10, 11]));
    }
}
