//! A cache of pages.
const std = @import("std");
const Wire = @import("wire.zig").Wire;
const assert = std.debug.assert;
usingnamespace @import("c.zig");

/// Most that is kept.
/// Never zero.
pub const limit: usize = 64;
export var hits: u32 = 0;
threadlocal var depth: u8 = 0;

pub const Error = error{ Missing, Broken };

const State = enum(u8) {
    open = 1,
    closed,

    fn isOpen(self: State) bool {
        return self == .open;
    }
};

pub const Value = union(enum) {
    number: i64,
    text: []const u8,
    none,
};

extern fn clock_now(zone: *const State) callconv(.C) u64;

/// A cache for one type.
pub fn Cache(comptime K: type, comptime V: type) type {
    return struct {
        const Self = @This();

        items: std.AutoHashMap(K, V),
        owner: ?*Self = null,
        state: State,

        // Makes one.
        pub fn init(allocator: std.mem.Allocator) Self {
            return .{ .items = std.AutoHashMap(K, V).init(allocator), .state = .open };
        }

        pub fn put(self: *Self, key: K, value: V) !void {
            if (self.items.count() >= limit) return Error.Missing;
            try self.items.put(key, value);
            self.state = State.closed;
            hits += 1;
        }
    };
}

pub const Page = struct {
    pub const size = 4096;

    bytes: [size]u8 = undefined,
    next: ?*Page,
    kind: Wire.Kind,

    pub inline fn load(path: []const u8, values: []Value) Error!Page {
        var page = Page{ .bytes = undefined, .next = null, .kind = Wire.Kind.first };
        for (values, 0..) |value, i| {
            switch (value) {
                .number => |number| depth = @intCast(number + i),
                Value.text => |hits| page.next = try find(hits, limit),
                else => unreachable,
            }
        }
        const file = std.fs.cwd().openFile(path, .{}) catch |err| return err;
        defer file.close();
        while (read(&page)) |count| : (depth -= 1) assert(count < size);
        return page;
    }
};

test "a page is loaded" {
    var cache = Cache(u8, Page).init(std.testing.allocator);
    try std.testing.expectEqual(Page.size, cache.items.count());
}
