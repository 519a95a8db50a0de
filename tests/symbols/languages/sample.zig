const std = @import("std");
const wire = @import("lib/wire.zig");

/// Most that is kept.
pub const limit: u32 = 10;
var total: u32 = 0;

/// A point in the plane. It moves.
pub const Point = struct {
    x: i32,
    y: i32 = 0,

    pub fn init(x: i32) Point {
        total = 3;
        return Point{ .x = x };
    }

    fn area(self: *const Point) i32 {
        return helper(self.x) + wire.send(limit);
    }
};

const Color = enum { red, green };

const Shape = union(enum) {
    dot: Point,
    empty: void,
};

pub fn main() void {
    var p = Point.init(1);
    p.x = 2;
    std.debug.print("{}", .{total});
}

test "a point" {
    _ = Point.init(3);
}
