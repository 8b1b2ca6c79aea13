import Foundation

/// What requests want, before they are judged, and keys that are in use.
extension MastodonWire {
    func draft(of request: WireRequest, in state: SandboxState) -> WireDraft? {
        let ids = faults.mastodon.ids
        let segments = request.path.split(separator: "/").map(String.init)
        guard segments.starts(with: ["api", "v1", "statuses"]) else { return nil }
        if segments.count == 5, segments[4] == "favourite" {
            return WireDraft(kind: .favorite, target: ids.number(of: segments[3]).map { String($0) })
        }
        guard segments.count == 3 else { return nil }
        let members = request.members
        let parent = members["in_reply_to_id"]?.text
        return WireDraft(
            kind: parent == nil ? .post : .reply, key: request.header("idempotency-key"),
            text: members["status"]?.text, target: parent.flatMap(ids.number).map { String($0) })
    }

    /// Remembers that a request with a key is under way until it is acted on.
    ///
    /// Pleroma and its kin refuse the same key with a conflict meanwhile. Mastodon remembers a key only once its post
    /// exists, so that whichever of two requests is acted on first makes the post.
    mutating func hold(_ request: WireRequest, until date: Date) {
        guard let name = Self.heldName(request) else { return }
        heldKeys[name] = max(date, heldKeys[name] ?? date)
    }

    /// Whether another request with the key is under way.
    func isHeld(_ request: WireRequest, at now: Date) -> Bool {
        Self.heldName(request).flatMap { heldKeys[$0] }.map { $0 > now } ?? false
    }

    private static func heldName(_ request: WireRequest) -> String? {
        request.header("idempotency-key").map { "\(token(of: request) ?? "") \($0)" }
    }
}
