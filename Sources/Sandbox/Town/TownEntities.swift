import Foundation
import Posts

/// Accounts, statuses and notifications of a household in Mastodon's form.
struct TownEntities {
    let plan: TownPlan
    let household: TownHousehold
    /// The owner of the request's token, whose favorites decide `favourited`.
    let viewer: TownPart?

    func account(_ part: TownPart) -> WireJSON {
        let person = TownPerson(household.number, part)
        let name = person.userName
        let domain = plan.domain(of: household.number)
        let note =
            part == .bot
            ? "Automated mirror of @\(TownPerson(household.number, .human).userName)." : ""
        return [
            "id": .string(String(person.accountID)), "username": .string(name),
            "acct": .string(name),
            "display_name": .string(name), "locked": false, "bot": .bool(part == .bot),
            "discoverable": true,
            "group": false, "created_at": "2020-01-01T00:00:00.000Z",
            "note": .string("<p>\(note)</p>"),
            "url": .string("https://\(domain)/@\(name)"),
            "uri": .string("https://\(domain)/users/\(name)"),
            "avatar": .string("https://\(domain)/missing.png"),
            "header": .string("https://\(domain)/missing.png"),
            "followers_count": 12, "following_count": 34, "statuses_count": 56, "emojis": [],
            "fields": [],
        ]
    }

    /// The account of the token, with the data that only its owner may see.
    func ownAccount(_ part: TownPart) -> WireJSON {
        account(part).adding(
            (
                "source",
                [
                    "privacy": "public", "sensitive": false, "language": nil, "note": "",
                    "fields": [],
                ]
            ))
    }

    func status(_ post: TownPost) -> WireJSON {
        let author = TownPerson(household.number, post.author)
        let domain = plan.domain(of: household.number)
        let text = text(of: post)
        let answered =
            post.replyTo == 0 ? nil : household.post(post.replyTo)?.author ?? post.mentioned
        let isFavorited =
            viewer == .human ? post.isFavoritedByHuman : viewer == .bot && post.isFavoritedByBot
        return [
            "id": .string(String(post.id)), "created_at": .string(post.date.rfc3339),
            "in_reply_to_id": post.replyTo == 0 ? nil : .string(String(post.replyTo)),
            "in_reply_to_account_id": answered.map { id(of: $0) } ?? .null, "sensitive": false,
            "spoiler_text": "",
            "visibility": "public", "language": "en",
            "uri": .string(plan.uri(of: post, in: household.number)),
            "url": .string("https://\(domain)/@\(author.userName)/\(post.id)"), "replies_count": 0,
            "reblogs_count": 0, "favourites_count": 0, "edited_at": nil,
            "favourited": .bool(isFavorited),
            "reblogged": false, "muted": false, "bookmarked": false, "filtered": [],
            "content": .string("<p>\(html(of: text))</p>"), "reblog": nil, "application": nil,
            "account": account(post.author), "media_attachments": [],
            "mentions": .array(people(in: text).map(mention)), "tags": [], "emojis": [],
            "card": nil, "poll": nil,
        ]
    }

    func notification(_ post: TownPost) -> WireJSON {
        [
            "id": .string(String(post.id)), "type": "mention",
            "created_at": .string(post.date.rfc3339),
            "group_key": .string("ungrouped-\(post.id)"), "account": account(post.author),
            "status": status(post),
        ]
    }

    func text(of post: TownPost) -> String {
        household.texts[post.id] ?? plan.text(of: post, in: household.number)
    }

    /// The people of the town whom a text names, each once.
    func people(in text: String) -> [TownPerson] {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return [] }
        var people: [TownPerson] = []
        for case .mention(let user, let host) in StatusText.pieces(of: text) {
            if let person = person(named: user, at: host), !people.contains(person) {
                people.append(person)
            }
        }
        return people
    }

    /// The person with a name; a name without a host is the same on every server of the town.
    private func person(named user: String, at host: String?) -> TownPerson? {
        let person = TownPerson(userName: user.lowercased(), in: plan)
        guard let person, let host else { return person }
        return host.lowercased() == plan.domain(of: person.household) ? person : nil
    }

    private func id(of part: TownPart) -> WireJSON {
        .string(String(TownPerson(household.number, part).accountID))
    }

    private func mention(_ person: TownPerson) -> WireJSON {
        let isLocal = plan.host(of: person.household) == plan.host(of: household.number)
        return [
            "id": .string(String(person.accountID)), "username": .string(person.userName),
            "url": .string("https://\(plan.domain(of: person.household))/@\(person.userName)"),
            "acct": .string(isLocal ? person.userName : plan.handle(of: person)),
        ]
    }

    private func html(of text: String) -> String {
        StatusText.pieces(of: text).map { piece in
            switch piece {
            case .plain(let text): StatusHTML.escaped(text)
            case .link(let link): StatusHTML.escaped(link)
            case .hashtag(let tag): "#" + StatusHTML.escaped(tag)
            case .mention(let user, let host):
                person(named: user, at: host).map { person in
                    let address = "https://\(plan.domain(of: person.household))/@\(person.userName)"
                    return
                        "<span class=\"h-card\"><a href=\"\(address)\" class=\"u-url mention\">@<span>"
                        + "\(person.userName)</span></a></span>"
                } ?? StatusHTML.escaped("@" + user + (host.map { "@" + $0 } ?? ""))
            }
        }.joined()
    }
}
