import Outbox

/// What the audit found out.
///
/// Every finding stands for one thing that went wrong, so that the four numbers are the numbers of
/// findings.
struct AuditReport: Codable, Equatable, Sendable {
    /// Rows of `actions`, whatever became of them.
    var actions = 0
    /// Actions of which the network has exactly one thing, and whose row says so.
    var delivered = 0
    /// Actions that were sent without its ever becoming known whether they arrived.
    var unconfirmed = 0
    /// Actions whose time passed.
    var expired = 0
    /// Actions that were decided against.
    var skipped = 0
    /// Actions whose time has come and that have no end yet.
    var pending = 0
    /// Actions that were due and that nothing but perhaps a slow machine kept from being delivered
    /// in time; too few, and a run shows little.
    var unhindered = 0
    /// Mentions that a worker had the time to hear.
    var mentions = 0
    /// Those of them that the mirror could not reach, and says so.
    var unreached = 0
    var duplicates = 0
    var lost = 0
    var unheard = 0
    var unexplained = 0
    /// Wishes of a person that were not respected.
    var overwritten = 0
    /// A line for each finding.
    var findings: [String] = []

    /// Whether the three ledgers agree.
    var isClean: Bool { duplicates + lost + unheard + unexplained + overwritten == 0 }
}

/// Something that is wrong.
struct AuditFinding: Equatable, Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        /// The bot made more than one thing for one action, or said the same twice where it must
        /// not.
        case duplicate
        /// Something that was to happen did not, and nothing explains it.
        case lost
        /// Somebody spoke to the bot, and nobody can see what became of it.
        case unheard
        /// Two ledgers disagree, or one holds what nobody can account for.
        case unexplained
        /// A person had said otherwise.
        case overwritten
    }

    var kind: Kind
    /// What it is about: an action, a post of the network, a day.
    var about: String
    var why: String

    init(_ kind: Kind, _ about: String, _ why: String) {
        self.kind = kind
        self.about = about
        self.why = why
    }

    init(_ kind: Kind, _ action: Action, _ why: String) {
        self.init(kind, "\(action.kind.rawValue) \(action.subject) (\(action.id))", why)
    }

    var description: String { "\(kind.rawValue): \(about): \(why)" }
}
