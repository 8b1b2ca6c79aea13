import Foundation
import Networks
import Posts

@testable import Outbox
@testable import Sandbox
@testable import Torture

/// The ledgers of a run, written by hand: everything that is added agrees in all three until a test
/// changes it.
struct AuditRun {
    static let friend = "friend@sandbox.example"
    /// Midnight in the mirror's zone; the mirror starts here, and the run lasts one day.
    static let start = Date(milliseconds: 1_795_564_800_000)
    static let patience: TimeInterval = 120

    let network: NetworkName
    var input: AuditInput
    private var lastNumber: Int64 = 0

    init(_ network: NetworkName) {
        self.network = network
        input = AuditInput(
            rules: AuditRules(network), zone: .gmt, activated: Self.start, now: Self.start + 86_400,
            plans: [],
            slots: [:], actions: [], ledger: SandboxLedger(), kills: 0, cutAnswers: 0,
            patience: Self.patience)
        input.plans = [StoredPlan(day: Self.day, timeZone: "GMT", seed: "1", made: Self.start)]
        input.slots = [Self.day: 0]
    }

    static var day: LocalDay { LocalTime(start, in: .gmt).day }

    var report: AuditReport { audit(input) }

    var ledger: SandboxLedger {
        get { input.ledger }
        set { input.ledger = newValue }
    }

    // MARK: Actions that agree everywhere

    /// A slot of the plan, published on the minute.
    @discardableResult
    mutating func post(hour: Double, text: String? = nil) -> Int {
        let slot = (input.slots[Self.day] ?? 0) + 1
        input.slots[Self.day] = slot
        let due = Self.start + hour * 3_600
        let payload = Action.Payload.post(
            Slot.Name(day: Self.day, number: slot),
            Self.wording(text ?? "post \(slot)", on: network))
        return deliver(action(payload, due: due, expires: due + 900))
    }

    /// A mention by a friend, answered a minute later.
    @discardableResult
    mutating func answer(hour: Double, by handle: String = Self.friend, text: String? = nil) -> Int
    {
        let mention = mention(hour: hour, by: handle)
        let target = Action.Target(
            post: mention.identity, author: SandboxIdentity.account(handle, on: network),
            address: mention.id)
        let reply = Action.Reply(
            to: target, thread: mention.identity,
            wording: Self.wording(text ?? "answer to \(mention.id)", on: network))
        return deliver(
            action(.reply(reply), due: mention.date + 60, expires: mention.date + 86_400),
            target: mention.id)
    }

    /// A favorite, given at once.
    @discardableResult
    mutating func favorite(hour: Double) -> Int {
        let number = next()
        let identity = identity(number, by: Self.friend)
        let due = Self.start + hour * 3_600
        let target = Action.Target(
            post: identity, author: SandboxIdentity.account(Self.friend, on: network),
            address: String(number))
        return deliver(
            action(.favorite(target), due: due, expires: due + 6 * 3_600), target: String(number))
    }

    @discardableResult
    mutating func mention(
        hour: Double, by handle: String = Self.friend, kind: SandboxMention.Kind = .friend,
        burden: SandboxBurden? = nil, notice: SandboxNotice = .atOnce, below parent: String? = nil
    ) -> SandboxLedger.Mention {
        let number = next()
        let mention = SandboxLedger.Mention(
            id: String(number), identity: identity(number, by: handle), handle: handle, kind: kind,
            date: Self.start + hour * 3_600, deservesReply: kind == .friend, burden: burden,
            notice: notice,
            notification: notice == .never ? nil : "n\(number)", parent: parent)
        ledger.mentions.append(mention)
        return mention
    }

    // MARK: What went otherwise

    subscript(index: Int) -> Action {
        get { input.actions[index] }
        set { input.actions[index] = newValue }
    }

    /// The network has nothing of the action and no request for it.
    mutating func unsend(_ index: Int) {
        let action = self[index]
        ledger.writes.removeAll { $0.key == action.key || $0.text == action.text && $0.text != nil }
        ledger.deliveries.removeAll { $0.text == action.text }
        ledger.favorites.removeAll { $0.identity == action.target?.post }
        if action.kind == .favorite {
            ledger.writes.removeAll { $0.target.map { action.subject.hasSuffix($0) } ?? false }
        }
        self[index].remoteID = nil
        self[index].sending = nil
        self[index].attempts = 0
    }

    /// The action ended in this state, and the network has nothing of it.
    mutating func end(_ index: Int, as state: ActionState, reason: ReasonCode? = nil) {
        unsend(index)
        self[index].state = state
        self[index].reason = reason
    }

    /// The action was given up, and the network has nothing of it.
    mutating func giveUp(_ index: Int) {
        end(index, as: .failed, reason: .outbox(.unconfirmed))
        self[index].sending = self[index].due
        self[index].attempts = 1
        self[index].sends = 1
    }

    /// The bot took away what the network had of the action.
    mutating func remove(_ index: Int) {
        let action = self[index]
        let id =
            ledger.deliveries.first { $0.identity == action.remoteID }?.id
            ?? ledger.favorites.first { $0.identity == action.target?.post }?.postID
        ledger.removals.append(
            SandboxLedger.Removal(
                kind: action.kind == .favorite ? .favorite : .post, postID: id ?? "",
                date: action.due + 60))
    }

    /// The network has one thing more for the action, under another key.
    mutating func sendAgain(_ index: Int, after seconds: TimeInterval, key: String = "another") {
        let first = ledger.writes.first { $0.text == self[index].text }
        deliver(self[index], target: first?.target, at: self[index].due + seconds, key: key)
    }

    /// A request for the action that made nothing.
    mutating func request(
        _ index: Int, after seconds: TimeInterval, effect: SandboxLedger.Write.Effect = .notActed,
        isAnswered: Bool = true, status: Int? = nil, fault: SandboxFault? = nil
    ) {
        let action = self[index]
        ledger.writes.append(
            SandboxLedger.Write(
                arrived: action.due + seconds, date: action.due + seconds, kind: .init(action.kind),
                key: input.rules.key(of: action),
                text: action.text, target: action.target?.address, postID: nil, effect: effect,
                isAnswered: isAnswered,
                status: status, fault: fault))
    }

    mutating func disturb(_ cause: Disturbance.Cause = .noWorker, hours: ClosedRange<Double>) {
        input.disturbances.append(
            Disturbance(
                cause: cause,
                interval: DateInterval(
                    start: Self.start + hours.lowerBound * 3_600,
                    end: Self.start + hours.upperBound * 3_600)))
    }

    // MARK: Hearing

    /// The mirror keeps a note about an item, and `status` counts it.
    mutating func note(_ name: String, _ state: Hearing.Item.State, reason: String = "unavailable")
    {
        input.hearing.items.append(Hearing.Item(name: name, state: state, reason: reason))
        if state == .unreadable { feed.unreadable += 1 }
        if state == .waiting { feed.waiting += 1 }
        if state == .givenUp { feed.givenUp = (feed.givenUp ?? 0) + 1 }
    }

    /// What `status` shows about who mentions the bot.
    var feed: Hearing.Feed {
        get { input.hearing.mentions ?? Hearing.Feed(feed: Hearing.mentions) }
        set { input.hearing.feeds = [newValue] }
    }

    /// The network does not give out an object, from the beginning of the run on.
    mutating func refuse(
        _ object: SandboxRefusals.Object, _ name: String,
        _ answer: SandboxRefusals.Answer = .forbidden,
        hours: Double? = nil
    ) {
        ledger.refusedObjects.append(
            SandboxLedger.RefusedObject(
                object: object, name: name, answer: answer, since: Self.start,
                until: hours.map { Self.start + $0 * 3_600 }))
    }

    /// The mention of an answer becomes hard to take in.
    mutating func burden(_ index: Int, with burden: SandboxBurden) {
        guard
            let place = ledger.mentions.firstIndex(where: {
                $0.identity == self[index].target?.post
            })
        else { return }
        ledger.mentions[place].burden = burden
    }

    // MARK: Parts

    private mutating func next() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    private func identity(_ number: Int64, by handle: String) -> String {
        SandboxIdentity.post(number, by: handle, on: network).value
    }

    private func action(_ payload: Action.Payload, due: Date, expires: Date) -> Action {
        Action(Intent(payload, due: due, expires: expires), of: "test", at: due)
    }

    static func wording(_ text: String, on network: NetworkName) -> Action.Wording {
        Action.Wording(
            source: PostID(network: network, value: "old"), text: text, visibility: .unlisted)
    }

    private mutating func deliver(_ action: Action, target: String? = nil) -> Int {
        var done = action
        done.state = .done
        done.sending = action.due
        done.attempts = 1
        done.sends = 1
        let key = input.rules.key(of: done)
        done.remoteID = deliver(done, target: target, at: action.due + 1, key: key)
        input.actions.append(done)
        return input.actions.count - 1
    }

    /// The network makes the thing that an action asks for, and writes down the request.
    @discardableResult
    private mutating func deliver(_ action: Action, target: String?, at date: Date, key: String?)
        -> String
    {
        var id = target ?? ""
        var identity = action.target?.post ?? ""
        if action.kind == .favorite {
            ledger.favorites.append(
                SandboxLedger.Favorite(
                    postID: id, identity: identity, author: Self.friend, date: date, isLoved: true))
        } else {
            let number = next()
            id = String(number)
            identity = self.identity(number, by: "bot@sandbox.example")
            ledger.deliveries.append(
                SandboxLedger.Delivery(
                    id: id, identity: identity, text: action.text ?? "", replyTo: target,
                    isHeard: true, date: date,
                    visibility: .public, idempotencyKey: key, mentioned: []))
        }
        ledger.writes.append(
            SandboxLedger.Write(
                arrived: date, date: date, kind: .init(action.kind), key: key, text: action.text,
                target: target,
                postID: id,
                effect: .created, isAnswered: true, status: 200, fault: nil))
        return identity
    }
}

extension SandboxLedger.Write.Kind {
    fileprivate init(_ kind: ActionKind) {
        switch kind {
        case .post: self = .post
        case .reply: self = .reply
        case .favorite: self = .favorite
        }
    }
}
