import Foundation
import TestSupport

/// What this process holds of the machine.
struct ProcessFigures: Codable, Equatable, Sendable {
    /// Memory that is nobody's copy of a file: `RssAnon` of proc(5), in kilobytes.
    var memory: Int
    var threads: Int
    var descriptors: Int

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
        return ProcessFigures(memory: memory, threads: threads, descriptors: descriptors)
    }
}
