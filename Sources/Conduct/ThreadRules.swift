package import Posts

/// The treatment of the human's own threads.
package enum ThreadRule: String, CaseIterable, Sendable {
    /// No part of a thread is sent, not even the first, which would read like an incomplete
    /// sentence.
    case leftOut = "left-out"
    /// A thread is sent whole, one part after the other.
    case whole
}

extension TextRules {
    /// Returns the stored facts about a post that begins a thread; see ``preparation(of:)``.
    ///
    /// - Parameters:
    ///   - thread: The posts that follow it; empty for a post without a thread.
    ///   - isChain: Whether each part continues the one before, and the thread has an end.
    /// - Returns: As for a single post; the length is that of the longest part.
    package func preparation(
        of post: Post, thread: [Post], isChain: Bool = true
    ) -> (key: String, unfit: Refusal.Reason?, length: Int) {
        var prepared = preparation(of: post)
        guard !thread.isEmpty, prepared.unfit == nil else { return prepared }
        guard sendsThreads, isChain else { return (prepared.key, .threadHead, 0) }
        for part in thread {
            let preparedPart = preparation(of: Self.withoutReplyTarget(part))
            if let reason = preparedPart.unfit { return (prepared.key, reason, 0) }
            prepared.length = max(prepared.length, preparedPart.length)
        }
        return prepared
    }

    /// The texts of the posts that follow a thread's first, in their order, or why one of them may
    /// not be sent.
    ///
    /// - Parameters:
    ///   - thread: The posts that follow it; empty for a post without a thread.
    ///   - isChain: As for ``preparation(of:thread:isChain:)``.
    /// - Returns: Each text with its post, whose reply target is removed.
    package func texts(
        of thread: [Post], isChain: Bool = true
    ) -> Result<[(post: Post, text: String)], Refusal> {
        guard thread.isEmpty || sendsThreads && isChain else {
            return .failure(Refusal(.threadHead))
        }
        var texts: [(post: Post, text: String)] = []
        for part in thread.map(Self.withoutReplyTarget) {
            switch text(for: part) {
            case .success(let text): texts.append((part, text))
            case .failure(let refusal): return .failure(refusal)
            }
        }
        return .success(texts)
    }

    private var sendsThreads: Bool { threads == .whole && network.traits.hasThreads }

    /// A part of a thread without its reply target, which is its own author.
    ///
    /// - Parameter part: A post that continues another one of its author.
    /// - Returns: The post as if it answered nothing.
    package static func withoutReplyTarget(_ part: Post) -> Post {
        var post = part
        post.replyTo = nil
        return post
    }
}
