import Localization

/// The reason why an archive could not be read at all, or not to its end.
///
/// The data is at fault in every case, so a command ends with exit code 65. Single items that
/// cannot be read are not errors but ``ImportProblem``s.
package struct ImportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of fault; stable, for tests and metrics.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// There is nothing at the path.
        package static let notFound = Code(rawValue: "not-found")
        /// The system refused to open or read the file.
        package static let unreadable = Code(rawValue: "unreadable")
        /// Neither an archive nor JSON Lines.
        package static let notAnArchive = Code(rawValue: "not-an-archive")
        /// An archive of a kind that cannot be read yet.
        package static let unsupported = Code(rawValue: "unsupported")
        /// A zip that is cut off, or whose data does not match its checksums.
        package static let damaged = Code(rawValue: "damaged")
        package static let encrypted = Code(rawValue: "encrypted")
        /// Its unpacked size exceeds the limits.
        package static let bomb = Code(rawValue: "bomb")
        /// A name or link leads out of the archive.
        package static let unsafePath = Code(rawValue: "unsafe-path")
        /// An archive without items for the purpose.
        package static let nothingToRead = Code(rawValue: "nothing-to-read")
    }

    package var code: Code
    /// The path as it was given, or `-`.
    package var path: String
    /// The problem and its remedy, in lower case.
    package var reason: String

    package init(_ code: Code, path: String, _ reason: String) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    package var description: String {
        path == "-"
            ? localized("could not import standard input: \(reason)")
            : localized("could not import \(path): \(reason)")
    }
}
