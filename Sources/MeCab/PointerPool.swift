import Foundation

/// A few idle objects of a C library, for whichever thread needs one next.
final class PointerPool: @unchecked Sendable {
    // Sendable: `idle` and `count` are only touched under `lock`.
    private let lock = NSLock()
    private let idle: UnsafeMutableBufferPointer<OpaquePointer>
    private var count = 0

    /// - Parameter capacity: How many objects are kept at most.
    init(capacity: Int) {
        idle = .allocate(capacity: capacity)
    }

    /// The objects that are left are the owner's to free.
    deinit { idle.deallocate() }

    /// Takes an object out; nil if there is none.
    func take() -> OpaquePointer? {
        lock.lock()
        defer { lock.unlock() }
        guard count > 0 else { return nil }
        count -= 1
        return idle[count]
    }

    /// Puts an object in.
    ///
    /// - Returns: False if there is no room for it.
    func put(_ object: OpaquePointer) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard count < idle.count else { return false }
        idle[count] = object
        count += 1
        return true
    }
}
