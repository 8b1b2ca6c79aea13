package import Foundation
import Localization
import Posts
import Storage

/// The consent to mirror the human, as stored in the mirror's row.
///
/// Without it nothing is sent: `OutboxStore` requires it in the transaction of each departure. It
/// ends when the human asks the mirror to stop; after that only a later consent counts.
package struct HumanConsent: Codable, Equatable, Sendable {
    /// The basis of the consent.
    package enum Ground: String, CaseIterable, Codable, Sendable {
        /// The owner of the human's account logged in.
        case login
        /// The human's account wrote the three words that confirm consent.
        case words
        /// The operator declared to be the human.
        case oneself = "self"
        /// The operator declared that the human agreed.
        case agreed
        /// The operator declared to act for the heirs.
        case heirs
        /// The mirror existed before consent was required.
        case earlier

        /// The operator's statement in its stored form; nil for another ground.
        package var wording: String? {
            switch self {
            case .oneself: "I am this person"
            case .agreed: "this person agreed in writing"
            case .heirs: "this person has died and I act for the heirs"
            case .login, .words, .earlier: nil
            }
        }

        /// The operator's statement for people; nil for another ground.
        package var words: String? {
            switch self {
            case .oneself: localized("I am this person")
            case .agreed: localized("this person agreed in writing")
            case .heirs: localized("this person has died and I act for the heirs")
            case .login, .words, .earlier: nil
            }
        }

        /// Whether the human's own account agreed.
        package var isByAccount: Bool { self == .login || self == .words }

        /// The operator's statements, in the order in which they are proposed.
        package static let statements = allCases.filter { $0.wording != nil }

        /// The statements as a list for people who choose: `self (I am this person), …`.
        package static var choices: String {
            statements.map { localized("\($0.rawValue) (\($0.words ?? ""))") }
                .joined(by: .comma)
        }
    }

    package let ground: Ground
    package let since: Date
    /// The operator's statement in the wording of that time; nil for another ground.
    package let wording: String?

    package init(_ ground: Ground, since: Date, wording: String?) {
        self.ground = ground
        self.since = since
        self.wording = wording
    }

    /// A consent that is given now; the time is rounded to milliseconds, as in the database.
    package init(_ ground: Ground, at now: Date) {
        self.init(ground, since: Date(milliseconds: now.milliseconds), wording: ground.wording)
    }
}

extension HumanConsent {
    /// Stores a statement that the operator makes now; it counts even if the human stopped the
    /// mirror before.
    ///
    /// A consent by the human's own account is kept. Does nothing for a mirror without a row.
    static func storeStatement(
        _ ground: Ground, of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        try connection.execute(
            """
            UPDATE mirrors SET consent = \(ground.rawValue), consent_ms = \(now.milliseconds),
                consent_words = \(ground.wording), stopped_ms = NULL
            WHERE mirror = \(mirror) AND COALESCE(consent, '') NOT IN \(list: groundsByAccount)
            """)
    }

    /// Removes the operator's statement.
    static func withdraw(of mirror: String, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            UPDATE mirrors SET consent = NULL, consent_ms = NULL, consent_words = NULL
            WHERE mirror = \(mirror) AND consent IN \(list: Ground.statements.map(\.rawValue))
            """)
    }

    private static let groundsByAccount = Ground.allCases.filter(\.isByAccount).map(\.rawValue)
}
