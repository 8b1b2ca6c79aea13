/// A cache of the values that reports compute, bounded in number.
///
/// Each value has a stamp that changes with the rows from which it is computed. The caller reads
/// the stamp before the call: if rows change while a value is computed, the value has the earlier
/// stamp, and the next caller, who reads a later one, does not get it. So a value is never older
/// than the last change before the call.
package actor KeptReports {
    private struct Key: Hashable {
        let mirror: String
        let part: String
    }

    private struct Kept {
        let stamp: String
        let value: any Sendable
        var asked: Int
    }

    private let capacity: Int
    private var kept: [Key: Kept] = [:]
    private var asked = 0

    /// - Parameter most: The most values, at least 1; the least recently used one is dropped.
    package init(most: Int = 64) { self.capacity = most }

    /// The number of cached values.
    var count: Int { kept.count }

    /// Returns the cached value, or computes and caches it.
    ///
    /// - Parameters:
    ///   - part: The name of the value; equal names must have equal types.
    ///   - stamp: The stamp that the caller read just before; it differs whenever the value would
    ///     differ.
    ///   - make: Computes the value; an error is not cached.
    /// - Throws: The error of `make`.
    func value<Value: Sendable>(
        _ part: String, of mirror: String, stamp: String, _ make: @Sendable () async throws -> Value
    ) async throws -> Value {
        asked += 1
        let key = Key(mirror: mirror, part: part)
        if let found = kept[key], found.stamp == stamp, let value = found.value as? Value {
            kept[key]?.asked = asked
            return value
        }
        let value = try await make()
        kept[key] = Kept(stamp: stamp, value: value, asked: asked)
        if kept.count > capacity,
            let oldest = kept.min(by: { $0.value.asked < $1.value.asked })?.key
        {
            kept[oldest] = nil
        }
        return value
    }
}
