package import Foundation
import Networks
package import Outbox
import Posts
package import Settings
import Transport

/// The differences of a test run from normal operation: the clock may run faster and be set, a
/// lease may expire sooner, and the process may end itself at a named point.
///
/// The crash harness uses it with the released program. A process that could reach another machine
/// refuses to rehearse.
package struct Rehearsal: Sendable {
    /// Normal operation.
    package static let off = Rehearsal(clock: nil, leaseTiming: LeaseTiming(), faultPoints: .none)

    /// The clock to use; nil for that of the installation.
    package let clock: (any WallClock)?
    package let leaseTiming: LeaseTiming
    package let faultPoints: FaultPoints

    /// A rehearsal that changes only the timing of leases.
    package init(leaseTiming: LeaseTiming) {
        self.init(clock: nil, leaseTiming: leaseTiming, faultPoints: .none)
    }

    /// The same rehearsal with the fault points of the whole process.
    func sharing(_ points: (FaultPoints) -> FaultPoints) -> Rehearsal {
        Rehearsal(clock: clock, leaseTiming: leaseTiming, faultPoints: points(faultPoints))
    }

    private init(clock: (any WallClock)?, leaseTiming: LeaseTiming, faultPoints: FaultPoints) {
        self.clock = clock
        self.leaseTiming = leaseTiming
        self.faultPoints = faultPoints
    }

    /// Reads the variables of a rehearsal, see ``Settings``; without any it is ``off``.
    ///
    /// - Parameters:
    ///   - values: The variables, as `RehearsalVariable` finds them.
    ///   - accounts: The address of each account's requests; nil for its network's own address.
    /// - Throws: `ConfigurationError` if a value is invalid, or if an account is not on this
    ///   machine.
    package init(variables values: [String: String], accounts: [AccountRole: String?]) throws {
        guard let first = values.keys.min() else {
            self = .off
            return
        }
        for role in AccountRole.allCases {
            guard let address = accounts[role], !Self.isOnThisMachine(address) else { continue }
            throw ConfigurationError(
                first,
                "is for rehearsals against a server on this machine, and the \(role.rawValue)'s account is "
                    + "elsewhere; unset it")
        }
        func value<Value>(_ variable: RehearsalVariable, _ read: (String) -> Value?) throws
            -> Value?
        {
            guard let text = values[variable.rawValue] else { return nil }
            guard let value = read(text) else {
                throw ConfigurationError(
                    variable.rawValue, "is \"\(text.prefix(60))\"; expected \(variable.form)")
            }
            return value
        }
        func number(in range: ClosedRange<Double>) -> (String) -> Double? {
            { text in Double(text).flatMap { range.contains($0) ? $0 : nil } }
        }
        // A text that is no date, nil here, is reported as an invalid variable.
        let origin = try value(.origin) { try? Date($0, strategy: .iso8601) }
        let started = try value(.started) { Int64($0).map { Date(milliseconds: $0) } }
        let factor = try value(.factor, number(in: 1...300))
        let leaseSeconds = try value(.leaseSeconds, number(in: 0.3...30))
        let trap = try value(.fault, FaultTrap.init)
        let setting = try value(.clockFile) { $0.hasPrefix("/") ? ClockSetting(path: $0) : nil }
        let isStartComplete = (origin == nil) == (started == nil)
        // The factor and the file belong to a clock with an origin.
        let isClockComplete = origin != nil || factor == nil && setting == nil
        guard isStartComplete, isClockComplete else {
            throw ConfigurationError(
                RehearsalVariable.origin.rawValue,
                "needs \(RehearsalVariable.started.rawValue), and the other way round")
        }
        self.init(
            clock: origin.map { origin in
                AcceleratedClock(
                    origin: origin, started: started ?? origin, factor: factor ?? 1,
                    setting: setting)
            },
            leaseTiming: leaseSeconds.map { LeaseTiming(silenceLimit: .seconds($0)) }
                ?? LeaseTiming(),
            faultPoints: FaultPoints(trap: trap))
    }
}

extension Rehearsal {
    /// The settings of a rehearsal, as variables of the process environment.
    package struct Settings: Sendable {
        /// The time that the clock shows when the system's clock shows ``started``, in whole
        /// seconds.
        package var origin: Date
        package var started: Date
        /// Seconds of this clock in a second of the system's clock, from 1 to 300.
        package var factor: Double
        /// Seconds of the system's clock after which a lease without a beat may be taken.
        package var leaseSeconds: Double?
        /// `kill@NAME#N` or `stop@NAME#N`: the signal when the ``FaultPoint`` of this name is
        /// passed for the n-th time.
        package var fault: String?
        /// The path of a file with the number of seconds by which the clock is set ahead; it may
        /// change at any time.
        package var clockFile: String?

        package init(
            origin: Date, started: Date, factor: Double, leaseSeconds: Double? = nil,
            fault: String? = nil,
            clockFile: String? = nil
        ) {
            self.origin = origin
            self.started = started
            self.factor = factor
            self.leaseSeconds = leaseSeconds
            self.fault = fault
            self.clockFile = clockFile
        }

        /// The variables and their values.
        package var variables: [String: String] {
            var variables = [
                RehearsalVariable.origin: origin.formatted(.iso8601),
                .started: String(started.milliseconds),
                .factor: String(factor),
            ]
            variables[.leaseSeconds] = leaseSeconds.map { String($0) }
            variables[.fault] = fault
            variables[.clockFile] = clockFile
            return Dictionary(uniqueKeysWithValues: variables.map { ($0.key.rawValue, $0.value) })
        }
    }
}

extension Rehearsal {
    /// Whether all requests to an address stay on the loopback interface.
    private static func isOnThisMachine(_ address: String?) -> Bool {
        guard let address, let host = URLComponents(string: address)?.encodedHost else {
            return false
        }
        return HostPlace.isLoopback(host)
    }
}

/// A wall clock that runs faster than the system's by a factor, and that may be set while it runs.
///
/// Two processes with the same values show the same time.
package struct AcceleratedClock: WallClock {
    private let origin: Date
    private let started: Date
    private let factor: Double
    private let setting: ClockSetting?

    /// - Parameters:
    ///   - origin: The time of this clock when the system's clock shows `started`.
    ///   - started: An instant of the system's clock.
    ///   - factor: Seconds of this clock in a second of the system's clock; above 0.
    ///   - setting: The seconds by which it is set; nil for a clock that cannot be set.
    package init(origin: Date, started: Date, factor: Double, setting: ClockSetting? = nil) {
        self.origin = origin
        self.started = started
        self.factor = factor
        self.setting = setting
    }

    package var now: Date {
        origin + Date().timeIntervalSince(started) * factor + (setting?.seconds ?? 0)
    }

    package var uptime: TimeInterval { SystemUptime.seconds * factor }

    package var rate: Double { factor }

    package func sleep(until deadline: Date) async throws {
        try await Nap(rate: factor).sleep(until: deadline, on: self)
    }
}

/// The number of seconds by which a clock is set ahead, or back if negative, as a file states at
/// the moment.
package struct ClockSetting: Sendable {
    private let path: String

    /// - Parameter path: The file; without it the clock is not set.
    package init(path: String) { self.path = path }

    /// The file has a few bytes, which are in the page cache, so reading it needs no thread of its
    /// own.
    var seconds: TimeInterval {
        // Nil if the file cannot be read: then the clock is not set.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            seconds.isFinite
        else { return 0 }
        return seconds
    }

    /// Sets the clock ahead by a total number of seconds, at once for all processes that read the
    /// file.
    ///
    /// - Throws: Foundation's error if the file cannot be written.
    package func set(to seconds: TimeInterval) throws {
        try Data(String(seconds).utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
