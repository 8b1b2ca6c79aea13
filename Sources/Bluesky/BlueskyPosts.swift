import Formats
import Foundation
import NetworkNames
package import Networks
import Posts

/// The translation of pages into posts of the common model.
extension BlueskyNetwork {
    /// Size limit of an answer with the replies below a post, in bytes.
    private static let maximumReplyBytes = 256 << 10

    /// A page in the common model, with data from further requests.
    func page(of slice: BlueskySlice, _ feed: Feed) async throws -> FeedPage {
        let operation = feed.operation
        let favorites = try await favorites(in: slice, operation)
        let ownPosts = try await ownPosts(slice.entries.compactMap(\.content.record))
        let profiles =
            slice.entries.compactMap(\.content.profile) + favorites.readable.values.map(\.author)
        let bios = try await bios(of: profiles, operation)
        let translator = BlueskyTranslator(now: client.now())
        var page = FeedPage(
            items: [], received: slice.entries.count, rateLimit: slice.rateLimit)
        for entry in slice.entries {
            var post: ObservedPost?
            switch entry.content {
            case .record(let reference, _): post = ownPosts[reference]
            case .view(let view, let isRepost):
                post = translator.post(view, isRepost: isRepost, bio: bios[view.author.did])
            case .notification(let notification, let author, let record):
                // A person who mentions the bot wants an answer, and the bot learns nothing from
                // the mention. So the author's wish to be hidden from logged-out readers is
                // ignored.
                post = translator.post(
                    notification.reference, record,
                    by: translator.account(author, bio: bios[author.did]),
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
                page.unreadable.append(
                    UnreadableItem(address: address, digest: entry.digest, cause: cause))
            }
            if let post { page.items.append(post) }
        }
        page.items = page.items.distinct
        return page
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        let operation = NetworkError.Operation.readConversation
        let parent = try reference(address, operation).address
        var call = NetworkCall(
            operation, "app.bsky.feed.getPostThread",
            [
                (name: "uri", value: parent.uri), (name: "depth", value: "1"),
                (name: "parentHeight", value: "0"),
            ])
        call.maximumBytes = Self.maximumReplyBytes
        let answer = try await answer(to: call)
        if answer.refusal?.name == "NotFound" { return [] }
        let replies = try answer.value(BlueskyThread.self).replies.filter {
            $0.record.reply?.parent.address == parent
        }
        let bios = try await bios(of: replies.map(\.author), operation)
        let translator = BlueskyTranslator(now: client.now())
        return replies.map { view in
            // As for a mention in a notification, the author's wish to be hidden is ignored.
            var post = translator.post(
                view.reference, view.record,
                by: translator.account(view.author, bio: bios[view.author.did]),
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
        let hasImages = records.contains { !$0.record.images.isEmpty }
        let server = hasImages ? try await recordServer() : nil
        let posts = records.map { reference, record in
            var post = translator.post(
                reference, record, by: author, noticedAt: nil, visibility: visibility)
            post.post.pictures = Picture.all(
                record.images.map { $0?.picture(of: author.id.value, at: server) })
            return (reference, post)
        }
        return Dictionary(posts) { first, _ in first }
    }

    /// The account as the author of its posts, and their visibility.
    ///
    /// A person who provides an app password consents to the mirror, so the posts are public.
    /// Without one, the posts of a person who wants to be hidden from logged-out readers are
    /// ``Visibility/private``, as for other people.
    private func ownAuthor() async throws -> (Account, Visibility) {
        guard let sessions else {
            let profile = try await ownProfile()
            let visibility: Visibility = profile.hidesFromStrangers ? .private : .public
            return (BlueskyTranslator(now: client.now()).account(profile), visibility)
        }
        // The account's own server is read, because an app view may lag behind.
        let session = try await sessions.current()
        let account = Account(
            id: AccountID(network: .bluesky, value: session.did),
            handle: session.handle ?? session.did,
            address: session.did)
        return (account, .public)
    }

    /// The server of the account's records and files.
    private func recordServer() async throws -> ServerAddress {
        if let sessions { return try await sessions.current().server }
        return try await identity().server
    }

    private func favorites(
        in slice: BlueskySlice, _ operation: NetworkError.Operation
    ) async throws -> BlueskyViews {
        var uris: [String] = []
        for entry in slice.entries {
            if case .favorite(let reference) = entry.content, !uris.contains(reference.address.uri)
            {
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

    /// The author's profile, if the answer contains it with the post.
    fileprivate var profile: BlueskyProfile? {
        switch self {
        case .view(let view, _): view.author
        case .notification(_, let author, _): author
        case .record, .favorite, .other, .unreadable: nil
        }
    }
}

extension BlueskyImage {
    /// The picture of an account, on the server that keeps its files.
    fileprivate func picture(of did: String, at server: ServerAddress?) -> Picture {
        let query = PercentEncoding.query([("did", did), ("cid", blob.cid)])
        let url = server.map { "\($0.base)/xrpc/com.atproto.sync.getBlob?\(query)" }
        return Picture(url: url, alt: alt, width: width, height: height).cleaned
    }
}

/// Translates posts and accounts of a server into the common model.
struct BlueskyTranslator {
    let now: Date

    /// The account of `wire`; `bio` is its profile text if `wire` lacks it.
    func account(_ wire: BlueskyProfile, bio: String? = nil) -> Account {
        Account(
            id: AccountID(network: .bluesky, value: wire.did), handle: wire.handle,
            displayName: PlainText.cleaned(wire.displayName), isBot: wire.isBot,
            bio: PlainText.cleaned(wire.description ?? bio ?? ""), address: wire.did)
    }

    /// A post from a server's view of it.
    ///
    /// The posts of an author who wants to be hidden from logged-out readers are
    /// ``Visibility/private``, so that they are neither learned nor repeated.
    func post(_ view: BlueskyPostView, isRepost: Bool = false, bio: String? = nil) -> ObservedPost {
        var observed = post(
            view.reference, view.record, by: account(view.author, bio: bio),
            noticedAt: view.indexedAt,
            visibility: view.author.hidesFromStrangers ? .private : .public)
        observed.post.isRepost = isRepost
        observed.post.isSensitive = observed.post.isSensitive || view.isSensitive
        observed.isFavorited = view.isFavorited ?? false
        observed.replyNeedsApproval = view.isReplyDisabled || view.author.isBlocked
        observed.favoriteNeedsApproval = view.author.isBlocked
        return observed
    }

    /// Translates a post from its record.
    ///
    /// - Parameters:
    ///   - noticedAt: The time at which a server first saw the post; nil if only the record is
    ///     known.
    ///   - visibility: The visibility of the author's posts. All are public on Bluesky; those of an
    ///     author who wants to be hidden from logged-out readers count as private.
    func post(
        _ reference: RecordReference, _ record: BlueskyPostRecord, by author: Account,
        noticedAt: Date?,
        visibility: Visibility = .public
    ) -> ObservedPost {
        let address = reference.address
        var post = record.post(
            at: address, by: author.id, noticedAt: noticedAt, now: now, visibility: visibility)
        post.address = reference.text
        return ObservedPost(
            post: post, author: author, address: reference.text,
            replyToAddress: record.reply?.parent.text,
            conversation: record.isReply ? record.reply?.root.address.uri : address.uri,
            threadAuthors: Set(
                [record.reply?.root, record.reply?.parent].compactMap { $0?.address.repository }.map
                {
                    AccountID(network: .bluesky, value: $0)
                }))
    }
}
