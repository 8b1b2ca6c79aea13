/// What requests want, before they are judged.
extension BlueskyWire {
    private static let writes: Set = ["/xrpc/com.atproto.repo.createRecord", "/xrpc/com.atproto.repo.putRecord"]

    mutating func draft(of request: WireRequest, in state: SandboxState) -> WireDraft? {
        guard Self.writes.contains(request.path) else { return nil }
        meet(state.population)
        let members = request.members
        let (record, key) = (members["record"], members["rkey"]?.text)
        switch members["collection"]?.text {
        case RecordAddress.posts:
            let parent = record?["reply"]?["parent"]
            return WireDraft(
                kind: parent == nil ? .post : .reply, key: key, text: record?["text"]?.text, target: number(parent))
        case RecordAddress.likes:
            return WireDraft(kind: .favorite, key: key, target: number(record?["subject"]))
        default:
            return nil
        }
    }

    private func number(_ reference: RecordValue?) -> String? {
        let address = reference?["uri"]?.text.flatMap { RecordAddress($0) }
        return address.flatMap { repository.number(of: $0) }.map { String($0) }
    }
}
