import Foundation
import Posts

/// The endpoints for notifications.
extension BlueskyCall {
    static let notificationRoutes: [String: BlueskyRoute] = [
        "app.bsky.notification.listNotifications": .query(
            .session, parameters: ["reasons", "limit", "cursor", "priority", "seenAt"],
            answer: BlueskyCall.listNotifications),
        "app.bsky.notification.updateSeen": .procedure(
            .session, fields: ["seenAt"], answer: BlueskyCall.updateSeen),
    ]

    private func listNotifications(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let reader = try account()
        guard parameter("seenAt") == nil else {
            throw .invalid("The seenAt parameter is unsupported")
        }
        let reasons = Set(parameters("reasons"))
        let isPriority = try flag("priority")
        let lastSeen = wire.seen[reader]
        let ascendingNotifications = isPriority ? [] : state.notifications[reader] ?? []
        var members: [(String, WireJSON)] = [("priority", .bool(isPriority))]
        if let lastSeen { members.append(("seenAt", .string(lastSeen.rfc3339))) }
        return try page("notifications", with: members) { cursor, limit throws(BlueskyRefusal) in
            let bound = try cursor.map { text throws(BlueskyRefusal) in try id(text) }
            var items: [WireJSON] = []
            var index =
                bound.map { ascendingNotifications.firstIndex(above: $0 - 1, by: \.id) }
                ?? ascendingNotifications.count
            while index > 0, items.count < limit {
                index -= 1
                guard ascendingNotifications[index].visibleFrom <= now else { continue }
                let item = BlueskyNotification(
                    ascendingNotifications[index], to: reader, in: &wire.repository, state)
                guard let item, reasons.isEmpty || reasons.contains(item.reason) else { continue }
                let date = ascendingNotifications[index].createdAt
                let isRead = lastSeen.map { date <= $0 } == true
                items.append(item.view(isRead: isRead, in: &wire.repository, state))
            }
            return (items, items.isEmpty ? nil : String(ascendingNotifications[index].id))
        }
    }

    private func id(_ cursor: String) throws(BlueskyRefusal) -> Int64 {
        guard let id = Int64(cursor), id > 0 else { throw .invalid("Malformed cursor") }
        return id
    }

    private func updateSeen(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        guard let date = RecordSyntax.date(try requiredText("seenAt")) else {
            throw .invalid("Error: Input/seenAt must be a datetime with zone")
        }
        wire.seen[try account()] = date
        return WireAnswer(status: 200)
    }
}

/// A notification with the record that caused it.
struct BlueskyNotification {
    let reason: String
    private let author: Int
    private let reader: Int
    private let date: Date
    private let entry: BlueskyRepository.Entry
    private let subject: String?
    /// The post that mentions the reader.
    private let post: SandboxPost?

    /// Creates the view of a notification; nil if its cause is not on Bluesky.
    ///
    /// A post that answers the reader is a reply even if it also mentions the reader.
    init?(
        _ notification: SandboxNotification, to reader: Int, in repository: inout BlueskyRepository,
        _ state: SandboxState
    ) {
        self.reader = reader
        author = notification.cause
        date = notification.createdAt
        switch notification.kind {
        case .mention:
            guard let post = notification.post.flatMap({ state.posts[$0] }),
                let entry = repository.entry(of: post.id, in: state)
            else { return nil }
            let isReply = post.replyToAuthor == reader && entry.reply != nil
            reason = isReply ? "reply" : "mention"
            subject = isReply ? entry.reply?.parent.uri : nil
            self.entry = entry
            self.post = post
        case .favorite:
            guard let post = notification.post, let liked = repository.entry(of: post, in: state),
                let like = repository.like(of: post, by: notification.cause, in: state)
            else { return nil }
            reason = "like"
            subject = liked.uri
            entry = like
            self.post = nil
        case .follow:
            reason = "follow"
            subject = nil
            entry = Self.follow(notification, of: reader, repository)
            post = nil
        }
    }

    private static func follow(
        _ notification: SandboxNotification, of reader: Int, _ repository: BlueskyRepository
    ) -> BlueskyRepository.Entry {
        let key = SandboxIdentity.recordKey(
            microseconds: UInt64(max(0, notification.createdAt.milliseconds)) * 1_000, clock: 0)
        return repository.entry(
            collection: RecordAddress.follows, key: key, by: notification.cause,
            record: [
                "$type": .text(RecordAddress.follows),
                "subject": .text(repository.people.ids[reader]),
                "createdAt": .text(notification.createdAt.rfc3339),
            ], createdAt: notification.createdAt)
    }

    func view(isRead: Bool, in repository: inout BlueskyRepository, _ state: SandboxState)
        -> WireJSON
    {
        let view: WireJSON = [
            "uri": .string(entry.uri), "cid": .string(entry.cid),
            "author": repository.author(author, for: reader, in: state), "reason": .string(reason),
            "record": entry.json(paddedLike: post), "isRead": .bool(isRead),
            "indexedAt": .string(date.rfc3339),
            "labels": [],
        ]
        let viewWithSubject = subject.map { view.adding(("reasonSubject", .string($0))) } ?? view
        return post?.flaw?.broken(viewWithSubject) ?? viewWithSubject
    }
}
