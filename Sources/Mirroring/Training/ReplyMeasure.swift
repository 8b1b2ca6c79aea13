package import Foundation
import Localization
import Settings
package import Storage

/// How often the chosen reply equalled the human's own, on a part of their past, as measured by the
/// last `mirror-bot score`.
package struct ReplyMeasure: Codable, Equatable, Sendable {
    package var measured: Date
    /// The human's answers in the last fifth of the past whose mention is known.
    package var answers: Int
    /// Answers for which the chosen reply had the same text.
    package var same: Int
    /// The expected ``same`` if replies were drawn at random.
    package var sameByChance: Double
    /// Answers in a language for which kinds of text are defined.
    package var kindKnown: Int
    /// Answers of ``kindKnown`` for which the chosen reply had the same kind.
    package var sameKind: Int
    /// The expected ``sameKind`` if replies were drawn.
    package var sameKindByChance: Double
    /// The least score of a likely reply; nil if too few answers had a kind to determine it.
    package var threshold: Double?
    /// Answers of ``kindKnown`` whose chosen reply has a lower score.
    package var held: Int

    /// The stored names of ``kindKnown``, ``sameKind`` and ``sameKindByChance`` are older.
    private enum CodingKeys: String, CodingKey {
        case measured, answers, same, sameByChance, threshold, held
        case kindKnown = "withKind"
        case sameKind = "ofKind"
        case sameKindByChance = "ofKindByChance"
    }

    package init(
        measured: Date, answers: Int, same: Int, sameByChance: Double, kindKnown: Int,
        sameKind: Int,
        sameKindByChance: Double, threshold: Double?, held: Int
    ) {
        self.measured = measured
        self.answers = answers
        self.same = same
        self.sameByChance = sameByChance
        self.kindKnown = kindKnown
        self.sameKind = sameKind
        self.sameKindByChance = sameKindByChance
        self.threshold = threshold
        self.held = held
    }

    /// The measure in plain words, in lower case and without a full stop.
    package var inWords: String {
        let drawn = Self.drawn(sameByChance)
        guard kindKnown > 0 else {
            return localized(
                """
                the bot would have chosen the human's own text for \(same) of the last \(answers) answers \
                (\(drawn) if it drew)
                """)
        }
        let drawnKind = Self.drawn(sameKindByChance)
        guard threshold != nil else {
            return localized(
                """
                the bot would have chosen the human's own text for \(same) of the last \(answers) answers \
                (\(drawn) if it drew), and a reply of the same kind for \(sameKind) of \(kindKnown) \
                (\(drawnKind) if it drew)
                """)
        }
        return localized(
            """
            the bot would have chosen the human's own text for \(same) of the last \(answers) answers \
            (\(drawn) if it drew), and a reply of the same kind for \(sameKind) of \(kindKnown) \
            (\(drawnKind) if it drew); \(held) of these hardly fitted, for which \(Setting.replies.name) decides
            """)
    }

    private static func drawn(_ expected: Double) -> String { String(format: "%.0f", expected) }

    /// The last stored measure; nil if there is none, or if another version of the program stored
    /// it.
    ///
    /// - Throws: The store's error.
    package static func kept(of mirror: String, on connection: any StorageConnection) throws
        -> ReplyMeasure?
    {
        let rows = try connection.query("SELECT replies FROM measures WHERE mirror = \(mirror)")
        guard let json = try rows.first?.optionalText("replies") else { return nil }
        // Nil if another version wrote it and it cannot be decoded.
        return try? JSONDecoder().decode(ReplyMeasure.self, from: Data(json.utf8))
    }
}

extension HumanMirror {
    /// Stores a measure in place of the last one.
    ///
    /// - Throws: The store's error.
    package func keep(_ measure: ReplyMeasure) async throws {
        let json = String(decoding: try JSONEncoder().encode(measure), as: UTF8.self)
        try await storage.execute(
            """
            INSERT INTO measures (mirror, classifier, replies, measured_ms)
            VALUES (\(name), '{}', \(json), \(measure.measured))
            ON CONFLICT (mirror) DO UPDATE SET replies = excluded.replies
            """)
    }

    /// The last stored measure; nil if there is none, or if another version of the program stored
    /// it.
    ///
    /// - Throws: The store's error.
    package func replyMeasure() async throws -> ReplyMeasure? {
        try await storage.read { [name] in try ReplyMeasure.kept(of: name, on: $0) }
    }
}
