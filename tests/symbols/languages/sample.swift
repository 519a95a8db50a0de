import Foundation
import struct Wire.Packet

/// What can be drawn. It has a name.
protocol Drawable: Named {
    var title: String { get }
    func draw(on canvas: Canvas) -> Int
}

// A box.
public class Box: Base, Drawable {
    private let count = 0
    var title: String = "x"

    init(start: Int) {
        self.title = "y"
    }

    /// Draws it.
    override func draw(on canvas: Canvas) -> Int {
        let sum = compute(count)
        return canvas.size + helper(sum)
    }
}

struct Point {
    var x: Int
}

enum State {
    case open, paid
}

extension Point {
    func moved() -> Point {
        return Point(x: 1)
    }
}

typealias Id = String
let limit = 10

func start() {
    Box(start: limit).draw(on: screen)
}
