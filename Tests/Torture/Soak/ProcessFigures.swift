import Foundation
import TestSupport

/// What a process holds of the machine.
struct ProcessFigures: Codable, Equatable, Sendable {
    /// Memory that is nobody's copy of a file: `RssAnon` of proc(5), in kilobytes.
    var memory: Int
    /// What the embedded database holds of that, in kilobytes: pages of its file above all; 0 where
    /// a server keeps the data, and in another process than this.
    var cache: Int
    var threads: Int
    var descriptors: Int

    /// What the worker holds itself, in kilobytes.
    var own: Int { memory - cache }

    /// The figures of this process.
    ///
    /// - Throws: ``TestSupportError`` where there is no Linux `/proc`.
    static func current() throws -> ProcessFigures {
        var figures = try ProcessFigures(of: "self")
        // The folder is open itself while it is read.
        figures.descriptors -= 1
        figures.cache = databaseCache
        return figures
    }

    /// - Parameter process: An entry of `/proc`.
    /// - Throws: ``TestSupportError`` if there is none.
    init(of process: String) throws {
        let folder = "/proc/\(process)"
        let status = String(
            decoding: FileManager.default.contents(atPath: "\(folder)/status") ?? Data(),
            as: UTF8.self)
        func figure(_ name: String) -> Int? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        guard let memory = figure("RssAnon"), let threads = figure("Threads"),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
                .count
        else { throw TestSupportError("could not read \(folder): a soak runs on Linux only") }
        self.init(memory: memory, cache: 0, threads: threads, descriptors: descriptors)
    }

    init(memory: Int, cache: Int, threads: Int, descriptors: Int) {
        self.memory = memory
        self.cache = cache
        self.threads = threads
        self.descriptors = descriptors
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
