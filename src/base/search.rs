//! The ask/tell protocol between an engine that decides and a driver that runs experiments.
//!
//! A [`Search`] asks for probes and receives answers; it does no I/O. Engines are plain `async` functions over an
//! [`Asker`], so a search inside a search (a repair inside a revision's verdict inside the walk) is an ordinary nested
//! call. [`Asking`] turns the outermost one into a `Search`. There is no async runtime: such a function only ever waits
//! for the next [`Search::tell`].

mod ahead;

pub use ahead::{Course, ahead};

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::hash::Hash;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The next wish of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchStep<Q, F> {
    /// Answer these queries, best first; never empty. Those after the first are speculation.
    Probe(Vec<Q>),
    /// The search is over.
    Found(F),
}

/// Decides what to try next.
///
/// Answers are used in the order asked, never in the order finished: the result does not depend on the width.
pub trait Search {
    /// A subset of units, a tree at a revision, ...
    type Query;
    /// An outcome, a person's feedback, ...
    type Answer;
    /// The result of the search.
    type Found;

    /// Returns at most `width` queries (`width` >= 1), best first; all but the first are speculation. A second call
    /// without [`tell`](Self::tell) returns the same, unless there was a call of [`overhear`](Self::overhear).
    fn ask(&mut self, width: usize) -> SearchStep<Self::Query, Self::Found>;

    /// Takes the answers to the first `answers.len()` queries of the last [`ask`](Self::ask); returns how many were
    /// used. The others were speculation.
    fn tell(&mut self, answers: &[Self::Answer]) -> usize;

    /// Takes an early answer, to a query after the first. It decides nothing before its turn. Until then its query is
    /// not asked again, and speculation takes it into account.
    fn overhear(&mut self, query: Self::Query, answer: Self::Answer);
}

struct Mailbox<Q, A> {
    width: usize,
    asked: Vec<Q>,
    told: VecDeque<A>,
    used: usize,
    overheard: HashMap<Q, A>,
}

impl<Q: Clone + Eq + Hash, A> Mailbox<Q, A> {
    /// Asks for `query`, and for open ones of `guesses` as far as the width allows.
    fn ask(&mut self, query: Q, guesses: impl Iterator<Item = Q>) {
        self.asked = vec![query];
        for guess in guesses {
            if self.asked.len() >= self.width {
                break;
            }
            if !self.overheard.contains_key(&guess) && !self.asked.contains(&guess) {
                self.asked.push(guess);
            }
        }
    }

    /// Takes the answer to the first query; the other answers count only if `next` is the second query.
    fn take(&mut self, next: Option<&Q>) -> Option<A> {
        let answer = self.told.pop_front()?;
        self.used += 1;
        self.asked.remove(0);
        if self.asked.first() != next {
            self.told.clear();
        }
        Some(answer)
    }
}

/// The engine's end of the protocol: a handle for questions, cheap to clone.
pub struct Asker<Q, A> {
    mailbox: Rc<RefCell<Mailbox<Q, A>>>,
}

impl<Q, A> Clone for Asker<Q, A> {
    fn clone(&self) -> Self {
        Self { mailbox: Rc::clone(&self.mailbox) }
    }
}

impl<Q: Clone + Eq + Hash, A> Asker<Q, A> {
    /// Asks for one answer.
    pub async fn one(&self, query: Q) -> A {
        self.one_before(query, |_, _| Vec::new()).await
    }

    /// Asks for one answer, and speculates on the next queries.
    ///
    /// - `ahead`: receives the early answers and the number of useful guesses, at least one; returns guesses, best
    ///   first. It is called again whenever there is a new answer. The answer to a guess counts when it is asked for.
    pub async fn one_before(&self, query: Q, ahead: impl Fn(&HashMap<Q, A>, usize) -> Vec<Q>) -> A {
        poll_fn(|_| {
            let mut mailbox = self.mailbox.borrow_mut();
            if let Some(answer) = mailbox.take(None) {
                return Poll::Ready(answer);
            }
            let n_welcome = mailbox.width - 1;
            let guesses = if n_welcome == 0 { Vec::new() } else { ahead(&mailbox.overheard, n_welcome) };
            mailbox.ask(query.clone(), guesses.into_iter());
            Poll::Pending
        })
        .await
    }

    /// Asks for all these answers, and returns them in the order of `queries`.
    pub async fn all(&self, queries: &[Q]) -> Vec<A> {
        let mut answers = Vec::with_capacity(queries.len());
        poll_fn(|_| {
            let mut mailbox = self.mailbox.borrow_mut();
            while let Some(answer) = mailbox.take(queries.get(answers.len() + 1)) {
                answers.push(answer);
            }
            let Some((next, behind)) = queries[answers.len()..].split_first() else { return Poll::Ready(()) };
            mailbox.ask(next.clone(), behind.iter().cloned());
            Poll::Pending
        })
        .await;
        answers
    }
}

/// An `async` function as a [`Search`].
pub struct Asking<'a, Q, A, F> {
    mailbox: Rc<RefCell<Mailbox<Q, A>>>,
    future: Option<Pin<Box<dyn Future<Output = F> + 'a>>>,
    found: Option<F>,
}

impl<'a, Q, A, F> Asking<'a, Q, A, F> {
    /// Prepares `engine`; it does not run before the first [`Search::ask`].
    pub fn new<E, Fut>(engine: E) -> Self
    where
        E: FnOnce(Asker<Q, A>) -> Fut,
        Fut: Future<Output = F> + 'a,
    {
        let mailbox =
            Mailbox { width: 1, asked: Vec::new(), told: VecDeque::new(), used: 0, overheard: HashMap::new() };
        let mailbox = Rc::new(RefCell::new(mailbox));
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

impl<Q: Clone + Eq + Hash, A: Clone, F: Clone> Search for Asking<'_, Q, A, F> {
    type Query = Q;
    type Answer = A;
    type Found = F;

    fn ask(&mut self, width: usize) -> SearchStep<Q, F> {
        self.mailbox.borrow_mut().width = width.max(1);
        if self.found.is_none() {
            self.advance();
        }
        if let Some(found) = &self.found {
            return SearchStep::Found(found.clone());
        }
        let mailbox = self.mailbox.borrow();
        assert!(!mailbox.asked.is_empty(), "a search waits only for answers that it asked for");
        SearchStep::Probe(mailbox.asked.clone())
    }

    fn tell(&mut self, answers: &[A]) -> usize {
        let used_before = {
            let mut mailbox = self.mailbox.borrow_mut();
            mailbox.told.extend(answers.iter().cloned());
            // No guess is drawn while answers are used; the next `ask` sets the width.
            mailbox.width = 1;
            mailbox.used
        };
        self.advance();
        let mut mailbox = self.mailbox.borrow_mut();
        mailbox.told.clear();
        mailbox.used - used_before
    }

    fn overhear(&mut self, query: Q, answer: A) {
        self.mailbox.borrow_mut().overheard.insert(query, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `search` with `answer`; returns its result and the queries whose answers were used.
    fn drive<F: Clone>(
        mut search: Asking<'_, u32, u32, F>,
        width: usize,
        answer: impl Fn(u32) -> u32,
    ) -> (F, Vec<u32>) {
        let mut used = Vec::new();
        for round in 0.. {
            match search.ask(width) {
                SearchStep::Found(found) => return (found, used),
                SearchStep::Probe(queries) => {
                    assert!(queries.len() <= width);
                    if let [_, .., last] = queries[..]
                        && round % 3 == 0
                    {
                        search.overhear(last, answer(last));
                        continue;
                    }
                    let answers: Vec<u32> = queries.iter().map(|query| answer(*query)).collect();
                    let n_used = search.tell(&answers);
                    used.extend(&queries[..n_used]);
                }
            }
        }
        unreachable!("a search ends")
    }

    async fn two_nested_searches(asker: Asker<u32, u32>) -> (Vec<u32>, u32) {
        let all = asker.all(&[10, 11, 12, 13]).await;
        let sum = asker.one_before(1, |_, _| vec![5, 2]).await + asker.one(2).await;
        (all, sum)
    }

    #[test]
    fn the_result_and_the_used_answers_do_not_depend_on_the_width() {
        let expected = ((vec![10, 11, 12, 13], 3), vec![10, 11, 12, 13, 1, 2]);
        for width in 1..8 {
            assert_eq!(drive(Asking::new(two_nested_searches), width, |query| query), expected, "width {width}");
        }
    }

    #[test]
    fn a_search_speculates_as_far_as_it_is_asked_to_also_after_answers() {
        let engine = |asker: Asker<u32, u32>| async move {
            asker.one_before(1, |_, _| vec![2, 3]).await;
            asker.one_before(3, |_, _| vec![4, 5, 6]).await;
            asker.all(&[10, 11, 12, 13]).await
        };
        let mut search = Asking::new(engine);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![1, 2]));
        assert_eq!(search.tell(&[1]), 1);
        assert_eq!(search.ask(3), SearchStep::Probe(vec![3, 4, 5]));
        assert_eq!(search.ask(9), SearchStep::Probe(vec![3, 4, 5, 6]));
        assert_eq!(search.tell(&[3, 4]), 1);
        assert_eq!(search.ask(3), SearchStep::Probe(vec![10, 11, 12]));
        assert_eq!(search.tell(&[10]), 1);
        assert_eq!(search.ask(3), SearchStep::Probe(vec![11, 12, 13]));
        assert_eq!(search.tell(&[11, 12, 13]), 3);
        assert_eq!(search.ask(3), SearchStep::Found(vec![10, 11, 12, 13]));
    }

    #[test]
    fn what_was_overheard_is_not_asked_before_its_turn() {
        let mut search = Asking::new(|asker: Asker<u32, u32>| async move { asker.all(&[1, 2, 3, 4]).await });
        assert_eq!(search.ask(2), SearchStep::Probe(vec![1, 2]));
        search.overhear(2, 20);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![1, 3]));
        assert_eq!(search.tell(&[10, 30]), 1);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![2, 3]));
        assert_eq!(search.tell(&[20, 30]), 2);
        assert_eq!(search.tell(&[]), 0);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![4]));
    }

    #[test]
    fn guesses_are_drawn_anew_with_what_was_overheard() {
        let engine = |asker: Asker<u32, u32>| async move {
            asker.one_before(1, |heard, _| if heard.contains_key(&2) { vec![2, 7] } else { vec![2, 3] }).await
        };
        let mut search = Asking::new(engine);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![1, 2]));
        search.overhear(2, 0);
        assert_eq!(search.ask(2), SearchStep::Probe(vec![1, 7]));
    }

    #[test]
    fn asking_again_without_telling_asks_the_same() {
        let mut search = Asking::new(two_nested_searches);
        assert_eq!(search.ask(3), search.ask(3));
        assert_eq!(search.ask(2), SearchStep::Probe(vec![10, 11]));
    }
}
