import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox

/// The episodes of a run, one after the other, all from its seed.
///
/// Each episode has a generator of its own, so that one more choice in one kind of episode does not
/// change the others. The fault points take turns, in another order every round.
struct EpisodeSchedule {
    /// How far a worker's clock may be from the network's, in seconds of its own.
    static let longestSkew = 120.0
    private static let calmSeconds = 4.0...6.0
    /// How many quiet episodes may follow each other.
    private static let quietInARow = 4
    /// After how many drawn episodes something is wrong for an hour again.
    private static let enduredEvery = 50
    /// A day that was lost leaves no posts to lose for a day of the mirror's clock, so it is lost
    /// rarely, and late.
    private static let dayAheadEvery = 600
    private static let dayAheadPlaces = 101...124
    /// In how many of the drawn episodes people say something besides what the script has them say.
    private static let outcryShare = 0.35

    private let network: NetworkName
    private let seed: UInt64
    private let filter: EpisodeFilter
    private let hour: Double
    private let dayAheadPlace: Int
    private var faults: FaultChoice
    private var longFaults: Deck<LongFault>
    private var points: Deck<FaultPoint>
    private var outcries: Deck<Outcry.Kind>
    /// How many episodes there were, and how many of them were drawn.
    private var number = 0
    private var drawn = 0
    private var quiet = 0

    /// - Parameters:
    ///   - network: Where the bot is.
    ///   - keepsKeys: Whether the server recognises a request that is made again.
    ///   - store: Where it stores.
    ///   - seed: Decides everything.
    ///   - hour: How many real seconds an hour of the workers' clocks takes.
    ///   - filter: What the run is confined to.
    ///   - hasPerson: Whether somebody wants things taken back meanwhile.
    init(
        network: NetworkName, keepsKeys: Bool = true, store: TortureStore, seed: UInt64,
        hour: Double = 30,
        filter: EpisodeFilter = EpisodeFilter(), hasPerson: Bool = false
    ) {
        self.network = network
        self.seed = seed
        self.hour = hour
        self.filter = filter
        faults = FaultChoice(filter: filter, store: store, keepsKeys: keepsKeys, seed: seed)
        longFaults = Deck(LongFault.all(on: store), seed: seed ^ 3)
        points = Deck(
            filter.points.isEmpty ? Self.points(on: network, hasPerson: hasPerson) : filter.points,
            seed: seed)
        let outcries = filter.outcries.isEmpty ? Outcry.Kind.all(on: network) : filter.outcries
        self.outcries = Deck(
            outcries.flatMap { kind in Array(repeating: kind, count: kind.turns) }, seed: seed ^ 5)
        var generator = SampleGenerator(seed: seed ^ 4)
        dayAheadPlace = generator.number(in: Self.dayAheadPlaces)
    }

    /// The next episode that the seed decides.
    mutating func next() -> EpisodePlan {
        number = number + 1
        drawn = drawn + 1
        quiet = 0
        var generator = SampleGenerator(seed: seed &+ UInt64(drawn) &* 0x9E6C_63D0_876A_68EF)
        let kind = kind(&generator)
        var plan = EpisodePlan(number: number, shape: shape(of: kind, &generator))
        plan.skews = (0..<2).map { _ in Self.skew(&generator) }
        plan.publishesRepeats = !generator.chance(0.25)
        switch kind {
        case .calm where !filter.networkFaults.isEmpty:
            plan.networkFaults = faults.networkFaults(of: plan.shape, &generator)
        case .calm, .fenced, .endured: break
        case .dayAhead: plan.clockJump = faults.clockJump(.dayAhead, &generator)
        case .killed, .killedAt, .terminated, .overlapped, .frozen:
            plan.networkFaults = faults.networkFaults(of: plan.shape, &generator)
            if filter.isEmpty { addTroubles(to: &plan, &generator) }
        }
        plan.outcries = outcries(kind)
        return plan
    }

    /// What people say in the episode that was drawn last.
    private mutating func outcries(_ kind: EpisodeKind) -> [Outcry] {
        var generator = SampleGenerator(
            seed: seed ^ 0x6F75_7463_7279 &+ UInt64(drawn) &* 0x9E6C_63D0_876A_68EF)
        func outcry(_ kind: Outcry.Kind, _ after: Double) -> Outcry {
            Outcry(kind: kind, after: after, seed: generator.next())
        }
        guard filter.isEmpty else {
            guard !filter.outcries.isEmpty, let kind = outcries.draw() else { return [] }
            return [outcry(kind, kind.isFirst ? 0 : generator.number(in: 0.3...1))]
        }
        // The first worker cannot read what is said while it starts.
        if drawn <= Self.planPoints.count {
            return [outcry(.burstWhileUnavailable, drawn == 1 ? 0.9 : 0.2)]
        }
        switch kind {
        case .calm, .fenced, .dayAhead: return []
        case .endured: return [outcry(.burst, 1.5 + hour / 2)]
        case .killed, .killedAt, .terminated, .overlapped, .frozen:
            guard generator.chance(Self.outcryShare), let kind = outcries.draw() else { return [] }
            return [outcry(kind, kind.isFirst ? 0 : generator.number(in: 0.1...1.2))]
        }
    }

    /// What goes wrong with the store, the clock and the dictionary.
    private mutating func addTroubles(
        to plan: inout EpisodePlan, _ generator: inout SampleGenerator
    ) {
        if generator.chance(0.25) { plan.storeFault = faults.storeFault(&generator) }
        // The first day is planned at its own time.
        guard drawn > Self.planPoints.count else { return }
        if generator.chance(0.06) { plan.clockJump = faults.clockJump(.hourBack, &generator) }
        if generator.chance(0.05) { plan.lack = .dictionary }
    }

    /// An episode in between in which nothing goes wrong; after several of them, or where it would
    /// be in the way, the next that the seed decides.
    mutating func nextQuiet() -> EpisodePlan {
        guard filter.isEmpty, drawn >= Self.planPoints.count, quiet < Self.quietInARow else {
            return next()
        }
        number = number + 1
        quiet = quiet + 1
        return EpisodePlan(number: number, shape: .terminated(after: Self.calmSeconds.lowerBound))
    }

    // MARK: Shapes

    private func kind(_ generator: inout SampleGenerator) -> EpisodeKind {
        if filter.isEmpty {
            if drawn % Self.dayAheadEvery == dayAheadPlace { return .dayAhead }
            if drawn % Self.enduredEvery == Self.enduredEvery / 2 { return .endured }
        }
        let kinds =
            filter.kinds.isEmpty
            ? EpisodeKind.allCases.map { ($0, $0.weight) } : filter.kinds.map { ($0, 1) }
        return generator.choice(kinds, otherwise: .killed)
    }

    private mutating func shape(of kind: EpisodeKind, _ generator: inout SampleGenerator)
        -> EpisodeShape
    {
        // A run's first day has no plan yet: the one time that is certain to pass these points.
        if filter.isEmpty, drawn <= Self.planPoints.count {
            return .killedAt(Self.planPoints[drawn - 1], passing: 1)
        }
        switch kind {
        case .killed: return .killed(after: Self.life(&generator))
        case .calm: return .killed(after: generator.number(in: Self.calmSeconds))
        case .dayAhead: return .killed(after: generator.number(in: 3.0...4.5))
        case .endured:
            return .endured(
                longFaults.draw() ?? .errors, after: generator.number(in: 1...1.5), seconds: hour)
        case .terminated: return .terminated(after: Self.life(&generator))
        case .fenced: return .fenced
        case .killedAt:
            guard let point = points.draw() else { return .killed(after: Self.life(&generator)) }
            return .killedAt(point, passing: Self.passing(of: point, &generator))
        case .overlapped:
            return .overlapped(
                first: generator.number(in: 1.0...2), isKilled: generator.chance(0.5),
                second: generator.number(in: 0.8...1.8))
        case .frozen:
            let points = filter.points.isEmpty ? Self.freezing(on: network) : filter.points
            let point = generator.element(of: points) ?? points[0]
            return .frozen(
                point, passing: Self.passing(of: point, &generator),
                meanwhile: generator.number(in: 0.9...2.5),
                after: generator.number(in: 0.2...1))
        }
    }

    /// Mostly long enough to have the lease and to work, sometimes so short that it has not even
    /// begun.
    private static func life(_ generator: inout SampleGenerator) -> Double {
        generator.chance(0.2) ? generator.number(in: 0.02...0.9) : generator.number(in: 0.9...2.2)
    }

    private static func skew(_ generator: inout SampleGenerator) -> Double {
        generator.chance(0.3) ? generator.number(in: -longestSkew...longestSkew) : 0
    }

    // MARK: Fault points

    /// A day's plan is drawn once.
    static let planPoints = FaultPoint.all.filter { $0.name.hasPrefix("plan.") }

    /// Where being held for some time may do harm.
    private static func freezing(on network: NetworkName) -> [FaultPoint] {
        points(on: network).filter { point in
            point.name.hasPrefix("delivery.")
                || ["mention.decided", "cursor.stored"].contains(point.name)
        }
    }

    /// The points that a worker on this network can come to at any time.
    static func points(on network: NetworkName, hasPerson: Bool = false) -> [FaultPoint] {
        FaultPoint.all.filter { point in
            if planPoints.contains(point) { return false }
            if point.name.hasPrefix("undo."), !hasPerson { return false }
            // The human's posts here have no pictures.
            if point.name.hasPrefix("upload.") { return false }
            // X is never sent a text again.
            return network != .x || point.name != "delivery.resend-stored"
        }
    }

    /// Which time the point is passed counts: what happens often sometimes counts later.
    private static func passing(of point: FaultPoint, _ generator: inout SampleGenerator) -> Int {
        switch point.name {
        case "cursor.stored": generator.number(in: 1...4)
        case let name where name.hasPrefix("delivery."): generator.chance(0.15) ? 2 : 1
        default: 1
        }
    }
}
