import Foundation
import Posts

/// Making posts of ours from pages.
extension BlueskyNetwork {
    /// What is read of the replies below a post, in bytes.
    private static let maximumReplies = 256 << 10

    /// A page in our own terms, with what must be asked for besides.
    func page(of slice: BlueskySlice, _ feed: Feed) async throws -> FeedPage {
        let operation = Self.operation(feed)
        let favorites = try await favorites(in: slice, operation)
        let own = try await ownPosts(slice.entries.compactMap(\.content.record))
        let profiles = slice.entries.compactMap(\.content.profile) + favorites.readable.values.map(\.author)
        let bios = try await bios(of: profiles, operation)
        let translator = BlueskyTranslator(now: client.now())
        var page = FeedPage(
            items: [], received: slice.entries.count, rateLimit: slice.rateLimit)
        var keys: Set<String> = []
        for entry in slice.entries {
            var post: ObservedPost?
            switch entry.content {
            case .record(let reference, _): post = own[reference]
            case .view(let view, let isRepost):
                post = translator.post(view, isRepost: isRepost, bio: bios[view.author.did])
            case .notification(let notification, let author, let record):
                // Who names the bot wants an answer, and nothing of it is learned: the wish not to be shown to
                // strangers does not narrow who may see the answer.
                post = translator.post(
                    notification.reference, record, by: translator.account(author, bio: bios[author.did]),
                    noticedAt: notification.indexedAt)
            case .favorite(let reference):
                post = favorites.readable[reference.address.uri]
                    .map { translator.post($0, bio: bios[$0.author.did]) }
                post?.isFavorited = true
                if favorites.unreadable.contains(reference.address.uri) {
                    page.unreadable.append(
                        UnreadableItem(
                            address: reference.text, digest: JSONBody.digest(reference.text.utf8),
                            cause: "it is not as posts are"))
                }
            case .other: break
            case .unreadable(let address, let cause):
                page.unreadable.append(UnreadableItem(address: address, digest: entry.digest, cause: cause))
            }
            if let post, keys.insert(post.repetitionKey).inserted { page.items.append(post) }
        }
        return page
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        let operation = NetworkError.Operation.readConversation
        let parent = try reference(address, operation).address
        var call = BlueskyCall(
            operation, "app.bsky.feed.getPostThread",
            [(name: "uri", value: parent.uri), (name: "depth", value: "1"), (name: "parentHeight", value: "0")])
        call.maximumBytes = Self.maximumReplies
        let (answer, host) = try await answer(to: call)
        if case .refusal(let refusal) = answer, refusal.name == "NotFound" { return [] }
        let thread = try client.decode(BlueskyThread.self, from: try answer.response(), call, host: host)
        let replies = thread.replies.filter { $0.record.reply?.parent.address == parent }
        let bios = try await bios(of: replies.map(\.author), operation)
        let translator = BlueskyTranslator(now: client.now())
        return replies.map { view in
            // As in a notification of it.
            var post = translator.post(
                view.reference, view.record, by: translator.account(view.author, bio: bios[view.author.did]),
                noticedAt: view.indexedAt)
            post.isFavorited = view.isFavorited ?? false
            return post
        }
    }

    /// Posts of the account itself.
    func ownPosts(
        _ records: [(reference: RecordReference, record: BlueskyPostRecord)]
    ) async throws -> [RecordReference: ObservedPost] {
        guard !records.isEmpty else { return [:] }
        let (author, visibility) = try await ownAuthor()
        let translator = BlueskyTranslator(now: client.now())
        let posts = records.map { reference, record in
            (
                reference,
                translator.post(reference, record, by: author, noticedAt: nil, visibility: visibility)
            )
        }
        return Dictionary(posts) { first, _ in first }
    }

    /// The account as the author of its posts, and who may see these.
    ///
    /// Whoever gives an app password agrees to the mirror. Without one the wish not to be shown to strangers counts as
    /// anybody's would: the posts are ``Visibility/private``.
    private func ownAuthor() async throws -> (Account, Visibility) {
        guard let sessions else {
            let profile = try await ownProfile()
            let visibility: Visibility = profile.hidesFromStrangers ? .private : .public
            return (BlueskyTranslator(now: client.now()).account(profile), visibility)
        }
        // Reading back what was sent must not depend on a server that gathers everybody's posts.
        let session = try await sessions.current()
        let account = Account(
            id: AccountID(network: .bluesky, value: session.did), handle: session.handle ?? session.did,
            address: session.did)
        return (account, .public)
    }

    private func favorites(
        in slice: BlueskySlice, _ operation: NetworkError.Operation
    ) async throws -> BlueskyViews {
        var uris: [String] = []
        for entry in slice.entries {
            if case .favorite(let reference) = entry.content, !uris.contains(reference.address.uri) {
                uris.append(reference.address.uri)
            }
        }
        return try await views(of: uris, operation)
    }
}

extension BlueskySlice.Content {
    fileprivate var record: (reference: RecordReference, record: BlueskyPostRecord)? {
        if case .record(let reference, let record) = self { return (reference, record) }
        return nil
    }

    /// The author, for posts of others that came with one.
    fileprivate var profile: BlueskyProfile? {
        switch self {
        case .view(let view, _): view.author
        case .notification(_, let author, _): author
        case .record, .favorite, .other, .unreadable: nil
        }
    }
}
