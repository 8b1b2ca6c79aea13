import Posts

/// What is asked of a reader.
struct ImportRequest: Sendable {
    /// The path as it was given, or `-`.
    var path: String
    var purpose: ImportPurpose
    /// Where the ids and names of JSON Lines belong.
    var network: NetworkName
    /// The host that names without one belong to, where the caller knows it.
    var localHost: String?
    var limits: ImportLimits
}

/// A kind of archive that is made of files.
///
/// Another kind is another type with this protocol, listed in ``ArchiveReader``.
protocol ArchiveFormat: Sendable {
    /// Whether a file of this name may be opened. Every other file stays closed.
    static func isPart(_ name: String) -> Bool

    /// Whether an archive with these parts is of this kind.
    static func recognizes(_ parts: [String]) -> Bool

    /// Prepares the reading of an archive in which `parts` are there, in this order.
    init(_ request: ImportRequest, parts: [String])

    /// Hands over everything in the archive that serves the purpose.
    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws -> ImportSummary
}
