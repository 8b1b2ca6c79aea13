import Synchronization

/// Real time, of which as much passes as a test wants.
package final class GivenTime: Sendable {
    private let seconds = Mutex(0.0)
    private let passing = AsyncStream.makeStream(of: Void.self)

    package init() {}

    package func pass(to second: Double) {
        seconds.withLock { $0 = second }
        passing.continuation.yield()
    }

    /// Waits until so many seconds have passed; only one may wait at a time.
    ///
    /// - Throws: `CancellationError`.
    @Sendable package func wait(_ second: Double) async throws {
        while seconds.withLock({ $0 < second }) {
            var iterator = passing.stream.makeAsyncIterator()
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }
}
