//! The body of a message, after its head.

use super::{Act, Bit, End, Give, Http, Lost, Source, State, bounds, from, over_limit, took};
use crate::framing::Input;

impl Http {
    /// A body in the window, after its head.
    pub(super) fn body(&mut self, input: Input<'_>) -> Act {
        let State::Body(head, source, at) = &mut self.state else {
            return Act::Again;
        };
        let (limit, most) = bounds(input);
        let seen = input.window.get(..head.len + most).unwrap_or(input.window);
        loop {
            let rest = from(seen, *at - input.base);
            match source.next(rest) {
                Bit::Framing(n) => *at += n as u64,
                Bit::Data(n) => {
                    let taken = n.min(self.body.room(*at, limit));
                    self.body.note(*at, taken);
                    source.took(taken);
                    *at += taken as u64;
                    if taken < n {
                        return self.body_ends(input, End::Over);
                    }
                }
                Bit::End => return self.body_ends(input, End::Whole),
                Bit::Bad(error) => return self.body_ends(input, End::Bad(error)),
                Bit::More if seen.len() == head.len + most => {
                    return self.body_ends(input, End::Over);
                }
                Bit::More if !input.eof => {
                    let missing = source.missing().map(|n| n.min(most as u64));
                    return Act::Incomplete(missing);
                }
                // RFC 9112 section 6.3: the length is "the number of octets received prior to the server closing
                // the connection".
                Bit::More if matches!(source, Source::Close) => {
                    return self.body_ends(input, End::Whole);
                }
                Bit::More => return self.body_ends(input, End::Cut),
            }
        }
    }

    /// Gives out a message with its body.
    fn body_ends(&mut self, input: Input<'_>, how: End) -> Act {
        let State::Body(mut head, source, at) = std::mem::take(&mut self.state) else {
            return Act::Again;
        };
        let mut give = Give::message(input, &head, at);
        let place = (at - input.base) as usize;
        let fault = match how {
            End::Whole => {
                give.control = self.body.is_empty().then_some(head.kind());
                let coded = head.coded().filter(|_| !self.body.is_empty());
                coded.map(|error| input.fault(0, error))
            }
            End::Cut => {
                give.end = input.base + input.window.len() as u64;
                give.took = input.window.len();
                Some(input.truncated("body", source.wanted(), self.body.len()))
            }
            End::Over => {
                self.state = State::Skip(source);
                let (limit, _) = bounds(input);
                let runs = self.body.full(limit);
                Some(input.fault(0, over_limit(input, "body", place, runs)))
            }
            End::Bad(error) => {
                self.state = State::Lost(Lost::new(0), None);
                Some(input.fault(place, error))
            }
        };
        give.fault = fault.or(head.fault.take().map(|e| input.fault(0, e)));
        Act::Give(give)
    }

    /// The rest of a body over the limit: where it ends matters, its bytes do not.
    pub(super) fn skip(&mut self, input: Input<'_>) -> Act {
        let State::Skip(source) = &mut self.state else {
            return Act::Again;
        };
        let mut n = 0;
        loop {
            match source.next(from(input.window, n as u64)) {
                Bit::Framing(more) => n += more,
                Bit::Data(more) => {
                    source.took(more);
                    n += more;
                }
                Bit::More if input.eof => return took(input.window.len()),
                _ if n > 0 => return Act::Took(n),
                Bit::More => return Act::Incomplete(None),
                Bit::End => return self.go(State::default()),
                Bit::Bad(error) => return self.go(State::Lost(Lost::new(0), Some(error))),
            }
        }
    }
}
