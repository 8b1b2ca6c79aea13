import Foundation
import Posts

/// What a run found out.
struct TortureReport: Sendable {
    private let settings: TortureSettings
    /// Workers that died by `SIGKILL`.
    private(set) var kills = 0
    private(set) var episodes = 0
    /// How often each kind of fault was met by a request, or befell a store or a worker.
    var faultKinds: [String: Int] = [:]
    /// How many counts in Redis were compared with the examples in the end.
    var counts = 0
    /// How many commands of a person did what they were asked, by name.
    var interferences: [String: Int] = [:]
    /// When the clock of a worker was wrong by more than it may differ anyway.
    var wrongClocks: [WrongClock] = []
    /// How often each fault point was reached as planned, and how often in vain.
    private(set) var reached: [String: Int] = [:]
    private(set) var missed: [String: Int] = [:]
    private(set) var stopped: [StoppedWorker] = []
    private(set) var audit = AuditReport()
    /// Requests that changed something, or may have, and got no whole answer.
    private(set) var cutAnswers = 0
    /// Days of the mirror's clock.
    var days = 0.0
    /// Real seconds.
    var seconds = 0.0
    /// For how many of them the machine let somebody wait for a processor or its disk, so that
    /// nothing is held against the workers.
    var starvedSeconds = 0.0
    /// What should not have happened, a line each.
    var complaints: [String] = []

    init(_ settings: TortureSettings) { self.settings = settings }

    /// Faults of all kinds.
    var faults: Int { faultKinds.values.reduce(0, +) }

    mutating func add(_ outcome: EpisodeOutcome) {
        episodes += 1
        kills += outcome.kills
        for point in outcome.reached { reached[point, default: 0] += 1 }
        for point in outcome.missed { missed[point, default: 0] += 1 }
        stopped += outcome.stopped
        complaints += outcome.findings
    }

    /// Adds the comparison of the ledgers, and complains of what it and the figures show.
    mutating func add(_ audit: AuditReport, unanswered: Int) {
        self.audit = audit
        cutAnswers = unanswered
        complaints += audit.findings
        if audit.unconfirmed > kills + cutAnswers {
            complaints.append(
                "\(audit.unconfirmed) actions are unconfirmed; \(kills) kills and \(cutAnswers) cut answers explain fewer"
            )
        }
        complainOfEmptiness()
        if audit.pending > 0 {
            complaints.append("\(audit.pending) actions were still open in the end")
        }
    }

    /// Rare points, such as a decision about a favorite, are met in a quarter of the episodes that
    /// wait for them.
    private static let missesThatTell = 16

    /// A run in which hardly anything happened cannot have found anything.
    private mutating func complainOfEmptiness() {
        if Self.isTooLittle(delivered: audit.delivered, kills: kills) {
            complaints.append(
                "only \(audit.delivered) actions were delivered in \(kills) kills: that shows too little"
            )
        }
        if 10 * audit.unhindered < kills {
            complaints.append(
                "only \(audit.unhindered) actions had every chance in \(kills) kills: nothing could be lost"
            )
        }
        for (point, times) in missed.sorted(by: { $0.key < $1.key })
        where times >= Self.missesThatTell && reached[point] == nil {
            complaints.append("no worker came to \(point) in \(times) episodes that waited for it")
        }
        // A run that is long enough has met everything.
        guard kills >= Self.enoughForAll, settings.filter.isEmpty else { return }
        let kinds = FaultChoice.kinds(on: settings.store).union(
            Outcry.Kind.all(on: settings.network).map(\.rawValue) + [Self.refusedObjects])
        for kind in kinds.subtracting(faultKinds.keys).sorted() {
            complaints.append("nobody met \(kind) in \(kills) kills")
        }
    }

    /// What objects that are refused alone count as.
    static let refusedObjects = "refused-objects"

    /// The kills of a run in which every kind of fault is expected.
    private static let enoughForAll = 200

    /// Whether a run with so few deliveries shows nothing: fewer than five in ten kills.
    static func isTooLittle(delivered: Int, kills: Int) -> Bool { 2 * delivered < kills }

    /// Whether nothing was found.
    var isPassed: Bool { complaints.isEmpty && audit.isClean }

    /// The figures as one line of JSON.
    func jsonLine() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(Figures(self, settings)), as: UTF8.self)
    }
}

extension TortureReport {
    /// The last line of a run.
    private struct Figures: Encodable {
        var network, store: String
        var seed: UInt64
        var factor, days, seconds, starvedSeconds: Double
        var kills, episodes, faults, cutAnswers: Int
        var actions, delivered, unconfirmed, expired, skipped, pending, unhindered: Int
        var mentions, unreached, counts: Int
        var duplicates, lost, unheard, unexplained: Int
        /// How many complaints there are besides those of the audit.
        var complaints: Int
        var overwritten: Int
        var faultKinds, pointsReached, pointsMissed, interferences: [String: Int]

        init(_ report: TortureReport, _ settings: TortureSettings) {
            let audit = report.audit
            network = settings.network.rawValue
            store = settings.store.rawValue
            seed = settings.seed
            factor = settings.factor
            days = Self.rounded(report.days)
            seconds = Self.rounded(report.seconds)
            starvedSeconds = Self.rounded(report.starvedSeconds)
            kills = report.kills
            episodes = report.episodes
            faults = report.faults
            cutAnswers = report.cutAnswers
            actions = audit.actions
            delivered = audit.delivered
            unconfirmed = audit.unconfirmed
            expired = audit.expired
            skipped = audit.skipped
            pending = audit.pending
            unhindered = audit.unhindered
            duplicates = audit.duplicates
            mentions = audit.mentions
            unreached = audit.unreached
            counts = report.counts
            lost = audit.lost
            unheard = audit.unheard
            unexplained = audit.unexplained
            complaints = report.complaints.count - audit.findings.count
            faultKinds = report.faultKinds
            interferences = report.interferences
            overwritten = audit.overwritten
            pointsReached = report.reached
            pointsMissed = report.missed
        }

        private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

        enum CodingKeys: String, CodingKey {
            case network, store, seed, factor, days, seconds, kills, episodes, faults, actions,
                delivered, unconfirmed
            case expired, skipped, pending, unhindered, mentions, unreached, duplicates, lost,
                unheard, unexplained
            case complaints, counts, overwritten, interferences
            case starvedSeconds = "starved_seconds"
            case cutAnswers = "cut_answers"
            case faultKinds = "fault_kinds"
            case pointsReached = "points_reached"
            case pointsMissed = "points_missed"
        }
    }
}
