package import Posts

/// The treatment of the human's own threads.
package enum ThreadRule: String, CaseIterable, Sendable {
    /// Nothing of them is sent: not their first posts either, which would read like a sentence cut
    /// off.
    case leftOut = "left-out"
    /// They are sent whole, one part after the other.
    case whole
}

extension TextRules {
    /// Returns what a plan needs about a post that begins a thread; see ``preparation(of:)``.
    ///
    /// - Parameters:
    ///   - thread: What follows it; empty for a post that stands alone.
    ///   - isChain: Whether each part of it goes on from the one before, and it has an end.
    /// - Returns: As for a post alone; the length is that of the longest part.
    package func preparation(
        of post: Post, thread: [Post], isChain: Bool = true
    ) -> (key: String, unfit: Refusal.Reason?, length: Int) {
        var prepared = preparation(of: post)
        guard !thread.isEmpty, prepared.unfit == nil else { return prepared }
        guard sendsThreads, isChain else { return (prepared.key, .threadHead, 0) }
        for part in thread {
            let other = preparation(of: Self.standing(part))
            if let reason = other.unfit { return (prepared.key, reason, 0) }
            prepared.length = max(prepared.length, other.length)
        }
        return prepared
    }

    /// The texts of the posts that follow a thread's first, in their order: all, or why one of them
    /// may not be sent.
    ///
    /// - Parameters:
    ///   - thread: These posts; none for a post that stands alone.
    ///   - isChain: As for ``preparation(of:thread:isChain:)``.
    /// - Returns: Each with its post, which then answers nobody.
    package func texts(
        of thread: [Post], isChain: Bool = true
    ) -> Result<[(post: Post, text: String)], Refusal> {
        guard thread.isEmpty || sendsThreads && isChain else {
            return .failure(Refusal(.threadHead))
        }
        var texts: [(post: Post, text: String)] = []
        for part in thread.map(Self.standing) {
            switch text(for: part) {
            case .success(let text): texts.append((part, text))
            case .failure(let refusal): return .failure(refusal)
            }
        }
        return .success(texts)
    }

    private var sendsThreads: Bool { threads == .whole && network.traits.hasThreads }

    /// A part as if it answered nobody: whom it answers is its own author.
    ///
    /// - Parameter part: A post that goes on from another one of its author.
    /// - Returns: The post as if it answered nothing.
    package static func standing(_ part: Post) -> Post {
        var post = part
        post.replyTo = nil
        return post
    }
}
