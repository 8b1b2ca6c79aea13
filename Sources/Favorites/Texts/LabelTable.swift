package import Foundation
package import Posts
package import Storage

/// The label that a person's decision implies for one of the human's texts.
package enum PersonLabel: String, Codable, CaseIterable, Sendable {
    /// The text is never to be sent.
    case never
    /// The text may be sent: the person said so when asked, pinned it, or approved it.
    case kept
    /// The person skipped a slot with the text.
    case skipped
    /// The person had the text sent, or chose it for a slot.
    case posted
    /// The person declined a suggestion of the text.
    case declined
    /// The bot's post with the text was deleted again.
    case takenBack = "taken-back"
    /// The human deleted the original post.
    case deleted

    /// Whether the label is against the text.
    package var isAgainst: Bool { self != .kept && self != .posted }

    /// Whether a person judged the text itself; such a label is not replaced by other decisions.
    fileprivate var isJudgement: Bool { self == .never || self == .kept }

    fileprivate static let judgements = allCases.filter(\.isJudgement).map(\.rawValue)

    /// The most posts of a request to delete that imply labels for their texts; a request to delete
    /// more implies none.
    package static let mostAtOnce = 20
}

/// The labels of a mirror's texts, one for each post, from which ``TextTaste`` learns.
///
/// A label is written in the transaction of the decision that implies it. The text is not stored
/// with it but read from the archive, so that a text that leaves the archive is unlearned, and one
/// that changes is learned anew. For a post that the human deleted only digests are kept, see
/// ``noteDeletion(of:_:now:on:)``.
package struct LabelTable: Sendable {
    /// The most labels that are learned from, the newest ones.
    static let mostLearned = WeightFit.mostExamples
    /// The most deletions in an hour that imply labels; with more, the human is emptying the
    /// account.
    private static let deletionsPerHour = 10

    let storage: any StorageEngine
    let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// A label with its text.
    struct Row: Equatable, Sendable {
        let id: PostID
        let label: PersonLabel
        /// The text; nil for a deleted post.
        let text: String?
        /// The digests of a deleted post's features.
        let digests: FeatureDigests?
    }

    // MARK: Writing

    /// Stores the label that a decision implies for a text.
    ///
    /// A label of the text itself, ``PersonLabel/never`` or ``PersonLabel/kept``, is replaced only
    /// by another such label.
    package func note(
        _ label: PersonLabel, of id: PostID, now: Date, on connection: any StorageConnection
    ) throws {
        let condition: SQL =
            label.isJudgement
            ? "" : " WHERE text_labels.label NOT IN \(list: PersonLabel.judgements)"
        try connection.execute(
            """
            INSERT INTO text_labels (mirror, network, post_id, label, noted_ms)
            VALUES (\(mirror), \(id.network.rawValue), \(id.value), \(label.rawValue), \(now))
            ON CONFLICT (mirror, network, post_id) DO UPDATE
            SET label = excluded.label, features = NULL, noted_ms = excluded.noted_ms\(condition)
            """)
    }

    /// Removes a label, so that its text is unlearned; another label of the text stays.
    ///
    /// - Returns: Whether the text had it.
    @discardableResult
    package func takeBack(
        _ label: PersonLabel, of id: PostID, on connection: any StorageConnection
    ) throws -> Bool {
        try connection.execute(
            """
            DELETE FROM text_labels WHERE mirror = \(mirror) AND network = \(id.network.rawValue)
                AND post_id = \(id.value) AND label = \(label.rawValue)
            """) == 1
    }

    /// Removes ``PersonLabel/never`` from all posts whose text reads the same and that are still in
    /// the archive.
    ///
    /// - Parameter key: The key that all texts that read the same share.
    package func takeBackNever(_ key: String, of id: PostID, on connection: any StorageConnection)
        throws
    {
        try connection.execute(
            """
            DELETE FROM text_labels WHERE mirror = \(mirror) AND label = \(PersonLabel.never.rawValue)
                AND ((network = \(id.network.rawValue) AND post_id = \(id.value)) OR EXISTS (
                    SELECT 1 FROM posts WHERE posts.mirror = text_labels.mirror AND posts.network = text_labels.network
                        AND posts.post_id = text_labels.post_id AND posts.text_key = \(key)))
            """)
    }

    /// Records that the human deleted a post, by digests of its id and of its features.
    ///
    /// If there are many deletions in an hour, only the first few count.
    package func noteDeletion(
        of id: PostID, _ digests: FeatureDigests, now: Date, on connection: any StorageConnection
    ) throws {
        let recentDeletions = try connection.query(
            """
            SELECT COUNT(*) AS number FROM text_labels
            WHERE mirror = \(mirror) AND label = \(PersonLabel.deleted.rawValue) AND noted_ms > \(now - 3_600)
            """)
        guard try recentDeletions.first?.int("number") ?? 0 < Self.deletionsPerHour else { return }
        try connection.execute(
            """
            INSERT INTO text_labels (mirror, network, post_id, label, features, noted_ms)
            VALUES (\(mirror), \(id.network.rawValue), \(id.forgottenDigest), \(PersonLabel.deleted.rawValue),
                \(digests.stored), \(now))
            ON CONFLICT (mirror, network, post_id) DO NOTHING
            """)
    }

    // MARK: Reading

    /// The label of a text; nil if it has none.
    package func label(of id: PostID, on connection: any StorageConnection) throws -> PersonLabel? {
        try connection.query(
            """
            SELECT label FROM text_labels
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
            """
        ).first.flatMap { PersonLabel(rawValue: try $0.text("label")) }
    }

    /// The labels of all labelled texts, except those of deleted posts.
    package func labels() async throws -> [PostID: PersonLabel] {
        let rows = try await storage.query(
            "SELECT network, post_id, label FROM text_labels WHERE mirror = \(mirror) AND features IS NULL"
        )
        return try rows.reduce(into: [:]) { labels, row in
            guard let network = NetworkName(rawValue: try row.text("network")) else { return }
            labels[PostID(network: network, value: try row.text("post_id"))] =
                PersonLabel(rawValue: try row.text("label"))
        }
    }

    /// The labels that can be learned from, in the order of their ids, without those that this
    /// version does not know.
    func rows(on connection: any StorageConnection) throws -> [Row] {
        try connection.query(query).compactMap(Self.row)
    }

    /// Reads these labels outside a transaction.
    func rows() async throws -> [Row] { try await storage.query(query).compactMap(Self.row) }

    private var query: SQL {
        """
        SELECT labels.network AS network, labels.post_id AS post_id, label, features, posts.text AS text
        FROM text_labels AS labels LEFT JOIN posts ON posts.mirror = labels.mirror
            AND posts.network = labels.network AND posts.post_id = labels.post_id
        WHERE labels.mirror = \(mirror) AND (posts.text IS NOT NULL OR features IS NOT NULL)
        ORDER BY noted_ms DESC, labels.network, labels.post_id LIMIT \(Self.mostLearned)
        """
    }

    private static func row(_ row: SQLRow) throws -> Row? {
        guard let network = NetworkName(rawValue: try row.text("network")),
            let label = PersonLabel(rawValue: try row.text("label"))
        else { return nil }
        let digests = try row.optionalText("features").flatMap(FeatureDigests.init(stored:))
        let text = try row.optionalText("text")
        guard text != nil || digests != nil else { return nil }
        return Row(
            id: PostID(network: network, value: try row.text("post_id")), label: label, text: text,
            digests: digests)
    }
}

/// The features of a text as digests: equal features have equal digests, and the words cannot be
/// read.
///
/// A person who has the digests may still guess words from a dictionary.
package struct FeatureDigests: Equatable, Sendable {
    /// ``FeatureExtractor/fingerprint`` of the extractor that found the features.
    let extraction: Int64
    /// The digests, in place of the features of each kind.
    let features: FeatureSet

    init(_ features: FeatureSet, extraction: Int64) {
        self.extraction = extraction
        self.features = FeatureSet(
            words: features.words.map(Self.digest), pairs: features.pairs.map(Self.digest),
            spelling: features.spelling.map(Self.digest), form: features.form.map(Self.digest),
            author: nil)
    }

    /// The digest of one feature: 16 hexadecimal digits.
    static func digest(_ feature: String) -> String {
        StableHash.digest(of: "text feature/1", feature).prefix(8).hexadecimal
    }

    /// The stored form: the extraction and the four kinds, one a line, with spaces between digests.
    var stored: String {
        let kinds = [features.words, features.pairs, features.spelling, features.form]
        return (["\(extraction)"] + kinds.map { $0.joined(separator: " ") }).joined(separator: "\n")
    }

    /// Parses a `stored` form; nil for any other text.
    init?(stored: String) {
        let lines = stored.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, let extraction = Int64(lines[0]) else { return nil }
        let kinds = lines.dropFirst().map { $0.split(separator: " ").map(String.init) }
        self.extraction = extraction
        features = FeatureSet(
            words: kinds[0], pairs: kinds[1], spelling: kinds[2], form: kinds[3], author: nil)
    }
}
