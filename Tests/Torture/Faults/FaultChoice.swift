import Daemon
import Sandbox

/// Draws what goes wrong in an episode.
struct FaultChoice {
    let filter: EpisodeFilter

    /// The faults of the network, none in about half of the episodes.
    func networkFaults(of shape: EpisodeShape, _ generator: inout SampleGenerator) -> [TimedNetworkFault] {
        if !filter.networkFaults.isEmpty { return confined(&generator) }
        let companions = companions(of: shape, &generator)
        guard companions.isEmpty else { return companions }
        guard generator.chance(0.5) else { return [] }
        let kinds = NetworkFault.Kind.allCases.map { ($0, $0.weight) }
        return (0..<generator.number(in: 1...3)).map { _ in
            let kind = generator.choice(kinds, otherwise: .dropAnswer)
            return TimedNetworkFault(
                fault: fault(kind, &generator), after: generator.number(in: 0...1.5),
                hitsWritesOnly: generator.chance(0.75))
        }
    }

    /// A fault of what the workers store in.
    func storeFault(of store: TortureStore, _ generator: inout SampleGenerator) -> TimedStoreFault {
        let faults: [StoreFault] =
            switch store {
            case .sqlite: [.lockFile(seconds: generator.number(in: 0.1...2))]
            case .postgres:
                [
                    .restartPostgres, .crashPostgres, .terminateBackends, .terminateBackends,
                    .readOnly(seconds: generator.number(in: 0.2...1.2)), .restartRedis, .flushRedis,
                    .dropRedisClients, .stopRedis(episodes: generator.number(in: 1...4)),
                ]
            }
        return TimedStoreFault(
            fault: generator.element(of: faults) ?? .flushRedis, after: generator.number(in: 0...1.5))
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
    private func companions(of shape: EpisodeShape, _ generator: inout SampleGenerator) -> [TimedNetworkFault] {
        let kinds: [NetworkFault.Kind]
        switch shape {
        case .killedAt(let point, _), .frozen(let point, _, _, _):
            switch point.name {
            case "delivery.looked-up": kinds = [.dropAnswer, .dropRequest, .resetAnswer, .truncateAnswer]
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

    private func fault(_ kind: NetworkFault.Kind, _ generator: inout SampleGenerator) -> NetworkFault {
        switch kind {
        case .dropRequest: .dropRequest
        case .dropAnswer: .dropAnswer
        case .resetRequest: .resetRequest
        case .resetAnswer: .resetAnswer
        case .truncateAnswer: .truncateAnswer
        case .drip: .drip
        case .endlessAnswer: .endlessAnswer
        case .hang: .hang
        case .actLate: .actLate(after: generator.number(in: 5...600))
        case .page: .page(status: generator.chance(0.5) ? 200 : 502)
        case .tooMany: .tooMany(saysWhen: generator.chance(0.5))
        case .unavailable: .unavailable(times: generator.number(in: 1...25))
        case .unauthorized: .unauthorized
        case .vanish: .vanish(seconds: generator.number(in: 0.1...1.5))
        }
    }
}
