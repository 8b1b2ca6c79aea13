import Foundation

/// What a run of a crew found out.
struct CrewReport: Sendable {
    private let settings: CrewSettings
    /// Workers that died by `SIGKILL`.
    var kills = 0
    /// How often each kind of event happened, by name.
    var events: [String: Int] = [:]
    var audit = AuditReport()
    /// How many counts in Redis were compared with the examples in the end.
    var counts = 0
    /// How often mirrors were taken from workers that had not released them.
    var takeovers = 0
    /// The longest time for which some mirror had no worker although one was there, in seconds, by
    /// the length of leases.
    var longestOrphanage: [Double: Double] = [:]
    /// The longest time for which nobody looked at some mirror although an able worker was there,
    /// in seconds, by the length of leases.
    var longestUnseen: [Double: Double] = [:]
    /// What the workers did that cannot do their share.
    var unable = CrewAudit.UnableFigures()
    /// The longest time for which nothing could be written, in seconds.
    var longestOutage = 0.0
    /// The lowest and the highest share of looks for mentions, compared with the middle one.
    var shares: (least: Double, most: Double)?
    /// Days of the mirrors' clock, and real seconds.
    var days = 0.0
    var seconds = 0.0
    /// For how many real seconds the machine let somebody wait for a processor or its disk.
    var starvedSeconds = 0.0
    /// How many upgrades there were.
    var upgrades = 0
    /// What should not have happened besides the findings of the audit, a line each.
    var complaints: [String] = []

    init(_ settings: CrewSettings) { self.settings = settings }

    /// The kills of a run in which every kind of event is expected.
    private static let enoughForAll = 100

    /// A run in which hardly anything happened cannot have found anything.
    mutating func complainOfEmptiness() {
        if TortureReport.isTooLittle(delivered: audit.delivered, kills: kills) {
            complaints.append(
                "only \(audit.delivered) actions were delivered in \(kills) kills: that shows too little"
            )
        }
        if 10 * audit.unhindered < kills {
            complaints.append(
                "only \(audit.unhindered) actions had every chance in \(kills) kills: nothing could be lost"
            )
        }
        if takeovers == 0 { complaints.append("no mirror was taken from a worker that died") }
        if audit.pending > 0 {
            complaints.append("\(audit.pending) actions were still open in the end")
        }
        guard kills >= Self.enoughForAll else { return }
        complainOfUnableWorkers()
        guard settings.only.isEmpty, settings.oldProgram == nil else { return }
        for kind in CrewEvent.Kind.allCases where kind != .refuseLogin || settings.mode == .all {
            if events[kind.rawValue] == nil {
                complaints.append("there was no \(kind.rawValue) in \(kills) kills")
            }
        }
    }

    /// How often each unable worker lives at least in a run in which all of them are expected.
    private static let unableLivesAtLeast = 3

    private mutating func complainOfUnableWorkers() {
        for disability in settings.disabilities {
            let lives = unable.lives[disability, default: 0]
            guard lives < Self.unableLivesAtLeast else { continue }
            complaints.append(
                "there were \(lives) workers with \(disability.rawValue): that shows too little")
        }
        if settings.disabilities.contains(.noNetwork), unable.holds == 0 {
            complaints.append("no worker without network took a mirror: that shows nothing")
        }
    }

    /// Adds what an upgrade found out to that of the upgrades before.
    mutating func add(_ other: CrewReport) {
        upgrades += 1
        kills += other.kills
        events.merge(other.events, uniquingKeysWith: +)
        var part = other.audit
        part.findings = part.findings.map { "upgrade \(upgrades): \($0)" }
        audit.add(part)
        counts += other.counts
        takeovers += other.takeovers
        longestOrphanage.merge(other.longestOrphanage, uniquingKeysWith: max)
        longestUnseen.merge(other.longestUnseen, uniquingKeysWith: max)
        longestOutage = max(longestOutage, other.longestOutage)
        if let added = other.shares {
            let known = shares ?? added
            shares = (min(known.least, added.least), max(known.most, added.most))
        }
        days += other.days
        seconds += other.seconds
        starvedSeconds += other.starvedSeconds
        complaints += other.complaints.map { "upgrade \(upgrades): \($0)" }
    }

    /// Whether nothing was found.
    var isPassed: Bool { complaints.isEmpty && audit.isClean }

    /// The figures as one line of JSON.
    func jsonLine() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(Figures(self, settings)), as: UTF8.self)
    }

    private struct Figures: Encodable {
        var mode: String
        var seed: UInt64
        var mirrors, workers, kills, takeovers, counts, upgrades: Int
        var factor, days, seconds, starvedSeconds: Double
        /// In seconds.
        var longestOutage: Double
        /// In seconds: with short leases, and with those in earnest.
        var longestUnowned, longestUnownedInEarnest, leastShare, mostShare: Double?
        /// The same for mirrors at which nobody looked, and for mirrors that a worker without
        /// network held.
        var longestUnseen, longestUnseenInEarnest, longestUnableHold: Double?
        var wrongKeys, noNetworks, unableHolds: Int
        var actions, delivered, unconfirmed, expired, skipped, pending, unhindered, mentions,
            unreached: Int
        var duplicates, lost, unheard, unexplained, overwritten, complaints: Int
        var events: [String: Int]

        init(_ report: CrewReport, _ settings: CrewSettings) {
            let audit = report.audit
            mode = settings.mode.rawValue
            seed = settings.seed
            mirrors = settings.mirrors
            workers = settings.workers
            kills = report.kills
            takeovers = report.takeovers
            upgrades = report.upgrades
            counts = report.counts
            factor = settings.factor
            days = Self.rounded(report.days)
            seconds = Self.rounded(report.seconds)
            starvedSeconds = Self.rounded(report.starvedSeconds)
            longestOutage = Self.rounded(report.longestOutage)
            longestUnowned = report.longestOrphanage[settings.leaseSeconds].map(Self.rounded)
            longestUnownedInEarnest = report.longestOrphanage[CrewSettings.usualLease].map(
                Self.rounded)
            longestUnseen = report.longestUnseen[settings.leaseSeconds].map(Self.rounded)
            longestUnseenInEarnest = report.longestUnseen[CrewSettings.usualLease].map(Self.rounded)
            longestUnableHold = report.unable.longestHold.map(Self.rounded)
            wrongKeys = report.unable.lives[.wrongKey, default: 0]
            noNetworks = report.unable.lives[.noNetwork, default: 0]
            unableHolds = report.unable.holds
            leastShare = report.shares.map { Self.rounded($0.least) }
            mostShare = report.shares.map { Self.rounded($0.most) }
            actions = audit.actions
            delivered = audit.delivered
            unconfirmed = audit.unconfirmed
            expired = audit.expired
            skipped = audit.skipped
            pending = audit.pending
            unhindered = audit.unhindered
            mentions = audit.mentions
            unreached = audit.unreached
            duplicates = audit.duplicates
            lost = audit.lost
            unheard = audit.unheard
            unexplained = audit.unexplained
            overwritten = audit.overwritten
            complaints = report.complaints.count
            events = report.events
        }

        private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
    }
}
