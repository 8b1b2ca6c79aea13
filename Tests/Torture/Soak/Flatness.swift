/// Whether a worker holds no more on its last day than on its second.
///
/// What the worker holds itself is told from what SQLite caches of its file, which has a bound of
/// its own.
///
/// Memory, descriptors and threads are compared on days on which the process
/// was left alone for some seconds first: the system's pool of threads grows
/// while a month passes in minutes, and shrinks when nothing happens.
struct Flatness: Sendable {
    let days: [SoakDay]
    let ledger: SoakLedger
    /// How many accounts the network has.
    let people: Int

    /// Bytes that the worker's own memory may grow a day.
    ///
    /// What is in use does not grow; the heap takes some ten days to come to rest (6.6 MB on the
    /// second day, 6.9 on the tenth and on the thirtieth), which is a slope of 18,000 bytes over a
    /// month. The bound and the noise below allow 25,700. On a day there are more than 4,000
    /// passes: one that kept two bytes more each time would be seen. What a worker must keep of its
    /// past (`plans`, `actions`) it keeps on disk.
    static let memoryBound = 16_384.0
    /// What may come and go between the first and the last measurement, in bytes; it counts where
    /// they are near.
    static let memoryNoise = 262_144.0
    /// What SQLite may hold of its file, in kilobytes: 2,000 of pages, by its own default, on each
    /// of three connections, and the schema and the prepared statements on each.
    ///
    /// Not told by a slope: a page stays once it was read, so the cache fills as the file grows,
    /// for months if it is as small as here, within the first day on a mirror of the default size.
    static let cacheBound = 3 * (2_000 + 500)
    /// Connections that the network's server may keep open or not.
    static let descriptorNoise = 2

    /// The days after the first on which the process had rested.
    private var rested: [SoakDay] { days.dropFirst().filter(\.isRested) }

    /// How much the worker's own memory grows, in bytes a day.
    var memorySlope: Double {
        Self.slope(rested.map { (Double($0.day), Double($0.process.own * 1_024)) })
    }

    /// What is not flat, a sentence each.
    var complaints: [String] {
        processComplaints + TableRule.all.flatMap(complaints) + conductComplaints
    }

    private var processComplaints: [String] {
        guard let first = rested.first, let last = rested.last, last.day > first.day else {
            return []
        }
        var complaints: [String] = []
        let period = Double(last.day - first.day)
        if memorySlope * period > Self.memoryBound * period + Self.memoryNoise {
            complaints.append(
                "memory grows by \(Int(memorySlope)) bytes a day, from \(first.process.own) to \(last.process.own) kB"
            )
        }
        if let day = days.first(where: { $0.process.cache > Self.cacheBound }) {
            complaints.append(
                "SQLite holds \(day.process.cache) kB on day \(day.day); \(Self.cacheBound) were to be all"
            )
        }
        for (name, value, noise) in [
            ("threads", \SoakDay.process.threads, 0),
            ("descriptors", \.process.descriptors, Self.descriptorNoise),
        ] where last[keyPath: value] > first[keyPath: value] + noise {
            complaints.append(
                "\(name) grow from \(first[keyPath: value]) to \(last[keyPath: value])")
        }
        return complaints
    }

    private func complaints(_ rule: TableRule) -> [String] {
        let bound = rule.bound
        return days.dropFirst().compactMap { day in
            let rows = day.tables.rows[rule.table] ?? 0
            let most = bound(
                SoakWorld(day: day.day, first: days[0], ledger: ledger, people: people))
            guard rows > most else { return nil }
            return
                "\(rule.table) has \(rows) rows on day \(day.day); at most \(most) were to be: \(rule.reason)"
        }
    }

    /// A worker that does nothing is flat, too.
    private var conductComplaints: [String] {
        [
            (ledger.posted == 0, "nothing was posted"),
            (ledger.replies == 0, "nobody was answered"),
            (ledger.errors > 0, "the network refused \(ledger.errors) requests"),
            (ledger.duplicates > 0, "\(ledger.duplicates) things were sent twice"),
        ].compactMap { $0.0 ? $0.1 : nil }
    }

    /// The median of the slopes between all pairs of points (Theil and Sen), which no single
    /// outlier moves.
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
