import Synchronization

/// A clock that only a test moves.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        let time: Duration

        func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }

        func duration(to other: Instant) -> Duration { other.time - time }

        static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    private struct State {
        var now = Instant(time: .zero)
        var number = 0
        var sleepers:
            [(number: Int, end: Instant, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver: Bool? = state.withLock { state in
                    if Task.isCancelled { return nil }
                    if deadline <= state.now { return true }
                    state.sleepers.append((number, deadline, continuation))
                    return false
                }
                if isOver == nil { continuation.resume(throwing: CancellationError()) }
                if isOver == true { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map {
                    state.sleepers.remove(at: $0).continuation
                }
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }

    /// Lets time pass.
    func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let awake = state.sleepers.filter { $0.end <= now }.map(\.continuation)
            state.sleepers.removeAll { $0.end <= now }
            return awake
        }
        for continuation in awake { continuation.resume() }
    }
}
