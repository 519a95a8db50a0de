//! A cache of parsed files.
use std::collections::{BTreeMap as Tree, HashMap};
use std::io::{self, Read};
use crate::shop::Item as Goods;
use super::*;
mod wire;

pub(crate) const LIMIT: usize = 16;
static mut HITS: u64 = 0;
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
///
/// Kept small.
#[derive(Debug, Clone)]
pub enum Error {
    /// The file is not there.
    Missing(String),
    Broken { line: u32, cause: Box<Error> },
    Closed = 3,
}

pub struct Meters(pub f64, u8);

pub(super) struct Cache<'a, K, V: Clone = Goods> {
    items: HashMap<K, V>,
    pub(crate) owner: &'a str,
}

pub unsafe trait Store: Send + io::Read {
    type Key;
    const SIZE: usize = LIMIT;
    fn load(&mut self, key: Self::Key) -> Result<Goods>;
    fn size(&self) -> usize { Self::SIZE }
}

impl<'a, K: Hash, V> Cache<'a, K, V> {
    const EMPTY: u8 = 0;

    /// Makes one.
    pub fn new(owner: &'a str) -> Self {
        let items = HashMap::new();
        Self { items, owner }
    }

    fn grow<F>(&mut self, make: F) -> Option<&V>
    where
        F: Fn(&K) -> V,
    {
        let twice = |count: usize| count * LIMIT;
        self.items.reserve(twice(2));
        unsafe { HITS += 1 };
        self.owner = wire::name(make);
        for (key, value) in self.items.iter() {
            if let Some(found) = lookup::<K>(key) {
                return Some(found);
            }
        }
        None
    }
}

unsafe impl<K, V> Store for Cache<'_, K, V> {
    type Key = K;

    fn load(&mut self, key: K) -> Result<Goods> {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        let point = Meters(1.5, Self::EMPTY);
        match parse(&text) {
            Ok(goods) if goods.price > point.0 => Ok(goods),
            Err(Error::Missing(name)) => Err(Error::Missing(name)),
            _ => Err(Error::Broken { line: 3, cause: Box::new(Error::Closed) }),
        }
    }
}

macro_rules! shout {
    ($text:expr) => { println!("{}", $text) };
}

pub mod tests {
    pub(in crate::shop) async fn run(goods: &[Goods]) -> impl Iterator<Item = u8> {
        shout!(goods.len());
        GOODS.lock().await.push(Goods { price: LIMIT, ..Default::default() });
        goods.iter().map(Goods::weight)
    }
}
