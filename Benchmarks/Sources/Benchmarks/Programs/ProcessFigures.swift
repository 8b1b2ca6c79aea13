import Foundation

/// What the kernel tells about a running process.
struct ProcessFigures {
    /// Memory that belongs to it alone and is in use, in MiB: no files, no libraries.
    let privateMemory: Double
    /// The most memory of any kind that was ever in use, in MiB.
    let peakMemory: Double
    /// The processor time that it has taken.
    let processorTime: Duration

    /// Nil if there is no such process, or it has ended.
    init?(of pid: pid_t) {
        guard let status = Self.text("/proc/\(pid)/status"),
            let privateMemory = Self.mebibytes("RssAnon:", in: status),
            let peakMemory = Self.mebibytes("VmHWM:", in: status),
            let processorTime = Self.processorTime(of: pid)
        else { return nil }
        self.privateMemory = privateMemory
        self.peakMemory = peakMemory
        self.processorTime = processorTime
    }

    private static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }

    private static func mebibytes(_ name: String, in status: String) -> Double? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ", omittingEmptySubsequences: true)
            .compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }.first.map { $0 / 1_024 }
    }

    /// What all its threads have taken, those that ended included; counted in ticks, an idle
    /// worker's would be rounded to a third.
    private static func processorTime(of pid: pid_t) -> Duration? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return nil
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
