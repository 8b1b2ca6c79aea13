import Foundation
import Posts

/// Reading and writing records.
extension BlueskyCall {
    private static let supportedCollections: Set = [
        RecordAddress.posts, RecordAddress.likes, RecordAddress.profiles, RecordAddress.threadGates,
        RecordAddress.postGates,
    ]

    static let recordRoutes: [String: BlueskyRoute] = [
        "com.atproto.repo.listRecords": .query(
            .open, parameters: ["repo", "collection", "limit", "cursor", "reverse"],
            answer: BlueskyCall.listRecords),
        "com.atproto.repo.getRecord": .query(
            .open, parameters: ["repo", "collection", "rkey", "cid"], answer: BlueskyCall.getRecord),
        "com.atproto.repo.createRecord": .procedure(
            .session, fields: ["repo", "collection", "rkey", "validate", "record", "swapCommit"],
            answer: BlueskyCall.createRecord),
        "com.atproto.repo.putRecord": .procedure(
            .session,
            fields: [
                "repo", "collection", "rkey", "validate", "record", "swapRecord", "swapCommit",
            ],
            answer: BlueskyCall.putRecord),
        "com.atproto.repo.applyWrites": .procedure(
            .session, fields: ["repo", "validate", "writes", "swapCommit"],
            answer: BlueskyCall.applyWrites),
        "com.atproto.repo.deleteRecord": .procedure(
            .session, fields: ["repo", "collection", "rkey", "swapRecord", "swapCommit"],
            answer: BlueskyCall.deleteRecord),
    ]

    private func listRecords(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let (person, collection) = try repositoryAndCollection(wire)
        let isReversed = try flag("reverse")
        return try page("records") { cursor, limit throws(BlueskyRefusal) in
            let bounds = RecordBounds(limit: limit, cursor: cursor, isReversed: isReversed)
            let entries = wire.repository.list(collection, of: person, bounds, in: state)
            return (entries.map(\.json), entries.last?.key)
        }
    }

    private func getRecord(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        let (person, collection) = try repositoryAndCollection(wire)
        let key = try required("rkey")
        let requiredCID = parameter("cid")
        let entry = wire.repository.entry(at: key, collection: collection, of: person, in: state)
        guard let entry, requiredCID == nil || requiredCID == entry.cid else {
            throw .recordNotFound(
                RecordAddress(wire.repository.people.ids[person], collection, key).uri)
        }
        return .json(entry.json)
    }

    /// Returns the collection that the parameters name, and the index of its owner.
    private func repositoryAndCollection(
        _ wire: BlueskyWire
    ) throws(BlueskyRefusal) -> (person: Int, collection: String) {
        let repo = try required("repo")
        let collection = try required("collection")
        guard RecordSyntax.isActor(repo) else {
            throw .invalid("Error: repo must be a valid did or a handle")
        }
        guard RecordSyntax.isName(collection) else {
            throw .invalid("Error: collection must be a valid nsid")
        }
        guard let person = wire.repository.people.index(of: repo) else {
            throw .invalid("Could not find repo: \(repo.prefix(80))")
        }
        return (person, collection)
    }

    private func createRecord(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let target = try target(&wire, points: 3)
        let key = try fields["rkey"].map { _ throws(BlueskyRefusal) in try requiredText("rkey") }
        var write = try RecordWrite(
            collection: target.collection, key: key ?? wire.repository.freshKey(at: now),
            record: try requiredField("record"), by: target.person)
        if wire.repository.entry(
            at: write.key, collection: write.collection, of: write.person, in: state)
            != nil
        {
            throw keyInUse
        }
        write.replacesLikes = true
        return try commit(write, &wire, &state)
    }

    /// The refusal of a record key that is in use.
    ///
    /// A client that retries because it got no answer cannot know that the record exists.
    private var keyInUse: BlueskyRefusal {
        habits.refusesUsedKeyAs400
            ? .invalid("Record already exists", isExpected: true)
            : BlueskyRefusal(500, "InternalServerError", "Internal Server Error", isExpected: true)
    }

    /// Creates several new records in one commit: all, or none.
    private func applyWrites(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        guard case .list(let items) = try requiredField("writes"), (1...200).contains(items.count)
        else {
            throw .invalid("Error: Input/writes must be an array of at most 200 elements")
        }
        let person = try writer(&wire, points: 3 * items.count)
        var writes: [RecordWrite] = []
        for item in items {
            guard item["$type"]?.text == "com.atproto.repo.applyWrites#create" else {
                throw .invalid("the sandbox takes no other writes than new records")
            }
            guard let collection = item["collection"]?.text, let record = item["value"] else {
                throw .invalid("Error: Input/writes must have collection and value")
            }
            try requireSupported(collection)
            let key = item["rkey"]?.text ?? wire.repository.freshKey(at: now)
            let write = try RecordWrite(
                collection: collection, key: key, record: record, by: person)
            guard
                wire.repository.entry(at: key, collection: collection, of: person, in: state) == nil
            else {
                throw keyInUse
            }
            writes.append(write)
        }
        let stateBefore = (wire.repository, state)
        var entries: [Int: BlueskyRepository.Entry] = [:]
        do throws(BlueskyRefusal) {
            // Gates are written first, because publishing the post reads them.
            for isGate in [true, false] {
                for (index, write) in writes.enumerated() where write.isGate == isGate {
                    entries[index] = try wire.repository.apply(write, in: &state, at: now)
                }
            }
        } catch {
            (wire.repository, state) = stateBefore
            throw error
        }
        let orderedEntries = writes.indices.compactMap { entries[$0] }
        let change = RecordValue.list(orderedEntries.map { .text($0.uri + " " + $0.cid) })
        let results = orderedEntries.map { entry in
            answer(entry).adding(("$type", "com.atproto.repo.applyWrites#createResult"))
        }
        return .json([
            "commit": wire.repository.commit(change, by: person, at: now),
            "results": .array(results),
        ])
    }

    private func putRecord(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        let target = try target(&wire, points: 2)
        let write = try RecordWrite(
            collection: target.collection, key: try requiredText("rkey"),
            record: try requiredField("record"), by: target.person)
        let current = wire.repository.entry(
            at: write.key, collection: write.collection, of: write.person, in: state)
        if let current, current.cid == ContentID(of: write.record).text {
            // Writing the same record again is no change, regardless of the swap condition.
            state.requestOutcome = wire.repository.post(of: write, in: state).map {
                (.repeated, $0)
            }
            return .json(answer(current))
        }
        try checkSwap(current: current?.cid)
        return try commit(write, &wire, &state)
    }

    private func commit(
        _ write: RecordWrite, _ wire: inout BlueskyWire, _ state: inout SandboxState
    ) throws(BlueskyRefusal) -> WireAnswer {
        let entry = try wire.repository.apply(write, in: &state, at: now)
        let commit = wire.repository.commit(
            .text(entry.uri + " " + entry.cid), by: write.person, at: now)
        return .json(answer(entry).adding(("commit", commit)))
    }

    private func answer(_ entry: BlueskyRepository.Entry) -> WireJSON {
        ["uri": .string(entry.uri), "cid": .string(entry.cid), "validationStatus": "valid"]
    }

    private func deleteRecord(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let (person, collection) = try target(&wire, points: 1)
        let key = try requiredText("rkey")
        guard
            let current = wire.repository.entry(
                at: key, collection: collection, of: person, in: state)
        else {
            return .json([:])
        }
        try checkSwap(current: current.cid)
        switch collection {
        case RecordAddress.posts: wire.repository.deletePost(key, of: person, in: &state, at: now)
        case RecordAddress.likes:
            if let post = wire.repository.deleteLike(key, of: person, in: &state) {
                state.recordRemoval(.favorite, of: post, by: person, at: now)
            }
        case RecordAddress.threadGates, RecordAddress.postGates:
            wire.repository.gates[current.uri] = nil
        default: throw .invalid("the sandbox keeps every profile")
        }
        return .json([
            "commit": wire.repository.commit(.text("-" + current.uri), by: person, at: now)
        ])
    }

    /// Returns the owner and the collection of a write, after checking that the repository is the
    /// caller's own and that the limits permit the write.
    private func target(
        _ wire: inout BlueskyWire, points: Int
    ) throws(BlueskyRefusal) -> (person: Int, collection: String) {
        _ = try requiredText("repo")
        let collection = try requiredText("collection")
        let person = try writer(&wire, points: points)
        try requireSupported(collection)
        return (person, collection)
    }

    private func requireSupported(_ collection: String) throws(BlueskyRefusal) {
        guard Self.supportedCollections.contains(collection) else {
            throw .invalid("the sandbox keeps no records of \(collection.prefix(80))")
        }
    }

    /// Returns the index of the writing account: the repository's owner, within its limits.
    private func writer(_ wire: inout BlueskyWire, points: Int) throws(BlueskyRefusal) -> Int {
        let person = try account()
        guard wire.repository.people.index(of: try requiredText("repo")) == person else {
            throw BlueskyRefusal(401, "AuthenticationRequired", "Authentication Required")
        }
        wire.standing = wire.rates.countPoints(
            points, by: wire.repository.people.ids[person], at: now)
        if wire.standing?.isExceeded == true { throw .rateLimited }
        if let validate = fields["validate"] {
            guard case .bool = validate else {
                throw .invalid("Error: Input/validate must be a boolean")
            }
        }
        if let requiredCID = fields["swapCommit"], requiredCID != .null {
            let currentCommit = wire.repository.commits[person]?.cid
            guard requiredCID.text == currentCommit else {
                throw BlueskyRefusal(400, "InvalidSwap", "Commit was at \(currentCommit ?? "null")")
            }
        }
        return person
    }

    /// Checks the swap condition of a write: null requires that there is no record, an identifier
    /// requires that record, and without the field nothing is required.
    private func checkSwap(current: String?) throws(BlueskyRefusal) {
        switch fields["swapRecord"] {
        case nil: return
        case .null: if current != nil { throw .invalidSwap(was: current, isExpected: true) }
        case .text(let cid): if cid != current { throw .invalidSwap(was: current) }
        default: throw .invalid("Error: Input/swapRecord must be a cid string")
        }
    }
}

extension BlueskyRepository.Entry {
    fileprivate var json: WireJSON {
        ["uri": .string(uri), "cid": .string(cid), "value": record.json]
    }
}

/// A record to be written, whose form was checked.
struct RecordWrite {
    enum Content {
        case post(PostRecord)
        case like(LikeRecord)
        case profile(ProfileRecord)
        case gate(GateRecord)
    }

    var collection: String
    var key: String
    var record: RecordValue
    var person: Int
    var content: Content
    /// Whether a like replaces earlier ones of the same post.
    var replacesLikes = false

    var isGate: Bool { if case .gate = content { true } else { false } }

    /// The collection must be a supported one.
    ///
    /// - Throws: `InvalidRequest` for a key or a record that the collection does not allow.
    init(collection: String, key: String, record: RecordValue, by person: Int)
        throws(BlueskyRefusal)
    {
        self.collection = collection
        self.key = key
        self.record = record
        self.person = person
        if collection == RecordAddress.profiles {
            guard key == BlueskyRepository.profileKey else {
                throw .invalid("Invalid record key for \(collection): expected self")
            }
            content = .profile(try ProfileRecord(record))
            return
        }
        guard RecordSyntax.isTimestampKey(key) else {
            throw .invalid("Invalid record key for \(collection): expected a tid")
        }
        switch collection {
        case RecordAddress.posts: content = .post(try PostRecord(record))
        case RecordAddress.threadGates, RecordAddress.postGates:
            let gate = try GateRecord(record, in: collection)
            guard gate.post.hasSuffix("/\(RecordAddress.posts)/\(key)") else {
                throw .invalid("Invalid \(collection) record: its key must be that of the post")
            }
            content = .gate(gate)
        default: content = .like(try LikeRecord(record))
        }
    }
}

extension BlueskyRepository {
    /// The number of the written post, or of the liked post; nil if it does not exist.
    mutating func post(of write: RecordWrite, in state: SandboxState) -> Int64? {
        switch write.content {
        case .post: number(of: RecordAddress(people.ids[write.person], write.collection, write.key))
        case .like: like(named: write.key, of: write.person, in: state)?.post
        case .profile, .gate: nil
        }
    }

    /// The record with a key in a collection; nil if there is none.
    mutating func entry(
        at key: String, collection: String, of person: Int, in state: SandboxState
    ) -> Entry? {
        switch collection {
        case RecordAddress.posts:
            let address = RecordAddress(people.ids[person], collection, key)
            return post(at: address, in: state).map { entry(of: $0, in: state) }
        case RecordAddress.likes: return like(named: key, of: person, in: state)?.entry
        case RecordAddress.profiles:
            return key == Self.profileKey ? profile(of: person, in: state).entry : nil
        case RecordAddress.threadGates, RecordAddress.postGates:
            return gates[RecordAddress(people.ids[person], collection, key).uri]?.entry
        default: return nil
        }
    }

    /// Writes the record at its address, and replaces an existing one.
    ///
    /// - Throws: `InvalidRequest` if it refers to a missing record.
    mutating func apply(_ write: RecordWrite, in state: inout SandboxState, at now: Date)
        throws(BlueskyRefusal)
        -> Entry
    {
        switch write.content {
        case .post(let post):
            let address = RecordAddress(people.ids[write.person], write.collection, write.key)
            if let replacedPost = self.post(at: address, in: state) {
                return rewrite(replacedPost, post, of: write.record, in: &state)
            }
            return try self.write(
                post, of: write.record, key: write.key, by: write.person, in: &state, at: now)
        case .like(let like):
            return try self.write(like, as: write, in: &state, at: now)
        case .profile(let profile):
            return self.write(profile, of: write.record, by: write.person)
        case .gate(let gate):
            let entry = entry(
                collection: write.collection, key: write.key, by: write.person,
                record: write.record, createdAt: now)
            gates[entry.uri] = (entry, gate)
            return entry
        }
    }
}

/// The requested part of a collection.
struct RecordBounds: Sendable {
    var limit: Int
    /// The key of the last record on the page before.
    var cursor: String?
    /// Whether the records are sorted by key, the smallest first.
    var isReversed: Bool

    /// The first records beyond the cursor, in the requested order.
    ///
    /// - Parameters:
    ///   - items: Items sorted by their keys.
    ///   - key: The key of an item.
    ///   - read: Returns the record; nil leaves the item out.
    /// - Returns: As many records as the limit allows.
    func page<Item>(
        of items: [Item], by key: (Item) -> String, read: (Item) -> BlueskyRepository.Entry?
    ) -> [BlueskyRepository.Entry] {
        var page: [BlueskyRepository.Entry] = []
        if isReversed {
            var index = cursor.map { items.index(below: $0, by: key, includingEqual: true) } ?? 0
            while index < items.count, page.count < limit {
                if let entry = read(items[index]) { page.append(entry) }
                index += 1
            }
        } else {
            var index =
                cursor.map { items.index(below: $0, by: key, includingEqual: false) } ?? items.count
            while index > 0, page.count < limit {
                index -= 1
                if let entry = read(items[index]) { page.append(entry) }
            }
        }
        return page
    }
}

/// A person's posts, which stay sorted by their keys when new ones arrive.
struct OrderedPosts: Sendable {
    private(set) var items: [(key: String, id: Int64)] = []
    private var deletions = 0

    /// Adds new posts.
    ///
    /// - Parameters:
    ///   - ids: All posts of the person in the order of arrival.
    ///   - deletions: The number of posts that were ever deleted; if it changed, everything is
    ///     sorted anew.
    ///   - key: The key of a post.
    mutating func update(to ids: [Int64], deletions: Int, key: (Int64) -> String) {
        if deletions != self.deletions {
            self.deletions = deletions
            items = []
        }
        guard items.count < ids.count else { return }
        let newItems = ids[items.count...].map { (key: key($0), id: $0) }.sorted { $0.key < $1.key }
        guard let first = newItems.first else { return }
        // Nearly always all new posts belong at the end.
        let firstIndex = items.index(below: first.key, by: \.key, includingEqual: true)
        let tail = items[firstIndex...] + newItems
        items.replaceSubrange(firstIndex..., with: tail.sorted { $0.key < $1.key })
    }
}

extension Array {
    /// The number of elements whose key is smaller than `bound`, or not greater; the elements are
    /// sorted by key.
    fileprivate func index(below bound: String, by key: (Element) -> String, includingEqual: Bool)
        -> Int
    {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let candidate = key(self[middle])
            if candidate < bound || (includingEqual && candidate == bound) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

/// Collections, sorted by key.
extension BlueskyRepository {
    /// The records of a collection; empty if the collection is not supported.
    mutating func list(
        _ collection: String, of person: Int, _ bounds: RecordBounds, in state: SandboxState
    ) -> [Entry] {
        switch collection {
        case RecordAddress.posts: return listPosts(of: person, bounds, in: state)
        case RecordAddress.likes: return listLikes(of: person, bounds, in: state)
        case RecordAddress.profiles:
            return bounds.page(of: [profile(of: person, in: state).entry], by: \.key) { $0 }
        default: return []
        }
    }

    private mutating func listPosts(of person: Int, _ bounds: RecordBounds, in state: SandboxState)
        -> [Entry]
    {
        guard writtenIDs[person] != nil else {
            return bounds.page(
                of: state.postsByAuthor[person], by: { key(of: $0) },
                read: { entry(of: $0, in: state) })
        }
        // Keys that clients chose need not follow the order of arrival; all other keys do.
        var ordered = orderedPosts.removeValue(forKey: person) ?? OrderedPosts()
        ordered.update(to: state.postsByAuthor[person], deletions: state.deleted.count) {
            key(of: $0)
        }
        orderedPosts[person] = ordered
        return bounds.page(of: ordered.items, by: \.key, read: { entry(of: $0.id, in: state) })
    }

    private mutating func listLikes(of person: Int, _ bounds: RecordBounds, in state: SandboxState)
        -> [Entry]
    {
        var entries = (likes[person] ?? [:]).values.map(\.entry)
        for favorite in state.favorites[person] ?? [] where !hasLike(of: favorite.post, by: person)
        {
            if let entry = like(for: favorite, of: person, in: state) { entries.append(entry) }
        }
        return bounds.page(of: entries.sorted { $0.key < $1.key }, by: \.key) { $0 }
    }
}
