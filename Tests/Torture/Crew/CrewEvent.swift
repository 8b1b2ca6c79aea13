import Sandbox

/// Something that happens to a crew of workers or to what it stores in.
struct CrewEvent: Equatable, Sendable {
    enum Kind: String, CaseIterable, Codable, Sendable {
        /// A worker dies by `SIGKILL`, and is started again.
        case kill
        /// A worker is held for less than its lease lasts.
        case stopShort = "stop-short"
        /// A worker is held for longer than its lease lasts.
        case stopLong = "stop-long"
        /// One worker more is started.
        case join
        /// A worker is asked to end, and does not come back.
        case leave
        /// The primary of the database is lost, and its standby takes over.
        case crashPrimary = "crash-primary"
        /// The two servers of the database change places in order.
        case switchOver = "switch-over"
        /// A master of the Redis Cluster dies, and its replica is elected.
        case killMaster = "kill-master"
        /// The slots of some mirrors move to another master.
        case moveSlots = "move-slots"
        /// One of the two poolers dies and comes back.
        case restartPooler = "restart-pooler"
        /// The network refuses the bot of one mirror from now on.
        case refuseLogin = "refuse-login"

        /// How often it has its turn while all have theirs.
        var turns: Int {
            switch self {
            case .kill: 24
            case .stopShort, .stopLong, .join, .leave, .moveSlots, .restartPooler: 3
            case .crashPrimary, .killMaster: 2
            case .switchOver: 1
            case .refuseLogin: 0
            }
        }

        /// Those that happen besides others, one after the other within a lane.
        var lane: Lane? {
            switch self {
            case .crashPrimary, .switchOver: .database
            case .killMaster, .moveSlots: .counts
            case .restartPooler: .poolers
            case .kill, .stopShort, .stopLong, .join, .leave, .refuseLogin: nil
            }
        }
    }

    /// Where something goes on that takes longer than until the next event.
    enum Lane: CaseIterable, Sendable {
        case database, counts, poolers
    }

    var kind: Kind
    /// Real seconds after the event before.
    var after: Double
    /// Which worker, mirror or server: taken modulo their number.
    var place: Int
    /// What it is long by: a share of what its kind allows.
    var share: Double
}

/// The events of a run, one after the other, all from its seed.
struct CrewSchedule {
    private static let pause = 0.8...3.2
    /// After how many events the login of one mirror is refused.
    private static let refusalPlace = 20

    private var deck: Deck<CrewEvent.Kind>
    private let seed: UInt64
    private let refusesLogin: Bool
    private var number = 0

    /// - Parameters:
    ///   - seed: Decides everything.
    ///   - mode: Where a mirror shares its process with others, one mirror's login is refused.
    ///   - only: The kinds that happen besides kills; empty for all.
    init(seed: UInt64, mode: CrewMode, only: Set<CrewEvent.Kind> = []) {
        self.seed = seed
        let kinds = CrewEvent.Kind.allCases.filter {
            $0 == .kill || only.isEmpty || only.contains($0)
        }
        deck = Deck(kinds.flatMap { kind in Array(repeating: kind, count: kind.turns) }, seed: seed)
        refusesLogin = mode == .all && kinds.contains(.refuseLogin)
    }

    /// The next event.
    mutating func next() -> CrewEvent {
        number += 1
        // Each has a generator of its own, so that one more choice in one does not change the
        // others.
        var generator = SampleGenerator(seed: seed &+ UInt64(number) &* 0x9E6C_63D0_876A_68EF)
        let isRefusal = refusesLogin && number == Self.refusalPlace
        return CrewEvent(
            kind: isRefusal ? .refuseLogin : deck.draw() ?? .kill,
            after: generator.number(in: Self.pause),
            place: generator.number(below: 1_000_000), share: generator.uniform())
    }
}
