import Blocking
import Cryptography
import Foundation
import Posts
import Settings

/// Compares passwords, and limits the rate of attempts.
///
/// After five wrong passwords from one address (for IPv6, from one /64 network), only one attempt a
/// minute is compared. Ten minutes without an attempt reset the count. All addresses together have
/// a limit too, from which this machine and addresses with a recent right password are exempt.
///
/// An attempt costs one hash. The slow derivation of the session key is done once, at the start: it
/// keeps somebody who has a cookie from guessing the password. The attempts need no slow hash,
/// because the password itself is in the memory of the process anyway.
actor LoginGate {
    /// The result of an attempt with a password.
    enum Outcome: Equatable, Sendable {
        case right
        /// The password is wrong; `left` is the number of further attempts without a pause.
        case wrong(left: Int)
        /// The password was not compared, or the last attempt without a pause was wrong; the next
        /// one is allowed after this many seconds.
        case tooMany(seconds: Int)
    }

    /// The wrong passwords from one address.
    private struct Tries {
        var wrongCount = 0
        var lastAt = Date.distantPast
    }

    /// The number of wrong passwords from one address without a pause.
    static let triesWithoutPause = 5
    /// The pause between attempts after these, in seconds.
    static let pause: TimeInterval = 60
    /// Limit of wrong passwords from all addresses within ``pause``.
    static let wrongLimitForAll = 2_000
    /// Seconds without an attempt after which the count of an address is reset.
    private static let resetTime: TimeInterval = 600
    /// The limit of addresses whose attempts are remembered; beyond it the older half is dropped.
    static let maximumAddresses = 10_000
    /// The limit of addresses that are remembered for a right password.
    private static let maximumKnown = 1_000
    private static let salt = "mirror-bot web page 1"

    /// The key of the sessions.
    nonisolated let sessionKey: [UInt8]
    /// The HMAC of the password, under a key of this process.
    private let expected: [UInt8]
    private let processKey = SealingKey.randomBytes(32)
    private var tries: [NetworkRange?: Tries] = [:]
    private var knownAddresses: [NetworkRange: Date] = [:]
    /// The wrong passwords of all addresses in the present period, which lasts for ``pause``.
    private var wrongInPeriod = (since: Date.distantPast, count: 0)

    /// Derives the key of the sessions, which takes about 100 ms.
    ///
    /// - Throws: `Scrypt.Unavailable`.
    init(password: Secret) async throws {
        let passwordText = password.reveal()
        let executor = ThreadExecutor(name: "web-password")
        defer { executor.shutdown() }
        let keys = try await executor.run {
            try Scrypt.key(from: passwordText.utf8, salt: Self.salt.utf8, count: 64)
        }
        sessionKey = Array(keys.suffix(32))
        expected = HashFunction.sha256.code(of: passwordText.utf8, key: processKey)
    }

    /// Compares a password.
    ///
    /// - Parameters:
    ///   - typed: The password.
    ///   - share: ``Caller/share`` of the request.
    ///   - now: The present.
    func attempt(_ typed: String, from share: NetworkRange?, now: Date) -> Outcome {
        var earlierTries = tries[share] ?? Tries()
        if now.timeIntervalSince(earlierTries.lastAt) > Self.resetTime { earlierTries = Tries() }
        let endOfPause = earlierTries.lastAt + Self.pause
        if earlierTries.wrongCount >= Self.triesWithoutPause, now < endOfPause {
            return Self.tooMany(until: endOfPause, now)
        }
        if let end = endOfFlood(now), !isKnown(share) { return Self.tooMany(until: end, now) }
        let code = HashFunction.sha256.code(of: typed.utf8, key: processKey)
        guard !ConstantTime.areEqual(code, expected) else {
            tries[share] = nil
            noteKnown(share, now)
            return .right
        }
        let wrongCount = earlierTries.wrongCount + 1
        noteWrong(Tries(wrongCount: wrongCount, lastAt: now), from: share, now)
        let triesLeft = Self.triesWithoutPause - wrongCount
        return triesLeft > 0 ? .wrong(left: triesLeft) : .tooMany(seconds: Int(Self.pause))
    }

    private static func tooMany(until end: Date, _ now: Date) -> Outcome {
        .tooMany(seconds: max(1, Int(end.timeIntervalSince(now).rounded(.up))))
    }

    /// The time when unknown addresses may try again; nil if they may now.
    private func endOfFlood(_ now: Date) -> Date? {
        let end = wrongInPeriod.since + Self.pause
        guard wrongInPeriod.count >= Self.wrongLimitForAll, now >= wrongInPeriod.since, now < end
        else {
            return nil
        }
        return end
    }

    private func isKnown(_ share: NetworkRange?) -> Bool {
        guard let share else { return true }
        return knownAddresses[share] != nil
    }

    private func noteKnown(_ share: NetworkRange?, _ now: Date) {
        guard let share else { return }
        knownAddresses[share] = now
        guard knownAddresses.count > Self.maximumKnown,
            let oldest = knownAddresses.min(by: { $0.value < $1.value })
        else { return }
        knownAddresses[oldest.key] = nil
    }

    private func noteWrong(_ newTries: Tries, from share: NetworkRange?, _ now: Date) {
        // A new period begins after the last one, or if the clock was set back.
        if now < wrongInPeriod.since || now >= wrongInPeriod.since + Self.pause {
            wrongInPeriod = (since: now, count: 0)
        }
        wrongInPeriod.count += 1
        if tries.count >= Self.maximumAddresses, tries[share] == nil {
            let newest = tries.sorted { $0.value.lastAt > $1.value.lastAt }.prefix(
                Self.maximumAddresses / 2)
            tries = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
        tries[share] = newTries
    }
}
