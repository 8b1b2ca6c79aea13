import Foundation
import Outbox
import Posts
import Sandbox

/// The mentions of which nobody can say what became of them.
///
/// About every mention that was ever sent there is a row in `actions`, or something that a person
/// who looks at `status` can see: an item that waits or that cannot be read, or a stretch of the
/// feed that could not be reached.
struct UnheardMentions: Sendable {
    /// How many mentions a worker had the time to hear.
    private(set) var judged = 0
    /// How many of them are in a stretch that could not be reached.
    private(set) var unreached = 0
    private(set) var findings: [AuditFinding] = []

    /// The longest answer that a client has to read, in bytes.
    static let readable = 8 << 20
    /// How long after a mention that no list tells of at once it has to be found, in seconds: what
    /// is swept is swept once a day.
    static let sweep: TimeInterval = 25 * 3_600
    /// For how long after a sweep what is refused for an hour may be tried again, in seconds.
    static let secondTries: TimeInterval = 3 * 3_600
    /// For how long nobody may have listened, in seconds.
    static let longestAbsence: TimeInterval = 86_400

    fileprivate init(_ audit: Audit) {
        let hearing = audit.input.hearing
        let feed = hearing.mentions
        let decided = Set(audit.actions.filter { $0.kind == .reply }.map(\.subject))
        var items = Dictionary(
            hearing.items.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var nameless: [SandboxLedger.Mention] = []
        for mention in audit.ledger.mentions where audit.hadToBeHeard(mention) {
            judged += 1
            guard !decided.contains(mention.identity) else { continue }
            guard let name = mention.names.first(where: { items[$0] != nil }),
                let item = items.removeValue(forKey: name)
            else {
                nameless.append(mention)
                continue
            }
            if let why = audit.objection(to: item, about: mention) {
                findings.append(mention.finding(.lost, why))
            }
        }
        var spare = items.values.count { $0.state != .waiting }
        for mention in nameless {
            if mention.isNothing, hearing.items.contains(where: { $0.state == .unreadable }) {
                // Of all that say nothing at all there is one note.
                continue
            } else if audit.isBelowWhatIsRefused(mention),
                (feed?.waiting ?? 0) + (feed?.givenUp ?? 0) > 0
            {
                unreached += 1
            } else if feed?.unreached.contains(where: { $0.contains(mention.date) }) ?? false,
                audit.wereListsRefused || audit.wasHidden(mention)
            {
                unreached += 1
            } else if mention.isHardToRead, spare > 0 {
                // Nobody could tell of those out of reach, so that the notes are about the others.
                spare -= 1
            } else {
                findings.append(
                    mention.finding(.unheard, "has no row, and nothing in status explains it"))
            }
        }
        findings += Self.disagreements(hearing)
    }

    /// What the table holds must be what `status` shows.
    private static func disagreements(_ hearing: Hearing) -> [AuditFinding] {
        let shown: [(Hearing.Item.State, Int)] = [
            (.unreadable, hearing.mentions?.unreadable ?? 0),
            (.waiting, hearing.mentions?.waiting ?? 0),
            (.givenUp, hearing.mentions?.givenUp ?? 0),
        ]
        return shown.compactMap { state, count in
            let held = hearing.items.count { $0.state == state }
            guard held > count else { return nil }
            return AuditFinding(
                .unexplained, "\(held) items that are \(state.rawValue)",
                "are \(count) for whoever looks at status")
        }
    }
}

extension Audit {
    /// What became of every mention.
    var unheard: UnheardMentions { UnheardMentions(self) }

    /// Whether a worker had the time to hear of a mention.
    fileprivate func hadToBeHeard(_ mention: SandboxLedger.Mention) -> Bool {
        // A worker that believes in tomorrow believes that it swept tomorrow.
        let ahead = max(0, input.wrongClocks.map(\.seconds).max() ?? 0)
        let delay: TimeInterval =
            switch mention.notice {
            case .atOnce: 0
            case .late(let seconds): seconds + UnheardMentions.sweep + ahead
            case .never: UnheardMentions.sweep + UnheardMentions.secondTries + ahead
            }
        return mention.date >= input.activated
            && hadTime(for: .reply, from: mention.date + delay + input.skew, to: input.now)
    }

    /// What is wrong with keeping a note about a mention instead of deciding about it; nil if the
    /// network is to blame.
    fileprivate func objection(to item: Hearing.Item, about mention: SandboxLedger.Mention)
        -> String?
    {
        guard mention.kind == .friend, !mention.isHardToRead,
            !wasRefused(about: mention, [.thread, .person, .post]),
            !wasDenied(mention.id)
        else { return nil }
        // Each refused read makes the wait for the next one three times as long.
        if item.state == .waiting,
            [mention.id, mention.parent].compactMap(\.self).contains(where: wasPostponed)
        {
            return nil
        }
        return "is \(item.state.rawValue) (\(item.reason)) although nothing is wrong with it"
    }

    /// Whether the network did not give out something about a mention.
    func wasRefused(about mention: SandboxLedger.Mention, _ objects: Set<SandboxRefusals.Object>)
        -> Bool
    {
        let person = [
            SandboxIdentity.account(mention.handle, on: rules.network).value,
            SandboxIdentity.handle(mention.handle, on: rules.network),
        ]
        let names = Set(mention.names + person)
        return ledger.refusedObjects.contains {
            objects.contains($0.object) && names.contains($0.name)
        }
    }

    /// Whether nothing tells of a mention but a conversation that the network never gives out.
    fileprivate func isBelowWhatIsRefused(_ mention: SandboxLedger.Mention) -> Bool {
        guard mention.notice == .never, let parent = mention.parent else { return false }
        return ledger.refusedObjects.contains {
            $0.object == .thread && $0.name == parent && $0.until == nil
        }
    }

    /// Whether so many spoke after a mention that the network may not have shown it any more when
    /// somebody looked.
    fileprivate func wasHidden(_ mention: SandboxLedger.Mention) -> Bool {
        guard let shown = rules.mentionsShown else { return false }
        let end = mention.date + UnheardMentions.longestAbsence
        return ledger.mentions.count { $0.date >= mention.date && $0.date < end } >= shown
    }

    /// Whether some page of the mentions was refused for good, so that a stretch may be out of
    /// reach.
    ///
    /// What is refused for a minute can be asked for again.
    fileprivate var wereListsRefused: Bool {
        ledger.refusedObjects.contains { $0.object == .mentions && $0.until == nil }
    }
}

extension SandboxLedger.Mention {
    /// Everything that a mirror may call it.
    fileprivate var names: [String] { [identity, id] + [notification].compactMap(\.self) }

    /// Whether a client may find that it cannot read it.
    var isHardToRead: Bool {
        switch burden {
        case .flaw: true
        case .padding(let bytes): bytes >= UnheardMentions.readable
        case .crowd, nil: false
        }
    }

    /// Whether the network sends something in its place that could be anything.
    fileprivate var isNothing: Bool { burden == .flaw(.null) }

    fileprivate func finding(_ kind: AuditFinding.Kind, _ why: String) -> AuditFinding {
        let what = burden.map { ", \($0)" } ?? ""
        return AuditFinding(
            kind, "mention \(identity) by \(self.kind.rawValue) at \(date.rfc3339)\(what)", why)
    }
}
