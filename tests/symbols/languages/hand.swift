import Foundation
@testable import Shop
import class Wire.Packet

/// Most that is kept.
let limit = 16
public var cached: [String: Item] = [:]
private let queue = DispatchQueue(label: "cache")

typealias Handler = (Item) -> Void

/**
 What can be stored.

 - Parameter key: found by it
 */
public protocol Store: AnyObject, Named {
    associatedtype Key: Hashable
    static var shared: Self { get }
    var count: Int { get set }
    func load(_ key: Key) throws -> Item
    init(size: Int)
}

indirect enum State: String, Codable {
    case open = "o", closed
    case failed(Error, line: Int)

    static let first = State.open
    var isOpen: Bool { self == .open }
}

open class Cache<Key: Hashable, Value>: Base<Key>, Store where Value: Codable {
    static let empty = Cache(size: 0)
    public private(set) var count = 0
    fileprivate var items: [Key: Value] = [:]
    weak var owner: Cache<Key, Value>?
    lazy var title: String = { makeTitle(limit) }()

    public required init(size: Int) {
        super.init(size)
        self.count = size
        items = Dictionary(minimumCapacity: size)
    }

    convenience init?(path: String) { self.init(size: limit) }

    deinit {
        close()
    }

    // Loads it. Or fails.
    override open func load(_ key: Key, from limit: Int = 1) throws -> Item {
        guard let found = items[key], count > 0 else { throw State.failed(Missing(), line: 3) }
        let names = items.map { name, value in name.uppercased() + "\(value)" }
        owner?.items.removeAll()
        count += 1
        switch found {
        case .open: cached["x"] = Item()
        case let .failed(error, line): log(error, line, names)
        default: Shop.Registry.shared.add(Item.zero)
        }
        return cached["x"]!
    }

    subscript(key: Key) -> Value? { items[key] }
    override var hash: Int { title.count }
}

extension Cache: Equatable {
    internal struct Slot<T> {
        let value: T
    }

    static func == (a: Cache, b: Cache) -> Bool { a.count == b.count }
    private func size<T: Sequence>(of values: T) -> T.Element? where T: Collection { values.first }
}

@MainActor
func start(_ handler: @escaping Handler) async {
    let cache = Cache<String, Int>(size: limit)
    try? await handler(cache.load("a"))
    cached = [:]
}
