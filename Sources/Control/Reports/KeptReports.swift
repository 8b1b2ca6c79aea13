import Localization

/// A cache of the values that reports compute, bounded in number.
///
/// Each value has a stamp that changes with the rows from which it is computed. The caller reads
/// the stamp before the call: if rows change while a value is computed, the value has the earlier
/// stamp, and the next caller, who reads a later stamp, does not get the value. So a value is never
/// older than the last change before the call.
package actor KeptReports {
    private struct Key: Hashable {
        let mirror: String
        let part: String
        /// The language of the sentences in the value.
        let language: Language
    }

    private struct CachedValue {
        let stamp: String
        let value: any Sendable
        /// The number of the last request for the value, for dropping the least recently used.
        var lastRequest: Int
    }

    private let capacity: Int
    private var cache: [Key: CachedValue] = [:]
    private var requestCount = 0

    /// - Parameter most: The most values, at least 1; the least recently used value is dropped.
    package init(most: Int = 64) { self.capacity = most }

    /// The number of cached values.
    var count: Int { cache.count }

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
        requestCount += 1
        let key = Key(mirror: mirror, part: part, language: .current)
        if let cached = cache[key], cached.stamp == stamp, let value = cached.value as? Value {
            cache[key]?.lastRequest = requestCount
            return value
        }
        let value = try await make()
        cache[key] = CachedValue(stamp: stamp, value: value, lastRequest: requestCount)
        if cache.count > capacity,
            let oldest = cache.min(by: { $0.value.lastRequest < $1.value.lastRequest })?.key
        {
            cache[oldest] = nil
        }
        return value
    }
}
