import Daemon
import Foundation
import Posts
import Sandbox

/// The episodes of a run, one after the other, all from its seed.
///
/// Each episode has a generator of its own, so that one more choice in one kind of episode does not change the others. The
/// fault points take turns, in another order every round.
struct EpisodeSchedule {
    /// How far a worker's clock may be from the network's, in seconds of its own.
    static let longestSkew = 120.0
    private static let calmSeconds = 4.0...6.0
    /// How many quiet episodes may follow each other.
    private static let quietInARow = 4

    private let network: NetworkName
    private let store: TortureStore
    private let seed: UInt64
    private let filter: EpisodeFilter
    private var round: SampleGenerator
    /// How many episodes there were, and how many of them were drawn.
    private var number = 0
    private var drawn = 0
    private var quiet = 0
    private var points: [FaultPoint] = []

    init(network: NetworkName, store: TortureStore, seed: UInt64, filter: EpisodeFilter = EpisodeFilter()) {
        (self.network, self.store, self.seed, self.filter) = (network, store, seed, filter)
        round = SampleGenerator(seed: seed)
    }

    /// The next episode that the seed decides.
    mutating func next() -> EpisodePlan {
        (number, drawn, quiet) = (number + 1, drawn + 1, 0)
        var generator = SampleGenerator(seed: seed &+ UInt64(drawn) &* 0x9E6C_63D0_876A_68EF)
        let kind = kind(&generator)
        var plan = EpisodePlan(number: number, shape: shape(of: kind, &generator))
        plan.skews = (0..<2).map { _ in Self.skew(&generator) }
        plan.publishesRepeats = !generator.chance(0.25)
        if kind != .calm, kind != .fenced {
            plan.networkFaults = FaultChoice(filter: filter).networkFaults(of: plan.shape, &generator)
            if filter.isEmpty, generator.chance(0.2) {
                plan.storeFault = FaultChoice(filter: filter).storeFault(of: store, &generator)
            }
        }
        return plan
    }

    /// An episode in between in which nothing goes wrong; after several of them, or where it would be in the way, the
    /// next that the seed decides.
    mutating func nextQuiet() -> EpisodePlan {
        guard filter.isEmpty, drawn >= Self.planPoints.count, quiet < Self.quietInARow else { return next() }
        (number, quiet) = (number + 1, quiet + 1)
        return EpisodePlan(number: number, shape: .terminated(after: Self.calmSeconds.lowerBound))
    }

    // MARK: Shapes

    private func kind(_ generator: inout SampleGenerator) -> EpisodeKind {
        let kinds = filter.kinds.isEmpty ? EpisodeKind.allCases : filter.kinds
        return generator.choice(kinds.map { ($0, $0.weight) }, otherwise: .killed)
    }

    private mutating func shape(of kind: EpisodeKind, _ generator: inout SampleGenerator) -> EpisodeShape {
        // A run's first day has no plan yet: the one time that is certain to pass these points.
        if filter.isEmpty, drawn <= Self.planPoints.count {
            return .killedAt(Self.planPoints[drawn - 1], passing: 1)
        }
        switch kind {
        case .killed: return .killed(after: Self.life(&generator))
        case .calm: return .killed(after: generator.number(in: Self.calmSeconds))
        case .terminated: return .terminated(after: Self.life(&generator))
        case .fenced: return .fenced
        case .killedAt:
            let point = nextPoint()
            return .killedAt(point, passing: Self.passing(of: point, &generator))
        case .overlapped:
            return .overlapped(
                first: generator.number(in: 1.0...2), isKilled: generator.chance(0.5),
                second: generator.number(in: 0.8...1.8))
        case .frozen:
            let points = filter.points.isEmpty ? Self.freezing(on: network) : filter.points
            let point = generator.element(of: points) ?? points[0]
            return .frozen(
                point, passing: Self.passing(of: point, &generator), meanwhile: generator.number(in: 0.9...2.5),
                after: generator.number(in: 0.2...1))
        }
    }

    /// Mostly long enough to have the lease and to work, sometimes so short that it has not even begun.
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
            point.name.hasPrefix("delivery.") || ["mention.decided", "cursor.stored"].contains(point.name)
        }
    }

    /// The points that a worker on this network can come to at any time.
    static func points(on network: NetworkName) -> [FaultPoint] {
        FaultPoint.all.filter { point in
            if planPoints.contains(point) { return false }
            // X is never sent a text again.
            return network != .x || point.name != "delivery.resend-stored"
        }
    }

    private mutating func nextPoint() -> FaultPoint {
        if points.isEmpty { points = round.shuffled(filter.points.isEmpty ? Self.points(on: network) : filter.points) }
        return points.removeLast()
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
