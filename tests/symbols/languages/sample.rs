use std::fmt::Display;
mod wire;

/// A point in the plane. It moves.
#[derive(Debug)]
pub struct Point {
    pub x: i32,
    y: i32,
}

pub enum Shape {
    Dot(Point),
    Empty,
}

pub trait Area {
    fn area(&self) -> i32;
}

const LIMIT: i32 = 10;
static NAME: &str = "x";
type Id = u32;

impl Area for Point {
    fn area(&self) -> i32 {
        helper(self.x)
    }
}

impl Point {
    /// Makes one.
    pub fn new(x: i32) -> Self {
        let start = Point { x, y: 0 };
        println!("{}", start);
        wire::send(start);
        start
    }
}

macro_rules! twice {
    ($x:expr) => { $x };
}

mod inner {
    pub fn run(limit: i32) {}
}
