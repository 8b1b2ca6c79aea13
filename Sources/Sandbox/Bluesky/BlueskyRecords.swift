import Foundation

/// Reading and writing records.
enum BlueskyRecords {
    private static let kept: Set = [RecordAddress.posts, RecordAddress.likes, RecordAddress.profiles]

    static let routes: [String: BlueskyRoute] = [
        "com.atproto.repo.listRecords": .query(
            .open, ["repo", "collection", "limit", "cursor", "reverse"], answer: listRecords),
        "com.atproto.repo.getRecord": .query(.open, ["repo", "collection", "rkey", "cid"], answer: getRecord),
        "com.atproto.repo.createRecord": .procedure(
            .session, ["repo", "collection", "rkey", "validate", "record", "swapCommit"], answer: createRecord),
        "com.atproto.repo.putRecord": .procedure(
            .session, ["repo", "collection", "rkey", "validate", "record", "swapRecord", "swapCommit"],
            answer: putRecord),
        "com.atproto.repo.deleteRecord": .procedure(
            .session, ["repo", "collection", "rkey", "swapRecord", "swapCommit"], answer: deleteRecord),
    ]

    private static func listRecords(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let (person, collection) = try place(wire, call)
        let isReversed = try call.flag("reverse")
        return try call.page("records") { cursor, limit throws(BlueskyRefusal) in
            let bounds = RecordBounds(limit: limit, cursor: cursor, isReversed: isReversed)
            let entries = wire.repository.list(collection, of: person, bounds, in: state)
            return (entries.map(\.json), entries.last?.key)
        }
    }

    private static func getRecord(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let (person, collection) = try place(wire, call)
        let key = try call.required("rkey")
        let wanted = call.parameter("cid")
        let entry = wire.repository.entry(at: key, collection, of: person, in: state)
        guard let entry, wanted == nil || wanted == entry.cid else {
            throw .recordNotFound(RecordAddress(wire.repository.people.dids[person], collection, key).uri)
        }
        return .json(entry.json)
    }

    /// Whose collection the parameters name.
    private static func place(
        _ wire: BlueskyWire, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> (person: Int, collection: String) {
        let (repo, collection) = (try call.required("repo"), try call.required("collection"))
        guard RecordSyntax.isActor(repo) else { throw .invalid("Error: repo must be a valid did or a handle") }
        guard RecordSyntax.isName(collection) else { throw .invalid("Error: collection must be a valid nsid") }
        guard let person = wire.repository.people.index(of: repo) else {
            throw .invalid("Could not find repo: \(repo.prefix(80))")
        }
        return (person, collection)
    }

    private static func createRecord(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let target = try target(&wire, call, points: 3)
        let key = try call.fields["rkey"].map { _ throws(BlueskyRefusal) in try call.requiredText("rkey") }
        var write = try RecordWrite(
            collection: target.collection, key: key ?? wire.repository.freshKey(at: call.now),
            record: try call.requiredField("record"), by: target.person)
        if wire.repository.entry(at: write.key, write.collection, of: write.person, in: state) != nil {
            // Who asks again because no answer came cannot know that the record is there.
            throw call.habits.refusesUsedKeyAs400
                ? .invalid("Record already exists", isExpected: true)
                : BlueskyRefusal(500, "InternalServerError", "Internal Server Error", isExpected: true)
        }
        write.replacesLikes = true
        return try commit(write, &wire, &state, call)
    }

    private static func putRecord(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let target = try target(&wire, call, points: 2)
        let write = try RecordWrite(
            collection: target.collection, key: try call.requiredText("rkey"),
            record: try call.requiredField("record"), by: target.person)
        let current = wire.repository.entry(at: write.key, write.collection, of: write.person, in: state)
        if let current, current.cid == ContentID(of: write.record).text {
            // The same once more is no change, whatever the swap demands.
            state.made = wire.repository.post(of: write, in: state).map { (.repeated, $0) }
            return .json(answer(current))
        }
        try checkSwap(call, current: current?.cid)
        return try commit(write, &wire, &state, call)
    }

    private static func commit(
        _ write: RecordWrite, _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let entry = try wire.repository.apply(write, in: &state, at: call.now)
        let commit = wire.repository.commit(.text(entry.uri + " " + entry.cid), by: write.person, at: call.now)
        return .json(answer(entry).adding(("commit", commit)))
    }

    private static func answer(_ entry: BlueskyRepository.Entry) -> WireJSON {
        ["uri": .string(entry.uri), "cid": .string(entry.cid), "validationStatus": "valid"]
    }

    private static func deleteRecord(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let (person, collection) = try target(&wire, call, points: 1)
        let key = try call.requiredText("rkey")
        guard let current = wire.repository.entry(at: key, collection, of: person, in: state) else {
            return .json([:])
        }
        try checkSwap(call, current: current.cid)
        switch collection {
        case RecordAddress.posts: wire.repository.deletePost(key, of: person, in: &state)
        case RecordAddress.likes: wire.repository.deleteLike(key, of: person, in: &state)
        default: throw .invalid("the sandbox keeps every profile")
        }
        return .json(["commit": wire.repository.commit(.text("-" + current.uri), by: person, at: call.now)])
    }

    /// Where to write: the caller's own repository, within the limits.
    private static func target(
        _ wire: inout BlueskyWire, _ call: BlueskyCall, points: Int
    ) throws(BlueskyRefusal) -> (person: Int, collection: String) {
        let person = try call.account()
        let (repo, collection) = (try call.requiredText("repo"), try call.requiredText("collection"))
        guard wire.repository.people.index(of: repo) == person else {
            throw BlueskyRefusal(401, "AuthenticationRequired", "Authentication Required")
        }
        wire.standing = wire.rates.countPoints(points, by: wire.repository.people.dids[person], at: call.now)
        if wire.standing?.isExceeded ?? false { throw .rateLimited }
        guard kept.contains(collection) else {
            throw .invalid("the sandbox keeps no records of \(collection.prefix(80))")
        }
        if let validate = call.fields["validate"] {
            guard case .bool = validate else { throw .invalid("Error: Input/validate must be a boolean") }
        }
        if let wanted = call.fields["swapCommit"], wanted != .null {
            let head = wire.repository.commits[person]?.cid
            guard wanted.text == head else {
                throw BlueskyRefusal(400, "InvalidSwap", "Commit was at \(head ?? "null")")
            }
        }
        return (person, collection)
    }

    /// Null demands that there is no record, an identifier demands that one, and without either nothing is demanded.
    private static func checkSwap(_ call: BlueskyCall, current: String?) throws(BlueskyRefusal) {
        switch call.fields["swapRecord"] {
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
