package import Foundation

/// A private folder that is removed when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a trailing slash.
    package let path: String

    /// Makes an empty folder that only the current user may enter.
    ///
    /// - Parameter base: The folder to make it in; nil is the system's
    ///   temporary folder.
    /// - Throws: ``TestSupportError`` if the folder cannot be made.
    package init(in base: String? = nil) throws {
        let parent = base ?? NSTemporaryDirectory()
        var template = Array((parent.hasSuffix("/") ? parent : parent + "/").utf8CString.dropLast())
        template += "mirror-bot.XXXXXX".utf8CString
        guard mkdtemp(&template) != nil else {
            throw TestSupportError("could not make a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of an entry in the folder, which need not exist.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file into the folder and returns its path.
    @discardableResult
    package func write(_ contents: Data, to name: String) throws -> String {
        let file = path(name)
        try contents.write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// What went wrong around a test, in words for the person who runs it.
package struct TestSupportError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
