import Localization
package import Posts

/// The rules that decide which of the human's texts may be sent, and in what form.
package struct TextRules: Equatable, Sendable {
    /// The network to which the texts are sent; its customs apply.
    package var network: NetworkName
    /// The treatment of links.
    package var links: LinkRule
    /// The limits of the bot's server.
    package var limits: PublishingLimits
    /// Whether a reply must name the person answered, because the network notifies by name only.
    package var repliesNameThePerson: Bool
    /// Whether a post with a warning is sent with it, if the network supports warnings, instead of
    /// being left out.
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
    ///   - carriesWarnings: Whether a post with a warning is sent with its warning.
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

    /// The fewest letters and digits in a text that is sent.
    package static let minimumWordCharacters = 3

    /// The text to publish for one of the human's posts.
    ///
    /// Mentions lose their `@`, so that nobody is notified. On X hashtags lose their `#`, and all
    /// cashtags but one lose their `$`. Nothing is cut off, except, on X, hashtags at the end that
    /// are not part of the sentence.
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

    /// The text with which to answer `handle`, made of one of the human's old replies.
    ///
    /// If the network notifies the person answered by name only, the text begins with that one
    /// mention; all other mentions are removed.
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

    /// The version of the rules as far as they affect ``preparation(of:)``: other versions may have
    /// other results.
    ///
    /// Begins with a number that grows when this program's own rules change. It does not depend on
    /// the limits of the bot's server.
    package var version: String {
        let usual = PublishingLimits.usual(of: network)
        let address = usual.charactersPerURL.map(String.init) ?? "-"
        let bytes = usual.maximumBytes.map(String.init) ?? "-"
        let warnings = carriesWarnings ? " warned" : ""
        let media = pictures == .leftOut ? "" : " pictures \(pictures.rawValue)"
        // Always included, because earlier versions did not handle threads.
        let threadRule = " threads \(threads.rawValue)"
        let counting = "\(usual.unit.rawValue) \(address) \(bytes)"
        return "4 \(network.rawValue) \(links.rawValue) \(counting)\(warnings)\(media)\(threadRule)"
    }

    /// Facts about a post that are stored before a plan is made; they do not depend on the bot's
    /// server.
    ///
    /// The length is counted by the network's usual rules. ``text(for:)`` applies the limits of the
    /// bot's own server when a text is chosen.
    ///
    /// - Parameter post: One of the human's posts.
    /// - Returns: The ``textKey(_:)`` of the text to be sent, or else of the post; the reason if
    ///   nothing may be sent, or nil; and the length of the text to be sent.
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

    /// Why a post may not be sent because of its attachments; nil if it has none, or if all of them
    /// can be sent.
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
    /// - Returns: Empty if the post has none.
    package func pictures(of post: Post) -> [Picture] {
        guard post.hasMedia, pictures != .leftOut else { return [] }
        return post.pictures.map { picture in
            var picture = picture
            picture.isSensitive = post.isSensitive ? true : nil
            return picture
        }
    }

    /// Whether the warning of a sensitive post can be sent along: its words, or, if it marks only
    /// its pictures as sensitive, that mark.
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
        switch network.traits.warningForm {
        case .words:
            let text = cleaned(TextCleaning.normalized(warning))
            return text.isEmpty ? nil : text
        case .labels(let allowedLabels):
            let labels = warning.split(separator: " ").map(String.init)
            return !labels.isEmpty && allowedLabels.isSuperset(of: labels) ? warning : nil
        case .none: return nil
        }
    }

    private func warningLength(of post: Post) -> Int { length(ofWarning: warning(of: post)) }

    /// Returns the number of characters that a content warning counts against the server's limit:
    /// its words count, labels do not.
    func length(ofWarning warning: String?) -> Int {
        network.traits.warningForm == .words ? warning?.unicodeScalars.count ?? 0 : 0
    }

    private func cleaned(_ text: String) -> String { TextCleaning.inert(text, on: network) }

    /// Checks the text once more after the cleaning and returns it if it may be sent.
    private func checked(
        _ cleaned: String, from text: String, prefix: String = "", besides warningLength: Int
    ) -> Result<String, Refusal> {
        // The text before the cleaning is checked too, because the cleaning may have removed the
        // host of a mention.
        let isLinked = PlainTokens(text).hasLink || TextShape.hasScheme(text) || hasLink(cleaned)
        if links == .leftOut, isLinked { return .failure(Refusal(.hasLink)) }
        if PlainTokens(cleaned).needsCleaning { return .failure(Refusal(.mentionsOthers)) }
        // The name of an emoji does not count as words, and the bot's server may lack the emoji.
        guard
            [text, cleaned].map({ TextShape.wordCharacters(in: CustomEmoji.removed(from: $0)) })
                .allSatisfy({ $0 >= Self.minimumWordCharacters })
        else { return .failure(Refusal(.noWords)) }
        if let refusal = TextLength.refusal(
            of: prefix + cleaned, besides: warningLength, limits: limits)
        {
            return .failure(refusal)
        }
        return .success(prefix + cleaned)
    }

    /// Whether the network may turn any part of the text into a link.
    private func hasLink(_ text: String) -> Bool {
        network.traits.chargesForHosts
            ? TextShape.hasScheme(text) || XLink.occurs(in: text) : TextShape.hasLink(text)
    }
}

/// Which of the human's own pictures are sent along with their posts.
package enum PictureRule: String, CaseIterable, Sendable {
    /// No pictures, and no posts with pictures.
    case leftOut = "left-out"
    /// Pictures of posts in which every picture has a description.
    case described
    /// All pictures.
    case all
}

/// The treatment of a text that has a link.
package enum LinkRule: String, CaseIterable, Sendable {
    /// The text is sent unchanged.
    case kept
    /// The text is not sent.
    case leftOut = "left-out"
}

/// The length of a text as a server counts it.
package enum TextLength {
    /// Returns the length that the server counts, or a larger one.
    ///
    /// If links have a fixed length, as on Mastodon, a link counts as that length, and a mention
    /// counts without its host; a link that the server may not recognise counts in full if it is
    /// longer. Otherwise, every character counts; on X by its weight.
    ///
    /// - Parameters:
    ///   - text: The text to be sent.
    ///   - limits: The server's way of counting.
    /// - Returns: The length in `limits.unit`.
    package static func count(_ text: String, limits: PublishingLimits) -> Int {
        guard limits.unit != .xWeight else { return XWeightedText.weight(of: text) }
        guard let linkLength = limits.charactersPerURL else {
            return limits.unit == .graphemes ? clusters(of: text) : text.unicodeScalars.count
        }
        var withoutLinks = String.UnicodeScalarView()
        var linkLengths = 0
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): withoutLinks.append(scalar)
            case .mention(let name):
                withoutLinks.append("@")
                withoutLinks.append(contentsOf: name)
            case .link(let link, let isCertain):
                let cost = max(0, linkLength)
                // Servers may read such letters at the end as a continuation of the sentence.
                let lettersAtEnd = link.reversed().prefix(while: \.isWrittenWithoutSpaces).count
                linkLengths += lettersAtEnd + (isCertain ? cost : max(cost, link.count))
            }
        }
        return linkLengths
            + (limits.unit == .graphemes ? clusters(of: String(withoutLinks)) : withoutLinks.count)
    }

    /// The number of grapheme clusters by the rules that yield the highest number.
    ///
    /// Since Unicode 15.1 consonants of Indic scripts that a virama joins are one cluster. Servers
    /// may count by older rules, which count each of them.
    private static func clusters(of text: String) -> Int {
        // Nearly all texts have no such letter.
        guard text.unicodeScalars.contains(where: { indic.contains($0.value) }) else {
            return text.count
        }
        return text.reduce(0) { $0 + 1 + joins(in: $1) }
    }

    /// The number of letters in a cluster that follow a virama.
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

    /// Why the text is too long for the server; nil if it is not.
    ///
    /// - Parameter otherLength: The length of what counts beside the text, such as a warning.
    static func refusal(
        of text: String, besides otherLength: Int, limits: PublishingLimits
    ) -> Refusal? {
        let length = count(text, limits: limits) + otherLength
        if length > limits.maximumCharacters {
            return Refusal(
                .tooLong,
                localized(
                    "the text has \(length) characters, and the server allows \(limits.maximumCharacters)"
                ))
        }
        if let maximum = limits.maximumBytes, text.utf8.count > maximum {
            return Refusal(
                .tooLong,
                localized("the text has \(text.utf8.count) bytes, and the server allows \(maximum)")
            )
        }
        return nil
    }
}

extension Visibility {
    /// The visibility of a text of the bot that is based on a post with this visibility.
    ///
    /// It is never visible to more people than that post, and never in public timelines.
    package var ofRepetition: Visibility { self == .public ? .unlisted : self }
}
