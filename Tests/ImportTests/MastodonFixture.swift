import Foundation
import TestSupport

/// Archives of a Mastodon server written for the tests.
enum MastodonFixture {
    static let host = "https://social.example"
    static let me = "https://social.example/users/Haruka"
    static let everybody = "https://www.w3.org/ns/activitystreams#Public"

    static let actor = """
        {"@context":["https://www.w3.org/ns/activitystreams",{"toot":"http://joinmastodon.org/ns#"}],\
        "id":"\(me)","type":"Person","inbox":"\(me)/inbox","outbox":"outbox.json","likes":"likes.json",\
        "followers":"\(me)/followers","preferredUsername":"Haruka","name":"春香","icon":{"url":"avatar.png"}}
        """

    /// The fields of one post, in the activity that made it.
    static func create(
        _ id: String, _ html: String, at time: String = "2023-02-18T12:33:11Z",
        to: String = #"["\#(everybody)"]"#,
        cc: String = #"["\#(me)/followers"]"#, _ more: String = ""
    ) -> String {
        let content = escaped(html)
        let extra = more.isEmpty ? "" : ",\(more)"
        return """
            {"id":"\(me)/statuses/\(id)/activity","type":"Create","actor":"\(me)","published":"\(time)",\
            "to":\(to),"cc":\(cc),"object":{"id":"\(me)/statuses/\(id)","type":"Note","summary":null,\
            "inReplyTo":null,"published":"\(time)","url":"\(host)/@Haruka/\(id)","attributedTo":"\(me)",\
            "to":\(to),"cc":\(cc),"sensitive":false,"content":\(content),"contentMap":{"ja":\(content)},\
            "attachment":[],"tag":[]\(extra)}}
            """
    }

    /// A post that answers another, with the people it names.
    static func reply(_ id: String, to uri: String, mentions: [(href: String, name: String)])
        -> String
    {
        let tags = mentions.map { #"{"type":"Mention","href":"\#($0.href)","name":"\#($0.name)"}"# }
        // The later of two equal keys would be up to the decoder, so the first ones are replaced.
        return create(id, "<p>answer</p>")
            .replacing(#""inReplyTo":null"#, with: #""inReplyTo":"\#(uri)""#)
            .replacing(#""tag":[]"#, with: #""tag":[\#(tags.joined(separator: ","))]"#)
    }

    static func announce(_ uri: String) -> String {
        #"{"id":"\#(me)/statuses/9/activity","type":"Announce","actor":"\#(me)","published":"2023-02-18T12:33:11Z","#
            + #""to":["\#(everybody)"],"object":"\#(uri)"}"#
    }

    /// The list in one line, with a context that holds lists of its own, as servers write it.
    static func outbox(_ items: [String]) -> String {
        #"{"@context":["https://www.w3.org/ns/activitystreams",{"Emoji":"toot:Emoji","focalPoint":{"@id":"toot:"#
            + #"focalPoint","@container":"@list"}}],"id":"outbox.json","type":"OrderedCollection","totalItems":"#
            + "\(items.count),\"orderedItems\":[\(items.joined(separator: ","))]}"
    }

    static func likes(_ uris: [String]) -> String {
        let list = uris.map { "\"\($0)\"" }.joined(separator: ",")
        return
            #"{"@context":"https://www.w3.org/ns/activitystreams","id":"likes.json","type":"OrderedCollection","#
            + "\"orderedItems\":[\(list)]}"
    }

    static func folder(_ items: [String], in directory: TemporaryDirectory) throws -> String {
        try Fixture.folder(["actor.json": actor, "outbox.json": outbox(items)], in: directory)
    }

    private static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
            "\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
