/// What goes over the wire of a text.
extension XText {
    /// The text with `&`, `<` and `>` escaped.
    var delivered: String { pieces.map { Self.escaped($0.text) }.joined() }

    /// The places of names, links and hashtags, counted in code points of the text as delivered; nil without any.
    func entities(_ directory: XDirectory) -> WireJSON? {
        var (links, people, tags): ([WireJSON], [WireJSON], [WireJSON]) = ([], [], [])
        var start = 0
        for piece in pieces {
            let end = start + Self.escaped(piece.text).unicodeScalars.count
            let place: WireJSON = ["start": .integer(start), "end": .integer(end)]
            switch piece.kind {
            case .plain: break
            case .hashtag: tags.append(place.adding(("tag", .string(String(piece.text.dropFirst())))))
            case .mention(let person):
                people.append(
                    place.adding(
                        ("username", .string(directory.handles[person])), ("id", .string(directory.ids[person]))))
            case .link(let link):
                links.append(place.adding(("url", .string(piece.text))).adding(Self.members(of: link)))
            }
            start = end
        }
        let members = [("urls", links), ("mentions", people), ("hashtags", tags)]
            .filter { !$0.1.isEmpty }.map { ($0.0, WireJSON.array($0.1)) }
        return members.isEmpty ? nil : .object(members)
    }

    /// From after the names that an answer begins with to before the link of a picture.
    func displayRange(isReply: Bool) -> WireJSON {
        let lengths = pieces.map { Self.escaped($0.text).unicodeScalars.count }
        var start = 0
        if isReply {
            for (piece, length) in zip(pieces, lengths) {
                let isSpace = piece.text.allSatisfy { $0 == " " }
                if case .mention = piece.kind {
                    start += length
                } else if isSpace {
                    start += length
                } else {
                    if piece.text.first == " " { start += 1 }
                    break
                }
            }
        }
        var end = lengths.reduce(0, +)
        if case .link(let link) = pieces.last?.kind, link.mediaKey != nil { end -= 24 }
        return [.integer(min(start, max(end, 0))), .integer(max(end, 0))]
    }

    private static func members(of link: Link) -> WireJSON {
        let members: WireJSON = ["expanded_url": .string(link.expanded), "display_url": .string(link.display)]
        return link.mediaKey.map { members.adding(("media_key", .string($0))) } ?? members
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x26 || $0 == 0x3C || $0 == 0x3E }) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension WireJSON {
    /// The members of both objects.
    func adding(_ other: WireJSON) -> WireJSON {
        guard case .object(let own) = self, case .object(let more) = other else { return self }
        return .object(own + more)
    }
}
