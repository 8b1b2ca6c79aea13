package import Posts

/// Which of the human's texts may be sent, and in what form.
package struct TextRules: Equatable, Sendable {
    /// The network to which the texts are sent, whose customs hold.
    package var network: NetworkName
    /// The treatment of links.
    package var links: LinkRule
    /// The limits of the bot's server.
    package var limits: PublishingLimits
    /// Whether a reply must name the person answered, who is not notified otherwise.
    package var repliesNameThePerson: Bool
    /// Whether a post with a warning is sent with that, where the network has a place for it, and
    /// not left out.
    package var carriesWarnings: Bool
    /// Which of the human's pictures are sent along with their posts.
    package var pictures: PictureRule
    /// The treatment of the human's own threads.
    package var threads: ThreadRule

    /// - Parameters:
    ///   - network: The network to which the texts are sent.
    ///   - links: The treatment of links.
    ///   - limits: The limits of the bot's server; `nil` for the usual ones of the network.
    ///   - repliesNameThePerson: Whether a reply must name the person answered.
    ///   - carriesWarnings: Whether a post with a warning is sent with that.
    ///   - pictures: Which of the human's pictures are sent along.
    ///   - threads: The treatment of the human's own threads.
    package init(
        network: NetworkName = .usual, links: LinkRule = .kept, limits: PublishingLimits? = nil,
        repliesNameThePerson: Bool = true, carriesWarnings: Bool = false,
        pictures: PictureRule = .leftOut,
        threads: ThreadRule = .leftOut
    ) {
        self.network = network
        self.links = links
        self.limits = limits ?? .usual(of: network)
        self.repliesNameThePerson = repliesNameThePerson
        self.carriesWarnings = carriesWarnings
        self.pictures = pictures
        self.threads = threads
    }

    /// The fewest letters and digits that make a text worth sending.
    package static let minimumWordCharacters = 3

    /// The text to publish for one of the human's posts.
    ///
    /// Mentions lose their `@`, so that nobody is notified; on X hashtags lose
    /// their `#`, and cashtags but one their `$`. Nothing is ever cut off, except
    /// hashtags at the end on X, which are no part of the sentence.
    ///
    /// - Parameter post: A post that is not a reply.
    /// - Returns: The text as it may be sent, or why it may not.
    package func text(for post: Post) -> Result<String, Refusal> {
        if post.isReply { return .failure(Refusal(.isReply)) }
        if let refusal = refusalOfOrigin(post) ?? refusalOfMedia(post) { return .failure(refusal) }
        let text = TextCleaning.normalized(post.text)
        if TextShape.beginsWithMention(text) {
            return .failure(Refusal(.mentionsOthers))
        }
        return checked(cleaned(text), from: text, besides: warningLength(of: post))
    }

    /// The text to answer `handle` with, made of one of the human's old replies.
    ///
    /// Where the person answered is notified only by name, it begins with that
    /// one mention; no other mention is left.
    ///
    /// - Parameters:
    ///   - post: One of the human's replies.
    ///   - handle: The account to answer, without the leading `@`.
    /// - Returns: The text as it may be sent, or why it may not.
    package func replyText(for post: Post, to handle: String) -> Result<String, Refusal> {
        var prefix = ""
        if repliesNameThePerson {
            guard let handle = Handle(handle, on: network) else {
                return .failure(Refusal(.badHandle))
            }
            prefix = "\(handle) "
        }
        if !post.isReply { return .failure(Refusal(.notAReply)) }
        if let refusal = refusalOfOrigin(post) { return .failure(refusal) }
        if post.hasMedia { return .failure(Refusal(.hasMedia)) }
        let text = TextCleaning.withoutLeadingMentions(TextCleaning.normalized(post.text))
        return checked(cleaned(text), from: text, prefix: prefix, besides: warningLength(of: post))
    }

    /// Names these rules as far as they decide ``preparation(of:)``: others may come to other
    /// results.
    ///
    /// Begins with a number that grows when this program's own rules change. The limits of the
    /// bot's server have no part in it.
    package var version: String {
        let usual = PublishingLimits.usual(of: network)
        let address = usual.charactersPerURL.map(String.init) ?? "-"
        let bytes = usual.maximumBytes.map(String.init) ?? "-"
        let warnings = carriesWarnings ? " warned" : ""
        let media = pictures == .leftOut ? "" : " pictures \(pictures.rawValue)"
        // Not to be left out: earlier rules knew of no threads.
        let whole = " threads \(threads.rawValue)"
        let counting = "\(usual.unit.rawValue) \(address) \(bytes)"
        return "4 \(network.rawValue) \(links.rawValue) \(counting)\(warnings)\(media)\(whole)"
    }

    /// Facts about a post that are stored before there is a plan, the same whatever the bot's
    /// server is.
    ///
    /// The length is counted as is usual on the network. A server that counts otherwise, or allows
    /// less, is asked when a text is chosen (``text(for:)``).
    ///
    /// - Parameter post: One of the human's posts.
    /// - Returns: What texts that read the same have in common, of what would be sent or else of
    ///   the post; why nothing may be sent, if so; and the length of what would be.
    package func preparation(of post: Post) -> (key: String, unfit: Refusal.Reason?, length: Int) {
        var rules = self
        rules.limits = .usual(of: network)
        rules.limits.maximumCharacters = .max
        switch rules.text(for: post) {
        case .success(let text):
            return (
                Self.textKey(text), nil,
                TextLength.count(text, limits: rules.limits) + warningLength(of: post)
            )
        case .failure(let refusal): return (Self.textKey(post.text), refusal.reason, 0)
        }
    }

    private func refusalOfOrigin(_ post: Post) -> Refusal? {
        if !post.isOpen { return Refusal(.notOpen) }
        if post.isQuote { return Refusal(.quotesAPost) }
        if post.isRepost || TextShape.isManualRepost(post.text) { return Refusal(.isRepost) }
        if post.isSensitive, !carries(post) { return Refusal(.sensitive) }
        if TextShape.isTruncated(post.text) { return Refusal(.truncated) }
        return nil
    }

    // MARK: Pictures

    /// Why a post may not be sent for what is attached to it; nil if nothing is, or all of it goes
    /// along.
    package func refusalOfMedia(_ post: Post) -> Refusal? {
        guard post.hasMedia else { return nil }
        guard pictures != .leftOut, !post.pictures.isEmpty else { return Refusal(.hasMedia) }
        let lengths = post.pictures.map(\.alt.unicodeScalars.count)
        if pictures == .described, lengths.contains(0) { return Refusal(.noAltText) }
        return lengths.contains { $0 > network.traits.longestAlt } ? Refusal(.longAltText) : nil
    }

    /// The pictures to send along with the text of a post.
    ///
    /// - Parameter post: One of the human's posts, which may be sent.
    /// - Returns: None if the post has none.
    package func pictures(of post: Post) -> [Picture] {
        guard post.hasMedia, pictures != .leftOut else { return [] }
        return post.pictures.map { picture in
            var picture = picture
            picture.isSensitive = post.isSensitive ? true : nil
            return picture
        }
    }

    /// Whether what a sensitive post warns of can be sent along: its words, or, where its pictures
    /// alone are what nobody should see unasked, that they are.
    package func carries(_ post: Post) -> Bool {
        if warning(of: post) != nil { return true }
        return carriesWarnings && network.traits.hidesPictures && post.warning == nil
            && !pictures(of: post).isEmpty
    }

    // MARK: Warnings

    /// The warning to send along with the text of a post.
    ///
    /// - Parameter post: One of the human's posts.
    /// - Returns: Nil if the post has none, or none that can be sent.
    package func warning(of post: Post) -> String? {
        guard carriesWarnings, post.isSensitive, let warning = post.warning else { return nil }
        switch network.traits.warnings {
        case .words:
            let text = cleaned(TextCleaning.normalized(warning))
            return text.isEmpty ? nil : text
        case .labels(let known):
            let labels = warning.split(separator: " ").map(String.init)
            return !labels.isEmpty && known.isSuperset(of: labels) ? warning : nil
        case .none: return nil
        }
    }

    private func warningLength(of post: Post) -> Int { length(ofWarning: warning(of: post)) }

    /// Characters of the server's limit that a content warning takes: words count, labels do not.
    func length(ofWarning warning: String?) -> Int {
        network.traits.warnings == .words ? warning?.unicodeScalars.count ?? 0 : 0
    }

    private func cleaned(_ text: String) -> String { TextCleaning.inert(text, on: network) }

    /// The text if it may be sent; what cleaning left is not believed but looked at.
    private func checked(
        _ cleaned: String, from text: String, prefix: String = "", besides warningLength: Int
    ) -> Result<String, Refusal> {
        // A host that was part of a mention is gone by now.
        let isLinked = PlainTokens(text).hasLink || TextShape.hasScheme(text) || hasLink(cleaned)
        if links == .leftOut, isLinked { return .failure(Refusal(.hasLink)) }
        if PlainTokens(cleaned).needsCleaning { return .failure(Refusal(.mentionsOthers)) }
        // What an emoji is called are no words, and the bot's server may lack it.
        guard
            [text, cleaned].map({ TextShape.wordCharacters(in: CustomEmoji.leftOut(of: $0)) })
                .allSatisfy({ $0 >= Self.minimumWordCharacters })
        else { return .failure(Refusal(.noWords)) }
        if let refusal = TextLength.refusal(
            of: prefix + cleaned, besides: warningLength, limits: limits)
        {
            return .failure(refusal)
        }
        return .success(prefix + cleaned)
    }

    /// Whether the network may make a link of anything in the text.
    private func hasLink(_ text: String) -> Bool {
        network.traits.chargesForHosts
            ? TextShape.hasScheme(text) || XLink.occurs(in: text) : TextShape.hasLink(text)
    }
}

/// Which of the human's own pictures are sent along with their posts.
package enum PictureRule: String, CaseIterable, Sendable {
    /// None, and no post that has some.
    case leftOut = "left-out"
    /// Those of posts of which every picture is described in words.
    case described
    /// All.
    case all
}

/// The treatment of a text that has a link.
package enum LinkRule: String, CaseIterable, Sendable {
    /// It is sent as it is.
    case kept
    /// It is not sent.
    case leftOut = "left-out"
}

/// How long a server finds a text.
package enum TextLength {
    /// Counts as the server does, and never less.
    ///
    /// Where links have a length of their own, as on Mastodon, a link counts
    /// that, and a mention counts without its host; a link that the server may
    /// not recognise counts in full if that is more. Where they have none,
    /// everything counts as it is written. X counts weights.
    ///
    /// - Parameters:
    ///   - text: The text as it is sent.
    ///   - limits: The server's way of counting.
    /// - Returns: The length in `limits.unit`.
    package static func count(_ text: String, limits: PublishingLimits) -> Int {
        guard limits.unit != .xWeight else { return XWeightedText.weight(of: text) }
        guard let linkLength = limits.charactersPerURL else {
            return limits.unit == .graphemes ? clusters(of: text) : text.unicodeScalars.count
        }
        var rest = String.UnicodeScalarView()
        var links = 0
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): rest.append(scalar)
            case .mention(let name):
                rest.append("@")
                rest.append(contentsOf: name)
            case .link(let link, let isCertain):
                let cost = max(0, linkLength)
                // Servers may read such letters at the end as the sentence going on.
                let doubtful = link.reversed().prefix(while: \.isWrittenWithoutSpaces).count
                links += doubtful + (isCertain ? cost : max(cost, link.count))
            }
        }
        return links + (limits.unit == .graphemes ? clusters(of: String(rest)) : rest.count)
    }

    /// The number of grapheme clusters by the rules that find the most.
    ///
    /// Since Unicode 15.1 consonants of Indic scripts that a virama joins are one cluster. Servers
    /// count by older rules, in which each of them is one.
    private static func clusters(of text: String) -> Int {
        // Nearly all texts have no such letter.
        guard text.unicodeScalars.contains(where: { indic.contains($0.value) }) else {
            return text.count
        }
        return text.reduce(0) { $0 + 1 + joins(in: $1) }
    }

    /// The letters in a cluster that stand behind a virama.
    private static func joins(in cluster: Character) -> Int {
        var isJoined = false
        var count = 0
        for scalar in cluster.unicodeScalars {
            let properties = scalar.properties
            if properties.canonicalCombiningClass.rawValue == virama {
                isJoined = true
            } else if properties.generalCategory == .otherLetter {
                if isJoined { count += 1 }
                isJoined = false
            }
        }
        return count
    }

    /// The scripts of India and their neighbors.
    private static let indic: ClosedRange<UInt32> = 0x0900...0x109F

    /// The combining class of signs that join consonants.
    private static let virama: UInt8 = 9

    /// Whether the text may be published on the server.
    static func refusal(of text: String, besides other: Int, limits: PublishingLimits) -> Refusal? {
        let length = count(text, limits: limits) + other
        if length > limits.maximumCharacters {
            return Refusal(
                .tooLong,
                "the text has \(length) characters, and the server allows \(limits.maximumCharacters)"
            )
        }
        if let maximum = limits.maximumBytes, text.utf8.count > maximum {
            return Refusal(
                .tooLong, "the text has \(text.utf8.count) bytes, and the server allows \(maximum)")
        }
        return nil
    }
}

extension Visibility {
    /// The visibility of a text that the bot writes because of a post with this visibility.
    ///
    /// Nobody may see it who may not see that post, and it is never in everybody's public timeline.
    package var ofRepetition: Visibility { self == .public ? .unlisted : self }
}
