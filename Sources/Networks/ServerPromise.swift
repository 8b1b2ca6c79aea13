import Localization

/// A habit of a server that a mirror relies on and that `doctor --probe` can measure.
///
/// The measured value overrules the known habits of the server's program.
package enum ServerPromise: String, CaseIterable, Codable, Sendable {
    /// The returned address of a new post leads to that post, with the text that was sent.
    case publishes
    /// A post has the requested visibility, according to the server's answers to the account
    /// itself.
    case keepsVisibility = "visibility"
    /// A direct post is not shown without a login, and the server does not tell the account that
    /// the post is public.
    case hidesDirect = "direct"
    /// An unlisted post is shown to everybody.
    case showsUnlisted = "open"
    /// The account's own list contains a post that was just published; this is how a lost answer is
    /// resolved.
    case listsNewPosts = "lists"
    /// The account's own list has direct posts too.
    case listsDirect = "lists-direct"
    /// A reply names the post that it answers.
    case namesAnsweredPost = "answers"
    /// An edit replaces the text.
    case edits
    /// An edited post keeps its visibility.
    case editsKeepVisibility = "edits-keep-visibility"
    /// An edited post is marked as edited.
    case tellsEdits = "tells-edits"
    /// A deleted post is no longer shown to anybody, after ten seconds at most.
    case deletes
    /// A deleted post leaves the account's own list, ten seconds later at most.
    case unlistsDeleted = "unlists"

    /// The statement that is true if the server keeps the promise.
    package var text: String {
        switch self {
        case .publishes: localized("a post arrives with the text that was sent")
        case .keepsVisibility: localized("a post has the visibility that was asked for")
        case .hidesDirect: localized("a direct post is not shown without a login")
        case .showsUnlisted: localized("everybody can read the bot's posts")
        case .listsNewPosts: localized("the account's list shows what was just published")
        case .listsDirect: localized("the account's list shows its direct posts")
        case .namesAnsweredPost: localized("a reply names the post that it answers")
        case .edits: localized("a post can be changed")
        case .editsKeepVisibility: localized("a changed post keeps its visibility")
        case .tellsEdits: localized("a changed post is marked as changed")
        case .deletes: localized("a deleted post can no longer be read")
        case .unlistsDeleted: localized("a deleted post leaves the account's list")
        }
    }

    /// The consequence for the mirror if the server does not keep the promise.
    package var consequence: String {
        switch self {
        case .publishes:
            localized(
                "published posts cannot be recognised, so a post whose answer is lost stays unconfirmed"
            )
        case .keepsVisibility:
            localized(
                "posts may be shown to more or to fewer people than intended, so nothing is published there"
            )
        case .hidesDirect:
            localized(
                "answers for one person would be shown to everybody, so such mentions stay unanswered"
            )
        case .showsUnlisted: localized("other people cannot see the bot's posts")
        case .listsNewPosts: localized("a post whose answer is lost stays unconfirmed")
        case .listsDirect:
            localized(
                """
                an answer for few whose answer from the server is lost is looked for below the answered post, and \
                stays unconfirmed if it is not there
                """)
        case .namesAnsweredPost:
            localized("the recipient of a reply is unknown, so some mentions stay unanswered")
        case .edits, .editsKeepVisibility:
            localized("a copy is deleted, and not changed, when the human changes the original")
        case .tellsEdits: localized("changes are found by comparing texts")
        case .deletes: localized("deleted posts are recognised by the account's list alone")
        case .unlistsDeleted: localized("a deleted post may seem to exist still")
        }
    }
}
