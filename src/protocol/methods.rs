//! The methods of a protocol that are functions of its files.

/// Implements methods of [`Protocol`](super::Protocol) with functions of the files of a protocol. A method that needs
/// `self` is left out and written by hand.
macro_rules! methods {
    (
        descriptor: $descriptor:expr,
        kinds: $kinds:expr,
        recipes: $recipes:expr,
        marks: $marks:expr,
        shapes: $shapes:expr,
        read: $read:expr,
        write: $write:expr,
        make: $make:expr,
        content: $content:expr,
        $(annotate: $annotate:expr,)?
        $(fixed_direction: $fixed_direction:expr,)?
        $(parts: $parts:expr,)?
        $(part_names: $part_names:expr,)?
        $(pair_id: $pair_id:expr,)?
        $(is_error_answer: $is_error_answer:expr,)?
    ) => {
        fn descriptor(&self) -> $crate::protocol::Descriptor<'_> {
            $descriptor
        }

        fn name(&self) -> &str {
            $descriptor.name
        }

        fn kinds(&self) -> &[$crate::protocol::Kind] {
            &$kinds
        }

        fn recipes(&self) -> &[$crate::protocol::make::Recipe] {
            &$recipes
        }

        fn marks(&self) -> &$crate::protocol::schema::marks::Marks {
            &$marks
        }

        fn shapes(&self) -> Vec<$crate::protocol::schema::json_schema::MessageJsonSchema> {
            ($shapes)()
        }

        fn read<'a>(
            &'a self,
            frame: &$crate::framing::Frame<'a>,
            context: &$crate::protocol::Context,
            parsed: &'a mut $crate::encoding::Parsed,
        ) -> $crate::protocol::Message<'a> {
            ($read)(frame, context, parsed)
        }

        fn write(
            &self,
            message: $crate::tape::Node<'_>,
            options: &$crate::protocol::WriteOptions,
            out: &mut Vec<u8>,
        ) -> Result<$crate::protocol::Written, $crate::error::Refusal> {
            ($write)(message, options, out)
        }

        fn make(
            &self,
            kind: &str,
            words: &mut $crate::protocol::make::Words<'_>,
            id_gen: &mut $crate::protocol::make::IdGen,
        ) -> Result<$crate::protocol::make::Made, $crate::error::Refusal> {
            ($make)(kind, words, id_gen)
        }

        fn content<'n>(
            &self,
            root: $crate::tape::Node<'n>,
            message: &$crate::protocol::Message<'_>,
        ) -> Option<$crate::tape::Node<'n>> {
            ($content)(root, message)
        }

        $(
            fn annotate(
                &self,
                root: $crate::tape::Node<'_>,
                message: &$crate::protocol::Message<'_>,
                notes: &mut $crate::protocol::Notes,
            ) {
                ($annotate)(root, message, notes);
            }
        )?

        $(
            fn fixed_direction(
                &self,
                message: &$crate::protocol::Message<'_>,
            ) -> Option<$crate::protocol::Direction> {
                ($fixed_direction)(message)
            }
        )?

        $(
            fn parts<'n>(
                &self,
                root: $crate::tape::Node<'n>,
                message: &$crate::protocol::Message<'_>,
            ) -> Vec<$crate::tape::Node<'n>> {
                ($parts)(root, message)
            }
        )?

        $(
            fn part_names(
                &self,
                root: $crate::tape::Node<'_>,
            ) -> Vec<$crate::protocol::PartName> {
                ($part_names)(root)
            }
        )?

        $(
            fn pair_id<'n>(
                &self,
                root: $crate::tape::Node<'n>,
                _: $crate::protocol::Direction,
            ) -> Option<$crate::tape::Node<'n>> {
                ($pair_id)(root)
            }
        )?

        $(
            fn is_error_answer(
                &self,
                root: $crate::tape::Node<'_>,
                _: $crate::protocol::Direction,
            ) -> bool {
                ($is_error_answer)(root)
            }
        )?

        #[cfg(feature = "rules")]
        fn behavior(&self) -> &dyn $crate::protocol::session::Behavior {
            self
        }
    };
}
pub(super) use methods;
