import Foundation
import Posts

extension SandboxScript {
    /// The human's posts of the sample archive, as if an importer had read them.
    static func samplePosts(before origin: Date, people: Int = SamplePeople.answered.count) -> [Post] {
        SampleArchive(endingAt: origin, people: people).posts.map { sample in
            Post(
                id: PostID(network: .mastodon, value: sample.uri),
                author: AccountID(network: .mastodon, value: sample.author.handle), text: sample.text,
                createdAt: sample.createdAt,
                replyTo: sample.replyTo.map { person in
                    ReplyTarget(author: AccountID(network: .mastodon, value: person.handle))
                },
                visibility: sample.visibility, language: sample.language.rawValue)
        }
    }
}
