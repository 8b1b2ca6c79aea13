import Posts

/// A kind of archive that is made of files.
///
/// Another kind is another type with this protocol, listed in ``ArchiveReader``.
protocol ArchiveFormat: Sendable {
    /// Whether a file of this name may be opened. Every other file stays closed.
    static func isPart(_ name: String) -> Bool

    /// Whether an archive with these parts is of this kind.
    static func recognizes(_ parts: [String]) -> Bool

    /// Prepares the reading of an archive in which `parts` are there.
    init(path: String, purpose: ImportPurpose, limits: ImportLimits, parts: [String])

    /// Hands over everything in the archive that serves the purpose.
    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary
}

/// An archive of a Mastodon-compatible server; recognized, so that the answer is clear.
struct MastodonArchive: ArchiveFormat {
    private let path: String

    static func isPart(_ name: String) -> Bool { name == "outbox.json" }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains("outbox.json") }

    init(path: String, purpose: ImportPurpose, limits: ImportLimits, parts: [String]) { self.path = path }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        throw ImportError(
            .unsupported, path: path,
            "this is a Mastodon archive, which cannot be read yet; train from the account or from JSON Lines instead")
    }
}
