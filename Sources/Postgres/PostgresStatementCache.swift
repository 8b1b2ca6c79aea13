/// The prepared statements of one connection, by text and parameter types.
///
/// Bounded: the statement that was not used for the longest time leaves.
struct PostgresStatementCache {
    private struct Entry {
        let name: String
        let types: [UInt32]
        var lastUse: Int
    }

    private let capacity: Int
    private var entries: [String: [Entry]] = [:]
    private var count = 0
    private var clock = 0
    private var named = 0

    init(capacity: Int = 64) { self.capacity = capacity }

    /// The name of a statement that takes parameters of `types`.
    ///
    /// A null has type 0 and fits every type, so that a statement with many
    /// nullable parameters does not need one entry for each pattern of nulls.
    mutating func name(of text: String, types: [UInt32]) -> String? {
        guard var candidates = entries[text] else { return nil }
        let index = candidates.firstIndex { entry in zip(types, entry.types).allSatisfy { $0 == 0 || $0 == $1 } }
        guard let index else { return nil }
        clock += 1
        candidates[index].lastUse = clock
        entries[text] = candidates
        return candidates[index].name
    }

    /// A name that no statement of this connection had.
    mutating func freshName() -> String {
        named += 1
        return "mirror_bot_\(named)"
    }

    /// Remembers a statement that the server has prepared.
    ///
    /// - Returns: The name of a statement that left and should be deallocated.
    mutating func insert(_ name: String, text: String, types: [UInt32]) -> String? {
        clock += 1
        let evicted = count >= capacity ? evict() : nil
        entries[text, default: []].append(Entry(name: name, types: types, lastUse: clock))
        count += 1
        return evicted
    }

    mutating func removeAll() {
        entries = [:]
        count = 0
    }

    private mutating func evict() -> String? {
        let oldest = entries.flatMap { text, all in all.map { (text, $0) } }.min { $0.1.lastUse < $1.1.lastUse }
        guard let (text, entry) = oldest else { return nil }
        entries[text]?.removeAll { $0.name == entry.name }
        if entries[text]?.isEmpty == true { entries[text] = nil }
        count -= 1
        return entry.name
    }
}
