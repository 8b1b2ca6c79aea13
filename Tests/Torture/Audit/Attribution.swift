import Foundation
import Outbox
import Posts
import Sandbox

/// Something that the network has from the bot.
struct NetworkThing: Equatable, Sendable {
    var kind: ActionKind
    /// The network's own name of the post; of a favorite, that of the favorited post.
    var identity: String
    /// The identity of the answered or favorited post.
    var target: String?
    var text: String?
    /// What the request called it: an idempotency key, a record key.
    var key: String?
    var date: Date
}

/// Which action each thing of the network, and each request that arrived, belongs to.
///
/// An answer belongs to the action about the post that it answers, a favorite to that about the
/// favorited post. A post of its own belongs to the action that stored its identity; if none did,
/// to the one whose key it came under; if none has that, to one with the same text, the last that
/// had begun to send it.
struct Attribution: Sendable {
    /// By the action's id, in the order of time.
    private(set) var things: [String: [NetworkThing]] = [:]
    /// By the action's id, in the order in which they arrived.
    private(set) var writes: [String: [SandboxLedger.Write]] = [:]
    /// What no action accounts for.
    private(set) var strays: [NetworkThing] = []
    /// What the bot took away again, by the action's id.
    private(set) var removals: [String: [SandboxLedger.Removal]] = [:]
    /// The same of which no action tells.
    private(set) var strayRemovals: [SandboxLedger.Removal] = []
    /// Requests that belong to no action.
    private(set) var strayWrites: [SandboxLedger.Write] = []

    init(_ actions: [Action], _ ledger: SandboxLedger, _ rules: AuditRules) {
        let names = NetworkNames(ledger)
        let index = ActionIndex(actions, rules)
        var owners: [String: Action] = [:]
        for thing in names.things(in: ledger) {
            guard let action = index.owner(of: thing) else {
                strays.append(thing)
                continue
            }
            things[action.id, default: []].append(thing)
            if thing.kind != .favorite { owners[thing.identity] = action }
        }
        for removal in ledger.removals {
            let identity = names.identity(of: removal.postID)
            let favorite = NetworkThing(
                kind: .favorite, identity: identity, target: identity, date: removal.date)
            if let action = removal.kind == .post ? owners[identity] : index.owner(of: favorite) {
                removals[action.id, default: []].append(removal)
            } else {
                strayRemovals.append(removal)
            }
        }
        for write in ledger.writes {
            let made = write.postID.flatMap { owners[names.identity(of: $0)] }
            if let action = made ?? index.owner(of: names.thing(asked: write)) {
                writes[action.id, default: []].append(write)
            } else {
                strayWrites.append(write)
            }
        }
    }
}

/// The identities behind the sandbox's own numbers.
private struct NetworkNames {
    private var identities: [String: String] = [:]

    init(_ ledger: SandboxLedger) {
        for mention in ledger.mentions { identities[mention.id] = mention.identity }
        for delivery in ledger.deliveries { identities[delivery.id] = delivery.identity }
        for favorite in ledger.favorites { identities[favorite.postID] = favorite.identity }
    }

    func identity(of number: String) -> String { identities[number] ?? number }

    /// Everything the bot made, in the order of time.
    func things(in ledger: SandboxLedger) -> [NetworkThing] {
        let posts = ledger.deliveries.map { delivery in
            NetworkThing(
                kind: delivery.replyTo == nil ? .post : .reply, identity: delivery.identity,
                target: delivery.replyTo.map(identity), text: delivery.text,
                key: delivery.idempotencyKey,
                date: delivery.date)
        }
        let favorites = ledger.favorites.map { favorite in
            NetworkThing(
                kind: .favorite, identity: favorite.identity, target: favorite.identity,
                date: favorite.date)
        }
        return (posts + favorites).sorted { $0.date < $1.date }
    }

    /// What a request asks for, as if it were there.
    func thing(asked write: SandboxLedger.Write) -> NetworkThing {
        NetworkThing(
            kind: ActionKind(write.kind), identity: "", target: write.target.map(identity),
            text: write.text,
            key: write.key, date: write.arrived)
    }
}

extension ActionKind {
    fileprivate init(_ kind: SandboxLedger.Write.Kind) {
        switch kind {
        case .post: self = .post
        case .reply: self = .reply
        case .favorite: self = .favorite
        }
    }
}

/// The actions by everything that the network may know them by.
private struct ActionIndex {
    private struct Target: Hashable {
        var kind: ActionKind
        var post: String
    }

    private var byRemoteID: [String: [Action]] = [:]
    private var byTarget: [Target: Action] = [:]
    private var byKey: [String: Action] = [:]
    private var byText: [String: [Action]] = [:]

    init(_ actions: [Action], _ rules: AuditRules) {
        for action in actions {
            if let target = action.target?.post {
                byTarget[Target(kind: action.kind, post: target)] = action
                // A request may name the post by its number alone, which every identity ends with.
                byTarget[Target(kind: action.kind, post: Self.tail(of: target))] = action
            }
            guard action.kind != .favorite else { continue }
            if let remote = action.remoteID { byRemoteID[remote, default: []].append(action) }
            if let key = rules.key(of: action) { byKey[key] = action }
            if action.kind == .post, let text = action.text {
                byText[text, default: []].append(action)
            }
        }
    }

    func owner(of thing: NetworkThing) -> Action? {
        if let target = thing.target { return about(target, thing.kind) }
        let named = thing.key.flatMap { byKey[$0] }
        let known = byRemoteID[thing.identity] ?? []
        if let named, known.isEmpty || known.contains(where: { $0.id == named.id }) { return named }
        return known.first ?? sender(of: thing)
    }

    private func about(_ target: String, _ kind: ActionKind) -> Action? {
        if let action = byTarget[Target(kind: kind, post: target)] { return action }
        let key = Int64(target).map(SandboxIdentity.recordKey)
        return key.flatMap { byTarget[Target(kind: kind, post: $0)] }
    }

    /// The action that had begun to send this text last before it arrived; any with the text if
    /// none had.
    private func sender(of thing: NetworkThing) -> Action? {
        let candidates = thing.text.flatMap { byText[$0] } ?? []
        let begun = candidates.filter { ($0.sending ?? .distantFuture) <= thing.date }
        return begun.max { ($0.sending ?? .distantPast) < ($1.sending ?? .distantPast) }
            ?? candidates.min {
                abs($0.due.timeIntervalSince(thing.date))
                    < abs($1.due.timeIntervalSince(thing.date))
            }
    }

    private static func tail(of identity: String) -> String {
        identity.split(separator: "/").last.map(String.init) ?? identity
    }
}
