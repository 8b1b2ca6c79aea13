import Archive
import Control
import Foundation
import Posts

/// The wording of people's names and of the decisions about them.
enum PersonWords {
    /// Returns a person's name as on every page: the handle with `@`, or the account if no handle
    /// is known and the account is not one.
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
            ? "somebody, kept as the digest \(line.account)"
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
        if isForgotten { return ("forgotten", "paused", "s-unset") }
        switch stance {
        case People.Stance.deny.rawValue: return (denied(reason), "failing", "s-failing")
        case People.Stance.allow.rawValue: return ("agreed", "healthy", "s-healthy")
        default:
            guard let onDenied else { return ("nothing said", "", nil) }
            return ("left alone with \(ListWords.name(onDenied))", "failing", "s-failing")
        }
    }

    private static func denied(_ reason: String?) -> String {
        switch reason {
        case nil, "operator": "denied by you"
        case "asked-to-stop": "said “stop”"
        case People.forgottenReason: "being forgotten"
        case let other?: ReportedReason(other).text
        }
    }

    /// The state in which the classifier learned a post of the person, in words.
    static func learned(_ state: String) -> String {
        switch state {
        case "seen": "passed over"
        case "seen-favorite", "favorite": "favorite"
        default: ListWords.cut(state, bytes: 60)
        }
    }

    static func unlearned(_ number: Int) -> String {
        number > 0 ? " Unlearned: \(Words.count(number, "post")) of theirs." : ""
    }

    static func notesOfDenial(_ holding: PersonHolding) -> [String] {
        var notes: [String] = []
        if let knownPeople = holding.known {
            notes.append(
                "\(Words.count(knownPeople, "known person", "known people")) on it; who is allowed stays allowed."
            )
            notes.append("Servers below it are meant too.")
            notes.append("What was learned from them is unlearned.")
        }
        if let learned = holding.learned {
            notes.append(
                learned > 0
                    ? "\(Words.count(learned, "post")) that \(learned == 1 ? "was" : "were") learned from "
                        + "\(learned == 1 ? "is" : "are") unlearned; to allow again does not bring that back."
                    : "Nothing was learned from this person.")
        }
        if let waiting = holding.waiting, waiting > 0 {
            notes.append("\(Words.count(waiting, "action")) for them that wait will not happen.")
        }
        if holding.accounts.count > 1 {
            let accountNames = holding.accounts.prefix(5).map { ListWords.name(name($0)) }
                .joined(separator: ", ")
            notes.append("It holds for all their accounts: \(accountNames).")
        }
        notes.append("What was sent to them stays where it is.")
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
            name = "everybody on \(ListWords.name(server.server))"
            unlearned = server.unlearned
            actionsLeft = server.left.count
        }
        var text =
            verb == "deny"
            ? "Left alone: \(name).\(self.unlearned(unlearned))" : "Allowed: \(name)."
        if case .server = change, verb == "allow" { text = "No longer denied: \(name)." }
        if case .person(let person) = change, person.wasForgotten {
            text = "Allowed again: \(name). What was forgotten stays gone."
        }
        if actionsLeft > 0 {
            text +=
                " \(Words.count(actionsLeft, "action")) \(actionsLeft == 1 ? "was" : "were") just being sent."
        }
        guard verb == "deny" else { return Said(text) }
        return Said(text, wayBack: request.button("Allow again", change.wayBack))
    }

    static func said(_ outcome: PersonForgetting) -> String {
        let forgotten = outcome.forgotten
        let counts = Words.counts([
            (forgotten.posts, "post of the human", "posts of the human"),
            (forgotten.unlearned, "learned post", "learned posts"),
            (forgotten.dropped, "waiting action", "waiting actions"),
            (forgotten.ended, "note of what was done", "notes of what was done"),
        ])
        let removedWords =
            counts.isEmpty
            ? "nothing was left to remove" : "removed: \(counts.joined(separator: ", "))"
        let actionsUnderWay =
            forgotten.underWay > 0
            ? " \(Words.count(forgotten.underWay, "action")) under way end first." : ""
        return "Forgotten; \(removedWords).\(actionsUnderWay)"
    }
}
