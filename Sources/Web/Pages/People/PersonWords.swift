import Archive
import Control
import Foundation
import Localization
import Posts

/// The wording of people's names and of the decisions about them.
enum PersonWords {
    /// Returns a person's name as on every page: the handle with `@`, or the account if no handle
    /// is known.
    ///
    /// On some networks the account itself is a handle; it has `@`, too.
    ///
    /// - Parameter account: The account's reference.
    static func name(_ account: String, handle: String? = nil) -> String {
        if let handle { return "@\(handle)" }
        guard let id = AccountID(reference: account, localHost: nil), !id.isForgotten else {
            return account
        }
        return id.network.traits.namesAreIdentities ? "@\(id.shown)" : id.shown
    }

    static func name(_ line: PeopleList.Line) -> String {
        line.isForgotten
            ? localized("somebody, kept as the digest \(line.account)")
            : name(line.account, handle: line.handle)
    }

    /// Returns the account, unless its ``name(_:handle:)`` shows it already.
    static func account(_ account: String, named name: String) -> String? {
        name == self.name(account) ? nil : account
    }

    /// Returns the stance in words, with the CSS class and the symbol of its state.
    static func stanceWords(
        stance: String?, reason: String?, onDenied: String?, isForgotten: Bool
    ) -> (text: String, mark: String, symbol: String?) {
        if isForgotten { return (localized("forgotten"), "paused", "s-unset") }
        switch stance {
        case People.Stance.deny.rawValue: return (denied(reason), "failing", "s-failing")
        case People.Stance.allow.rawValue: return (localized("agreed"), "healthy", "s-healthy")
        default:
            guard let onDenied else { return (localized("nothing said"), "", nil) }
            let words = localized("left alone with \(ListWords.name(onDenied))")
            return (words, "failing", "s-failing")
        }
    }

    private static func denied(_ reason: String?) -> String {
        switch reason {
        case nil, "operator": localized("denied by you")
        case "asked-to-stop": localized("said “stop”")
        case People.forgottenReason: localized("being forgotten")
        case let other?: ReportedReason(other).text
        }
    }

    /// The state in which the classifier learned a post of the person, in words.
    static func learned(_ state: String) -> String {
        switch state {
        case "seen": localized("passed over")
        case "seen-favorite", "favorite": localized("favorite")
        default: ListWords.cut(state, bytes: 60)
        }
    }

    /// Returns a sentence about the number of unlearned posts; an empty list for none.
    static func unlearned(_ number: Int) -> [String] {
        number > 0 ? [localized("Unlearned: \(Words.count(number, "post")) of theirs.")] : []
    }

    static func notesOfDenial(_ holding: PersonHolding) -> [String] {
        var notes: [String] = []
        if let knownPeople = holding.known {
            notes.append(
                localized(
                    "\(Words.count(knownPeople, "known person", "known people")) on it; who is allowed stays allowed."
                ))
            notes.append(localized("Servers below it are meant too."))
            notes.append(localized("What was learned from them is unlearned."))
        }
        if let learned = holding.learned {
            let number = Words.number(learned)
            let note =
                switch learned {
                case ...0: localized("Nothing was learned from this person.")
                case 1:
                    localized(
                        "\(number) post that was learned from is unlearned; to allow again does not bring that back."
                    )
                default:
                    localized(
                        "\(number) posts that were learned from are unlearned; to allow again does not bring that back."
                    )
                }
            notes.append(note)
        }
        if let waiting = holding.waiting, waiting > 0 {
            notes.append(
                localized("\(Words.count(waiting, "action")) for them that wait will not happen."))
        }
        if holding.accounts.count > 1 {
            let accountNames = holding.accounts.prefix(5).map { ListWords.name(name($0)) }.joined(
                by: .comma)
            notes.append(localized("It holds for all their accounts: \(accountNames)."))
        }
        notes.append(localized("What was sent to them stays where it is."))
        return notes
    }

    static func said(_ change: StanceChange, after verb: String, _ request: MirrorRequest) -> Said {
        let (name, unlearned, actionsLeft): (String, Int, Int)
        switch change {
        case .person(let person):
            name = ListWords.name(self.name(person.account, handle: person.handle))
            unlearned = person.unlearned
            actionsLeft = person.left.count
        case .server(let server):
            name = localized("everybody on \(ListWords.name(server.server))")
            unlearned = server.unlearned
            actionsLeft = server.left.count
        }
        var sentences =
            verb == "deny"
            ? [localized("Left alone: \(name).")] + self.unlearned(unlearned)
            : [localized("Allowed: \(name).")]
        if case .server = change, verb == "allow" {
            sentences = [localized("No longer denied: \(name).")]
        }
        if case .person(let person) = change, person.wasForgotten {
            sentences = [localized("Allowed again: \(name). What was forgotten stays gone.")]
        }
        if actionsLeft > 0 {
            let number = Words.number(actionsLeft)
            sentences.append(
                actionsLeft == 1
                    ? localized("\(number) action was just being sent.")
                    : localized("\(number) actions were just being sent."))
        }
        let text = sentences.joined(by: .sentence)
        guard verb == "deny" else { return Said(text) }
        return Said(text, wayBack: request.button(localized("Allow again"), change.wayBack))
    }

    static func said(_ outcome: PersonForgetting) -> String {
        let forgotten = outcome.forgotten
        let removed: [(number: Int, words: String)] = [
            (
                forgotten.posts,
                Words.count(forgotten.posts, "post of the human", "posts of the human")
            ),
            (forgotten.unlearned, Words.count(forgotten.unlearned, "learned post")),
            (forgotten.dropped, Words.count(forgotten.dropped, "waiting action")),
            (
                forgotten.ended,
                Words.count(forgotten.ended, "note of what was done", "notes of what was done")
            ),
        ]
        let counts = removed.filter { $0.number > 0 }.map(\.words)
        var sentences = [
            counts.isEmpty
                ? localized("Forgotten; nothing was left to remove.")
                : localized("Forgotten; removed: \(counts.joined(by: .comma)).")
        ]
        if forgotten.underWay > 0 {
            sentences.append(
                localized("\(Words.count(forgotten.underWay, "action")) under way end first."))
        }
        return sentences.joined(by: .sentence)
    }
}
