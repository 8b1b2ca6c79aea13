package import Foundation

/// A wall clock that runs a number of times as fast as the system's, and that may be set while it runs.
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

    package var now: Date { origin + Date().timeIntervalSince(started) * factor + (setting?.seconds ?? 0) }

    package var uptime: TimeInterval { SystemUptime.seconds * factor }

    package func sleep(until deadline: Date) async throws {
        try await Nap(rate: factor).sleep(until: deadline, on: self)
    }
}

/// By how many seconds a clock has been set ahead, or back where they are negative: what a file says at the moment.
package struct ClockSetting: Sendable {
    private let path: String

    /// - Parameter path: The file; while there is none, nobody has set the clock.
    package init(path: String) { self.path = path }

    /// A few bytes that whoever writes them keeps in memory: no wait worth a thread of its own.
    var seconds: TimeInterval {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)), seconds.isFinite
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
