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
        guard let status = Self.text("/proc/\(pid)/status"), let stat = Self.text("/proc/\(pid)/stat"),
            let privateMemory = Self.mebibytes("RssAnon:", in: status),
            let peakMemory = Self.mebibytes("VmHWM:", in: status),
            let processorTime = Self.processorTime(stat)
        else { return nil }
        self.privateMemory = privateMemory
        self.peakMemory = peakMemory
        self.processorTime = processorTime
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    private static func mebibytes(_ name: String, in status: String) -> Double? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: " ", omittingEmptySubsequences: true)
            .compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }.first.map { $0 / 1_024 }
    }

    /// The fields 14 and 15 of proc(5)'s stat, in ticks; the name before them may hold anything but ends with a
    /// parenthesis.
    private static func processorTime(_ stat: String) -> Duration? {
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else { return nil }
        return .seconds(user + system) / sysconf(Int32(_SC_CLK_TCK))
    }
}
