/// What requests want, before they are judged.
extension XWire {
    func draft(of request: WireRequest, in state: SandboxState) -> WireDraft? {
        guard let (endpoint, _) = try? XEndpoint.of(request) else { return nil }
        switch endpoint {
        case .publish:
            let members = request.members
            let reply = members["reply"]
            return WireDraft(
                kind: reply == nil ? .post : .reply, text: members["text"]?.text,
                target: reply?["in_reply_to_tweet_id"]?.text)
        case .favorite:
            return WireDraft(kind: .favorite, target: request.members["tweet_id"]?.text)
        default:
            return nil
        }
    }
}
