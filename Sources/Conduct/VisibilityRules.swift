package import Posts

/// Who may see what the bot writes.
package enum VisibilityRules {
    /// Who may see a reply: nobody who may not see the mention, and never everybody's public timeline.
    package static func replyVisibility(for mention: Visibility) -> Visibility {
        narrower(mention, .unlisted)
    }

    /// Who may see a repeated post: nobody who may not see the original.
    ///
    /// - Parameters:
    ///   - original: Who may see the human's post.
    ///   - preferred: What the operator wants.
    /// - Returns: The narrower of the two.
    package static func postVisibility(original: Visibility, preferred: Visibility = .unlisted) -> Visibility {
        narrower(original, preferred)
    }

    private static func narrower(_ first: Visibility, _ second: Visibility) -> Visibility {
        let fromNarrowest: [Visibility] = [.direct, .private, .unlisted]
        return fromNarrowest.first { $0 == first || $0 == second } ?? .public
    }
}
