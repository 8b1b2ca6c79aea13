/// Whether a worker holds no more on its last day than on its second.
///
/// Memory, descriptors and threads are compared on days on which the process
/// was left alone for some seconds first: the system's pool of threads grows
/// while a month passes in minutes, and shrinks when nothing happens.
struct Flatness: Sendable {
    let days: [SoakDay]
    let ledger: SoakLedger
    /// How many accounts the network has.
    let people: Int

    /// Kilobytes that memory may grow a day; the database's own cache takes some days to fill.
    static let memoryBound = 50.0
    /// What pages of the database and the allocator may come and go between two measurements, in kilobytes.
    static let memoryNoise = 1_024.0
    /// Connections that the network's server may keep open or not.
    static let descriptorNoise = 2

    /// The days after the first on which the process had rested.
    private var rested: [SoakDay] { days.dropFirst().filter(\.isRested) }

    /// How much memory grows, in kilobytes a day.
    var memorySlope: Double { Self.slope(rested.map { (Double($0.day), Double($0.process.memory)) }) }

    /// What is not flat, a sentence each.
    var complaints: [String] { processComplaints + TableRule.all.flatMap(complaints) + conductComplaints }

    private var processComplaints: [String] {
        guard let first = rested.first, let last = rested.last, last.day > first.day else { return [] }
        var complaints: [String] = []
        let growth = memorySlope * Double(last.day - first.day)
        if growth > Self.memoryBound * Double(last.day - first.day) + Self.memoryNoise {
            complaints.append(
                "memory grows by \(memorySlope.rounded()) kB a day, from \(first.process.memory) to "
                    + "\(last.process.memory) kB")
        }
        for (name, value, noise) in [
            ("threads", \SoakDay.process.threads, 0), ("descriptors", \.process.descriptors, Self.descriptorNoise),
        ] where last[keyPath: value] > first[keyPath: value] + noise {
            complaints.append("\(name) grow from \(first[keyPath: value]) to \(last[keyPath: value])")
        }
        return complaints
    }

    private func complaints(_ rule: TableRule) -> [String] {
        let bound = rule.bound
        return days.dropFirst().compactMap { day in
            let rows = day.tables.rows[rule.table] ?? 0
            let most = bound(SoakWorld(day: day.day, first: days[0], ledger: ledger, people: people))
            guard rows > most else { return nil }
            return "\(rule.table) has \(rows) rows on day \(day.day); at most \(most) were to be: \(rule.reason)"
        }
    }

    /// A worker that does nothing is flat, too.
    private var conductComplaints: [String] {
        [
            (ledger.posted == 0, "nothing was posted"), (ledger.replies == 0, "nobody was answered"),
            (ledger.errors > 0, "the network refused \(ledger.errors) requests"),
            (ledger.duplicates > 0, "\(ledger.duplicates) things were sent twice"),
        ].compactMap { $0.0 ? $0.1 : nil }
    }

    /// The median of the slopes between all pairs of points (Theil and Sen), which no single outlier moves.
    static func slope(_ points: [(Double, Double)]) -> Double {
        var slopes: [Double] = []
        for (index, first) in points.enumerated() {
            for second in points.dropFirst(index + 1) where second.0 != first.0 {
                slopes.append((second.1 - first.1) / (second.0 - first.0))
            }
        }
        slopes.sort()
        guard !slopes.isEmpty else { return 0 }
        let middle = slopes.count / 2
        return slopes.count % 2 == 1 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2
    }
}
