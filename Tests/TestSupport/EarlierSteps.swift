import Foundation

/// The migrations of programs before they were joined into one, for databases as those left them.
///
/// They are no part of the program, and are never edited.
package enum EarlierSteps {
    /// Reads the steps, in their order.
    ///
    /// - Throws: What went wrong with the files.
    package static func read() throws -> [(id: String, source: [UInt8])] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("EarlierSteps")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".sql")
        }
        return try names.sorted().map { name in
            let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
            return (String(name.dropLast(".sql".count)), Array(bytes))
        }
    }
}
