import Control
import Mirroring
import Sandbox

/// Draws what goes wrong in an episode.
///
/// The kinds take turns, so that none is left out of a run; their figures and their times are the
/// episode's own choice.
struct FaultChoice {
    private let filter: EpisodeFilter
    private var network: Deck<NetworkFault.Kind>
    private var store: Deck<StoreFault.Kind>
    /// How late a server acts at most on a request that was cut, in seconds.
    private let latest: Int

    /// - Parameter keepsKeys: Whether the server recognises a request that is made again. Where it
    ///   does not, nothing is promised if it acts after the look for the first one.
    init(filter: EpisodeFilter, store: TortureStore, keepsKeys: Bool, seed: UInt64) {
        self.filter = filter
        latest = keepsKeys ? 600 : 60
        network = Deck(
            NetworkFault.Kind.allCases.flatMap { kind in Array(repeating: kind, count: kind.turns)
            }, seed: seed ^ 1)
        self.store = Deck(StoreFault.Kind.all(on: store), seed: seed ^ 2)
    }

    /// Everything that happens in a run of many episodes, by name.
    static func kinds(on store: TortureStore) -> Set<String> {
        Set(
            NetworkFault.Kind.allCases.map(\.rawValue)
                + StoreFault.Kind.all(on: store).map(\.rawValue)
                + LongFault.all(on: store).map(\.rawValue) + ClockJump.Kind.allCases.map(\.rawValue)
                + Lack.allCases.map(\.rawValue))
    }

    /// The faults of the network, none in about half of the episodes.
    mutating func networkFaults(
        of shape: EpisodeShape, _ generator: inout SampleGenerator
    ) -> [TimedNetworkFault] {
        if !filter.networkFaults.isEmpty { return confined(&generator) }
        let companions = companions(of: shape, &generator)
        guard companions.isEmpty else { return companions }
        guard generator.chance(0.5) else { return [] }
        return (0..<generator.number(in: 1...3)).compactMap { _ in
            network.draw().map { kind in
                TimedNetworkFault(
                    fault: fault(kind, &generator), after: generator.number(in: 0...1.2),
                    hitsWritesOnly: generator.chance(0.6))
            }
        }
    }

    /// A fault of what the workers store in.
    mutating func storeFault(_ generator: inout SampleGenerator) -> TimedStoreFault? {
        store.draw().map { kind in
            TimedStoreFault(fault: fault(kind, &generator), after: generator.number(in: 0...1.2))
        }
    }

    /// A worker's clock that is set in its first second.
    func clockJump(_ kind: ClockJump.Kind, _ generator: inout SampleGenerator) -> ClockJump {
        // A day ahead comes so rarely that it must be noticed.
        let shortest = kind == .dayAhead ? 1.2 : 0.3
        return ClockJump(
            kind: kind, after: generator.number(in: 0...1.2),
            lasting: generator.chance(0.5) ? generator.number(in: shortest...1.8) : nil)
    }

    /// What a run is confined to, from the beginning on.
    private func confined(_ generator: inout SampleGenerator) -> [TimedNetworkFault] {
        (0..<2).compactMap { _ in
            generator.element(of: filter.networkFaults).map { kind in
                TimedNetworkFault(fault: fault(kind, &generator), after: 0, hitsWritesOnly: true)
            }
        }
    }

    /// What must go wrong at the network for a worker to come to a point.
    private func companions(of shape: EpisodeShape, _ generator: inout SampleGenerator)
        -> [TimedNetworkFault]
    {
        let kinds: [NetworkFault.Kind]
        switch shape {
        case .killedAt(let point, _), .frozen(let point, _, _, _):
            switch point.name {
            case "delivery.looked-up":
                kinds = [.dropAnswer, .dropRequest, .resetAnswer, .truncateAnswer]
            case "delivery.resend-stored": kinds = [.dropRequest, .resetRequest]
            default: return []
            }
        default: return []
        }
        return (0..<2).compactMap { _ in
            generator.element(of: kinds).map { kind in
                TimedNetworkFault(fault: fault(kind, &generator), after: 0, hitsWritesOnly: true)
            }
        }
    }

    private func fault(_ kind: NetworkFault.Kind, _ generator: inout SampleGenerator)
        -> NetworkFault
    {
        switch kind {
        case .dropRequest: .dropRequest
        case .dropAnswer: .dropAnswer
        case .resetRequest: .resetRequest
        case .resetAnswer: .resetAnswer
        case .truncateAnswer: .truncateAnswer
        case .drip: .drip
        case .endlessAnswer: .endlessAnswer
        case .hang: .hang
        case .actLate: .actLate(after: generator.number(in: 5...latest))
        case .page: .page(status: generator.chance(0.5) ? 200 : 502)
        case .tooMany: .tooMany(saysWhen: generator.chance(0.5))
        case .unavailable: .unavailable(times: generator.number(in: 1...25))
        case .unauthorized: .unauthorized
        case .vanish: .vanish(seconds: generator.number(in: 0.1...1.5))
        case .refusedChecks:
            .refusedChecks(
                deaf: generator.number(in: 1...3), times: generator.number(in: 2...30),
                way: generator.number(in: 0...2)
            )
        }
    }

    private func fault(_ kind: StoreFault.Kind, _ generator: inout SampleGenerator) -> StoreFault {
        switch kind {
        case .lockFile: .lockFile(seconds: generator.number(in: 0.1...2))
        case .fillDisk:
            .fillDisk(
                limit: generator.chance(0.5) ? 0 : UInt64(generator.number(in: 1...100)) * 4_096,
                seconds: generator.number(in: 0.2...1.5))
        case .restartPostgres: .restartPostgres
        case .crashPostgres: .crashPostgres
        case .terminateBackends: .terminateBackends
        case .readOnly: .readOnly(seconds: generator.number(in: 0.2...1.2))
        case .fillPostgres: .fillPostgres(seconds: generator.number(in: 0.2...1.2))
        case .failSerialization: .failSerialization(seconds: generator.number(in: 0.5...2))
        case .failOver: .failOver
        case .restartRedis: .restartRedis
        case .flushRedis: .flushRedis
        case .dropRedisClients: .dropRedisClients
        case .stopRedis: .stopRedis(episodes: generator.number(in: 1...4))
        case .replaceMaster: .replaceMaster
        case .moveSlot: .moveSlot
        }
    }
}
