package import Foundation
import Networks
package import Outbox
import Posts
package import Settings
import Transport

/// How a process differs from one in earnest: its clock may run faster and be set while it runs,
/// its lease may change hands sooner, and it may end itself at a named point.
///
/// For the crash harness, which runs the program as it is built. A process that could reach
/// anything but this machine refuses to rehearse.
package struct Rehearsal: Sendable {
    /// Nothing differs.
    package static let off = Rehearsal(clock: nil, leaseTiming: LeaseTiming(), faultPoints: .none)

    /// The clock to go by; nil for that of the installation.
    package let clock: (any WallClock)?
    package let leaseTiming: LeaseTiming
    package let faultPoints: FaultPoints

    /// A process whose lease has another timing, and nothing else.
    package init(leaseTiming: LeaseTiming) {
        self.init(clock: nil, leaseTiming: leaseTiming, faultPoints: .none)
    }

    /// The same rehearsal with fault points that count for the whole process.
    func sharing(_ points: (FaultPoints) -> FaultPoints) -> Rehearsal {
        Rehearsal(clock: clock, leaseTiming: leaseTiming, faultPoints: points(faultPoints))
    }

    private init(clock: (any WallClock)?, leaseTiming: LeaseTiming, faultPoints: FaultPoints) {
        self.clock = clock
        self.leaseTiming = leaseTiming
        self.faultPoints = faultPoints
    }

    /// Reads the variables of a rehearsal, which ``Settings`` explains; without any it is ``off``.
    ///
    /// - Parameters:
    ///   - values: As `RehearsalVariable` finds them.
    ///   - accounts: Where the requests of each account go; nil for its network's own address.
    /// - Throws: `ConfigurationError` if one has no meaning, or if an account is not on this
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
        // A text that is no date is an error of the variable.
        let origin = try value(.origin) { try? Date($0, strategy: .iso8601) }
        let started = try value(.started) { Int64($0).map { Date(milliseconds: $0) } }
        let factor = try value(.factor) { Double($0).flatMap { (1...300).contains($0) ? $0 : nil } }
        let patience = try value(.leaseSeconds) {
            Double($0).flatMap { (0.3...30).contains($0) ? $0 : nil }
        }
        let trap = try value(.fault, FaultTrap.init)
        let setting = try value(.clockFile) { $0.hasPrefix("/") ? ClockSetting(path: $0) : nil }
        guard (origin == nil) == (started == nil), origin != nil || factor == nil && setting == nil
        else {
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
            leaseTiming: patience.map { LeaseTiming(patience: .seconds($0)) } ?? LeaseTiming(),
            faultPoints: FaultPoints(trap: trap))
    }
}

extension Rehearsal {
    /// The settings of a rehearsal, as variables of the process environment.
    package struct Settings: Sendable {
        /// The time that the clock shows when the system's shows ``started``, in whole seconds.
        package var origin: Date
        package var started: Date
        /// How many seconds pass in one of the system's, from 1 to 300.
        package var factor: Double
        /// For how long a lease must not beat before it may be taken, in seconds of the system's
        /// clock.
        package var leaseSeconds: Double?
        /// `kill@NAME#N` or `stop@NAME#N`: what happens when the ``FaultPoint`` of this name is
        /// passed for the n-th time.
        package var fault: String?
        /// The path of a file that says by how many seconds the clock has been set, which may
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
        address.flatMap(URLComponents.init(string:))?.encodedHost.map(HostPlace.isLoopback) ?? false
    }
}

/// A wall clock that runs a number of times as fast as the system's, and that may be set while it
/// runs.
///
/// Two processes with the same values show the same time.
package struct AcceleratedClock: WallClock {
    private let origin: Date
    private let started: Date
    private let factor: Double
    private let setting: ClockSetting?

    /// - Parameters:
    ///   - origin: What the clock shows when the system's shows `started`.
    ///   - started: An instant of the system's clock.
    ///   - factor: How many seconds pass here in one of the system's; above 0.
    ///   - setting: By how much somebody has set it; nil for a clock that nobody sets.
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

/// By how many seconds a clock has been set ahead, or back where they are negative: what a file
/// says at the moment.
package struct ClockSetting: Sendable {
    private let path: String

    /// - Parameter path: The file; while there is none, nobody has set the clock.
    package init(path: String) { self.path = path }

    /// A few bytes that whoever writes them keeps in memory: no wait worth a thread of its own.
    var seconds: TimeInterval {
        // Without a file nobody has set the clock.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            seconds.isFinite
        else { return 0 }
        return seconds
    }

    /// Sets the clock by so many seconds in all, at once for everybody who looks.
    ///
    /// - Throws: What Foundation throws if the file cannot be written.
    package func set(to seconds: TimeInterval) throws {
        try Data(String(seconds).utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
