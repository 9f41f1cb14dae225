//! One value for each direction of a connection, and one for messages of unknown direction.

use super::Direction;

/// A value for each direction, and for messages of unknown direction.
#[derive(Debug, Default)]
pub struct PerDirection<T>([T; 3]);

impl<T> PerDirection<T> {
    /// Returns the value of a direction.
    pub fn get(&self, direction: Option<Direction>) -> &T {
        let [to_server, to_client, unknown] = &self.0;
        match direction {
            Some(Direction::ToServer) => to_server,
            Some(Direction::ToClient) => to_client,
            None => unknown,
        }
    }

    /// Returns the value of a direction.
    pub fn get_mut(&mut self, direction: Option<Direction>) -> &mut T {
        let [to_server, to_client, unknown] = &mut self.0;
        match direction {
            Some(Direction::ToServer) => to_server,
            Some(Direction::ToClient) => to_client,
            None => unknown,
        }
    }

    /// Returns all values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// Returns all values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}
