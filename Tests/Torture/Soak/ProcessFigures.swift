import Foundation
import TestSupport

/// What this process holds of the machine.
struct ProcessFigures: Codable, Equatable, Sendable {
    /// Memory that is nobody's copy of a file: `RssAnon` of proc(5), in kilobytes.
    var memory: Int
    /// What the embedded database holds of that, in kilobytes: pages of its file above all; 0 where a server keeps the
    /// data.
    var cache: Int
    var threads: Int
    var descriptors: Int

    /// What the worker holds itself, in kilobytes.
    var own: Int { memory - cache }

    /// - Throws: ``TestSupportError`` where there is no Linux `/proc`.
    static func current() throws -> ProcessFigures {
        let status = String(
            decoding: FileManager.default.contents(atPath: "/proc/self/status") ?? Data(), as: UTF8.self)
        func figure(_ name: String) -> Int? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        guard let memory = figure("RssAnon"), let threads = figure("Threads"),
            // The folder is open itself while it is read.
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1
        else { throw TestSupportError("could not read /proc/self/status: a soak runs on Linux only") }
        return ProcessFigures(memory: memory, cache: databaseCache, threads: threads, descriptors: descriptors)
    }

    /// How long this process has computed so far, in seconds.
    static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// As SQLite counts it, which is linked into this program behind another package.
    private static var databaseCache: Int {
        typealias Function = @convention(c) () -> Int64
        guard let address = dlsym(nil, "sqlite3_memory_used") else { return 0 }
        return Int(unsafeBitCast(address, to: Function.self)() / 1_024)
    }
}
