package import Networks
import Storage

extension Installation {
    /// Mirrors whose counts one transaction stores: each has up to 40 rows of three values.
    private static let mirrorsAtOnce = 200

    /// Stores the counts of the calls of all mirrors, as `HumanMirror.storeRequests` does for one.
    package func storeRequests() async {
        let tallies = requests.all.sorted { $0.key < $1.key }
        for part in tallies.portions(of: Self.mirrorsAtOnce) {
            // An error is ignored and loses the counts.
            try? await RequestTable.add(part.map { ($0.key, $0.value.take()) }, in: storage)
        }
    }
}

extension HumanMirror {
    /// Counts the calls that this process makes for the mirror.
    package var requests: RequestTally { installation.requests.of(name) }

    /// Stores the counts of calls, for metrics; an error is ignored and loses the counts.
    package func storeRequests() async {
        try? await RequestTable(storage: storage, mirror: name).add(requests.take())
    }
}
