import Foundation
import TestSupport

/// Where the program under test is.
enum WorkerProgram {
    /// The one that was built together with this one and lies beside it.
    ///
    /// - Throws: ``TestSupportError`` that says how to build it.
    static func path() throws -> String {
        let folder = Bundle.main.bundleURL
        for name in ["mirror-bot", "MirrorBot"] {
            let path = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw TestSupportError(
            "could not find mirror-bot in \(folder.path): run `swift build` first, or pass --binary"
        )
    }
}
