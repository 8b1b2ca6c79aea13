import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// The world in which much is said to the bot.
@Suite struct BusyWorldTests {
    private static let days = 4
    private static let world = SandboxWorld(
        configuration: .busy(
            seed: 3, origin: SandboxFixture.origin, days: days, timeZone: SandboxFixture.tokyo,
            network: .mastodon))
    private static let archive = SampleArchive(endingAt: SandboxFixture.origin, people: 60)

    private static func day(_ date: Date) -> LocalDay {
        LocalTime(date, in: SandboxFixture.tokyo).day
    }

    @Test func mentionsTheBotAsOftenAsAskedOnEveryFullDay() {
        // The first day begins and the last one ends with hours without mentions.
        let full = Self.world.mentions.filter {
            (1..<Self.days - 1).contains(Self.dayNumber($0.date))
        }
        let byDay = Dictionary(grouping: full, by: { Self.dayNumber($0.date) })
        #expect(byDay.count == Self.days - 2)
        for mentions in byDay.values {
            let friends = mentions.filter { $0.mention.kind == .friend }
            #expect((100...110).contains(friends.count))
            #expect(friends.count(where: \.mention.deservesReply) >= 95)
            #expect(Set(friends.map(\.handle)).count >= 45)
            #expect(Set(friends.map(\.mention.thread)).count >= 60)
            let hours = Set(
                mentions.map { LocalTime($0.date, in: SandboxFixture.tokyo).minute.value / 60 })
            #expect(hours.count >= 20)
        }
    }

    private static func dayNumber(_ date: Date) -> Int {
        day(date).ordinal - day(SandboxFixture.origin).ordinal
    }

    @Test func fillsTheHomeAndTheHumansFavorites() {
        var ids: [Int: Bool] = [:]
        var home = 0
        var favorites = 0
        for event in Self.world.events where event.date >= SandboxFixture.origin {
            switch event.action {
            case .post(let post):
                ids[post.number] = post.isLoved
                if Self.world.population.followedByBot.contains(post.author) { home += 1 }
            case .favorite: favorites += 1
            case .follow: break
            }
        }
        #expect(home / Self.days >= 200)
        #expect(favorites / Self.days >= 80)
        #expect(ids.values.count { $0 } / Self.days >= 100)
    }

    @Test func hasOldRepliesToEverybodyWhoMentionsTheBot() {
        let replies = Dictionary(
            grouping: Self.archive.posts.filter { $0.replyTo != nil },
            by: { $0.replyTo?.handle ?? "" })
        let friends = Set(Self.world.mentions.filter { $0.mention.kind == .friend }.map(\.handle))
        #expect(friends.count >= 55)
        for friend in friends {
            #expect((replies[friend]?.count ?? 0) >= 15)
        }
        // A text that the mirror takes for one acquaintance is no repetition of another's.
        let acquaintances = Set(SamplePeople.acquaintances(60).map(\.handle))
        let words = replies.filter { acquaintances.contains($0.key) }.flatMap { handle, posts in
            posts.map { $0.text.dropFirst(handle.count + 2) }
        }
        #expect(words.count == 52 * SampleArchive.repliesPerAcquaintance)
        #expect(Set(words).count == words.count)
    }

    @Test func servesThePastThatItsArchiveTellsOf() {
        let human = AccountID(network: .mastodon, value: SamplePeople.human.handle)
        let served = SandboxScript(configuration: Self.world.configuration).archive
        expect(served) { $0.allSatisfy { $0.author == human } }
        #expect(Set(served.map(\.id.value)) == Set(Self.archive.posts.map(\.uri)))
    }

    @Test func addsNothingButAnswersToTheArchive() {
        let plain = SampleArchive(endingAt: SandboxFixture.origin)
        let acquaintances = Set(SamplePeople.acquaintances(60))
        #expect(
            Self.archive.posts.filter { !($0.replyTo.map(acquaintances.contains) ?? false) }
                == plain.posts)
        #expect(Self.archive.posts.map(\.createdAt) == Self.archive.posts.map(\.createdAt).sorted())
        #expect(Self.archive.favorites == plain.favorites)
        #expect(Self.archive.normals == plain.normals)
    }

    @Test func knowsAcquaintancesByTheirNames() {
        let people = SamplePeople.answered(200)
        #expect(people.count == 200)
        for network in NetworkName.allCases {
            #expect(Set(people.map { SandboxIdentity.handle($0.handle, on: network) }).count == 200)
            #expect(
                Set(people.map { SandboxIdentity.account($0.handle, on: network) }).count == 200)
        }
        expect(people) { $0.allSatisfy { SamplePeople.person(named: $0.userName) == $0 } }
        #expect(SamplePeople.answered(3) == SamplePeople.answered)
        for stranger in ["akari1", "akari999999999999999999999", "akari0", "nobody", ""] {
            #expect(SamplePeople.person(named: stranger) == nil)
        }
    }

    @Test func followsTheCapsItIsGiven() {
        var configuration = SandboxWorld.Configuration.busy(
            seed: 3, origin: SandboxFixture.origin, days: 2, timeZone: SandboxFixture.tokyo,
            network: .x)
        configuration.repliesPerPersonAndDay = 100
        configuration.repliesPerThread = 100
        let world = SandboxWorld(configuration: configuration)
        let friends = world.mentions.filter { $0.mention.kind == .friend }
        #expect(friends.count { $0.mention.deservesReply } == friends.count)
        #expect(!friends.isEmpty)
        configuration.repliesPerPersonAndDay = 0
        #expect(SandboxWorld(configuration: configuration).expectedReplies == 0)
    }

    /// A world for nobody, or for a number that makes no sense, is a quiet one.
    @Test(arguments: [-1, 0, 0.2])
    func survivesOddNumbers(mentionsPerDay: Double) {
        var configuration = SandboxWorld.Configuration.busy(
            seed: 3, origin: SandboxFixture.origin, days: 2, timeZone: SandboxFixture.tokyo,
            network: .mastodon,
            people: 0, mentionsPerDay: mentionsPerDay)
        configuration.friends = []
        #expect(SandboxWorld(configuration: configuration).expectedReplies == 0)
    }
}
