import Blocking
import Cryptography
import Foundation
import Posts

/// Compares passwords, and limits how often.
///
/// From one address five tries are free; after as many wrong ones there is one a minute, right or wrong. Ten minutes
/// without a try clear the count.
actor LoginGate {
    /// What a try came to.
    enum Outcome: Equatable, Sendable {
        case right
        /// So many more tries are free.
        case wrong(left: Int)
        /// Not compared, or the last free one that was wrong: the next is due after so many seconds.
        case tooMany(seconds: Int)
    }

    private struct Tries {
        var wrong = 0
        var last = Date.distantPast
    }

    static let free = 5
    static let pause: TimeInterval = 60
    private static let memory: TimeInterval = 600
    /// Addresses that are remembered at most; then all of them share one count.
    private static let addresses = 10_000
    private static let salt = "mirror-bot web page 1"

    private let verifier: [UInt8]
    /// The key of the sessions.
    nonisolated let sessionKey: [UInt8]
    private let executor: ThreadExecutor
    private var tries: [String: Tries] = [:]
    /// The code of the last word that was right, under a key of this process: programs send it with each request.
    private var lastRight: [UInt8]?
    private let processKey = SealingKey.randomBytes(32)

    /// Derives the keys, which takes about 100 ms.
    ///
    /// - Throws: `Scrypt.Unavailable`.
    init(password: Secret) async throws {
        let executor = ThreadExecutor(name: "web-password")
        let keys = try await Self.keys(password.reveal(), on: executor)
        (verifier, sessionKey, self.executor) = (Array(keys.prefix(32)), Array(keys.suffix(32)), executor)
    }

    private static func keys(_ password: String, on executor: ThreadExecutor) async throws -> [UInt8] {
        try await executor.run { try Scrypt.key(from: password.utf8, salt: salt.utf8, count: 64) }
    }

    /// Compares a password that was typed or sent.
    ///
    /// - Parameters:
    ///   - typed: The password.
    ///   - address: Where it comes from.
    ///   - now: The present.
    /// - Throws: `Scrypt.Unavailable`.
    func attempt(_ typed: String, from address: String, now: Date) async throws -> Outcome {
        let address = tries.count < Self.addresses || tries[address] != nil ? address : ""
        var before = tries[address] ?? Tries()
        if now.timeIntervalSince(before.last) > Self.memory { before = Tries() }
        let due = before.last + Self.pause
        if before.wrong >= Self.free, now < due {
            return .tooMany(seconds: Int(due.timeIntervalSince(now).rounded(.up)))
        }
        let code = HashFunction.sha256.code(of: typed.utf8, key: processKey)
        if let lastRight, ConstantTime.areEqual(code, lastRight) { return right(address) }
        // Counted before it is compared, so that many at the same time are no way around the count.
        tries[address] = Tries(wrong: before.wrong + 1, last: now)
        let keys = try await Self.keys(typed, on: executor)
        guard !ConstantTime.areEqual(keys.prefix(32), verifier) else {
            lastRight = code
            return right(address)
        }
        if tries.count > Self.addresses / 2 {
            tries = tries.filter { now.timeIntervalSince($0.value.last) <= Self.memory }
        }
        let left = Self.free - before.wrong - 1
        return left > 0 ? .wrong(left: left) : .tooMany(seconds: Int(Self.pause))
    }

    private func right(_ address: String) -> Outcome {
        tries[address] = nil
        return .right
    }
}
