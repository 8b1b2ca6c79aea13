import Foundation
import Posts
import Testing

@testable import Sandbox

/// What the sandbox says stays the same to the letter for the same seed, however its sentences are
/// kept.
@Suite struct SampleDigestTests {
    private static let end = Date(milliseconds: 1_795_130_130_000)

    @Test func theArchiveSaysWhatItAlwaysSaid() {
        let archive = SampleArchive(endingAt: Self.end, people: 60)
        #expect(SandboxIdentity.hash(archive.postLines) == 11_288_719_405_274_043_609)
        #expect(SandboxIdentity.hash(archive.exampleLines) == 18_028_518_072_843_246_768)
    }

    @Test(
        arguments: [(2026, 12_804_100_707_789_382_492), (7, 1_093_636_570_706_039_293)]
            as [(UInt64, UInt64)])
    func theWorldSaysWhatItAlwaysSaid(seed: UInt64, digest: UInt64) throws {
        let zone = try #require(TimeZone(identifier: SamplePeople.timeZoneIdentifier))
        let world = SandboxWorld(
            configuration: .init(seed: seed, origin: Self.end, days: 4, timeZone: zone))
        let lines = world.events.map { event in
            let time = event.date.milliseconds
            return switch event.action {
            case .post(let post):
                "\(time) \(post.number) \(post.author) \(post.visibility) \(post.isLoved) \(post.warning) \(post.text)"
            case .favorite(let number): "\(time) favorite \(number)"
            case .follow(let person): "\(time) follow \(person)"
            }
        }
        #expect(SandboxIdentity.hash(lines.joined(separator: "\n")) == digest)
    }
}
