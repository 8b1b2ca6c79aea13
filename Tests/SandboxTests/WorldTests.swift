import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct WorldTests {
    private let world = SandboxFixture.standard

    private func fingerprint(_ world: SandboxWorld) -> [String] {
        world.events.map { event in
            switch event.action {
            case .post(let post):
                "\(event.date.milliseconds) \(post.author) \(post.text) \(post.visibility)"
            case .favorite(let number): "\(event.date.milliseconds) favorite \(number)"
            case .follow(let person): "\(event.date.milliseconds) follow \(person)"
            }
        }
    }

    @Test func followsFromTheSeed() {
        let again = SandboxFixture.world(seed: 7)
        let other = SandboxFixture.world(seed: 8)
        #expect(fingerprint(world) == fingerprint(again))
        #expect(fingerprint(world) != fingerprint(other))
    }

    @Test func tellsEventsInTheOrderOfTimeAndNoneAfterTheEnd() {
        let dates = world.events.map(\.date)
        #expect(dates == dates.sorted())
        expect(dates) { $0.allSatisfy { $0 < world.end } }
        #expect(world.end == SandboxFixture.origin.addingTimeInterval(3 * 86_400))
    }

    @Test(arguments: [1, 2, 7])
    func hasMentionsOfEveryKind(days: Int) {
        let world = SandboxFixture.world(days: days)
        let counts = Dictionary(world.mentions.map { ($0.mention.kind, 1) }, uniquingKeysWith: +)
        for kind in SandboxMention.Kind.allCases {
            #expect(counts[kind, default: 0] >= 1, "\(kind)")
        }
        #expect(counts[.stop] == 1)
        #expect(counts[.past] == 2)
    }

    @Test func mentionsTheBotInDaytimeAndEarlyEnoughToBeAnswered() {
        for entry in world.mentions where entry.mention.kind != .past {
            #expect(entry.date >= SandboxFixture.origin.addingTimeInterval(3_600))
            #expect(entry.date <= world.end.addingTimeInterval(-3 * 3_600))
            let minute = LocalTime(entry.date, in: SandboxFixture.tokyo).minute
            #expect((540...1_290).contains(minute.value))
        }
    }

    @Test func hasMentionsEvenWhenARunOfOneDayBeginsInTheEvening() {
        let world = SandboxFixture.world(
            days: 1, origin: SandboxFixture.origin.addingTimeInterval(21 * 3_600))
        #expect(world.expectedReplies > 0)
        expect(world.mentions) { $0.contains { $0.mention.kind == .stop } }
    }

    /// Counts by hand what the caps leave of the friends' mentions.
    @Test(arguments: [1, 2, 7, 30])
    func expectsRepliesWithinTheCapsOnly(days: Int) {
        let world = SandboxFixture.world(days: days)
        var perDay: [String: Int] = [:]
        var perThread: [Int: Int] = [:]
        var refusedByDay = 0
        var refusedByThread = 0
        for entry in world.mentions where entry.mention.kind == .friend {
            let day = "\(entry.handle) \(LocalTime(entry.date, in: SandboxFixture.tokyo).day)"
            let isOverDay = perDay[day, default: 0] >= 3
            let isOverThread = perThread[entry.mention.thread, default: 0] >= 5
            #expect(entry.mention.deservesReply == (!isOverDay && !isOverThread))
            if isOverDay {
                refusedByDay += 1
            } else if isOverThread {
                refusedByThread += 1
            } else {
                perDay[day, default: 0] += 1
                perThread[entry.mention.thread, default: 0] += 1
            }
        }
        #expect(refusedByDay >= 1)
        #expect(refusedByThread >= 1)
        #expect(world.expectedReplies == perDay.values.reduce(0, +))
        expect(world.mentions) {
            $0.allSatisfy { $0.mention.kind == .friend || !$0.mention.deservesReply }
        }
    }

    @Test func isQuietAfterStopInEveryExpectation() throws {
        let stop = try #require(world.mentions.first { $0.mention.kind == .stop })
        let later = world.mentions.filter { $0.handle == stop.handle && $0.date > stop.date }
        #expect(!later.isEmpty)
        expect(later) {
            $0.allSatisfy { $0.mention.kind == .afterStop && !$0.mention.deservesReply }
        }
        let earlier = world.mentions.filter { $0.handle == stop.handle && $0.date < stop.date }
        expect(earlier) { $0.contains { $0.mention.deservesReply } }
    }

    @Test func knowsWhomTheHumanHasAnswered() throws {
        let people = world.population.people
        #expect(world.population.indices(of: .friend).count == 6)
        #expect(world.population.indices(of: .weary).count == 1)
        #expect(world.population.indices(of: .automated).count == 1)
        #expect(world.population.indices(of: .optedOut).count == 1)
        #expect(world.population.indices(of: .stranger).count >= 8)
        #expect(people[SandboxPopulation.human].handle == "haruka@sandbox.example")
        #expect(people[SandboxPopulation.bot].handle == "mirror@sandbox.example")
        expect(people) { $0.contains { $0.host != "sandbox.example" } }
        #expect(Set(people.map(\.handle)).count == people.count)
    }

    @Test func takesFriendsFromTheUsersOwnArchive() throws {
        let friends = [
            "Bob", "bob", "kim@elsewhere.example", "bob@sandbox.example", "aoi", "not a name",
            "zoë", "",
        ]
        let world = SandboxFixture.world(friends: friends, humanPosts: [])
        let answered = world.population.people.filter(\.isAnswered).map(\.handle)
        #expect(
            answered == ["bob@sandbox.example", "kim@elsewhere.example", "aoi@sandbox.example"])
        #expect(
            world.population.people.filter { $0.role == .weary }.map(\.handle) == [
                "aoi@sandbox.example"
            ])
        #expect(world.expectedReplies > 0)
        let kim = try #require(world.population.index(of: "KIM@elsewhere.example"))
        #expect(world.population.people[kim].localName == "kim@elsewhere.example")
    }

    @Test(arguments: [[], ["bob"], ["bob", "kim"]])
    func worksWithFewFriendsAndNoPast(friends: [String]) {
        let world = SandboxFixture.world(friends: friends, humanPosts: [])
        #expect(world.population.indices(of: .friend).count == friends.count)
        #expect((world.expectedReplies > 0) == !friends.isEmpty)
        expect(world.mentions) { $0.contains { $0.mention.kind == .stranger } }
    }

    @Test func aHumanWhoIsNotThereWritesAndFavoritesNothing() {
        var configuration = SandboxFixture.world().configuration
        configuration.isHumanPresent = false
        var state = SandboxState(world: SandboxWorld(configuration: configuration))
        state.advance(to: configuration.end)
        #expect(state.postsByAuthor[SandboxPopulation.human].isEmpty)
        expect(state.favorites[SandboxPopulation.human]) { $0?.isEmpty == true }
        #expect(state.posts.count > 500)
        #expect(state.world.expectedReplies > 0)
    }

    @Test func keepsThePastOfTheArchiveWithItsIdentities() throws {
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let friend = AccountID(network: .mastodon, value: "bob@sandbox.example")
        let date = SandboxFixture.origin.addingTimeInterval(-90_000)
        let local = String(date.milliseconds << 16 | 5)
        let posts = [
            Post(
                id: PostID(
                    network: .mastodon,
                    value: "https://sandbox.example/users/haruka/statuses/\(local)"),
                author: human, text: "hello there", createdAt: date,
                replyTo: ReplyTarget(author: friend), language: "en"),
            Post(
                id: PostID(network: .x, value: "77"), author: human, text: "an old one",
                createdAt: date.addingTimeInterval(-86_400), visibility: .private),
            Post(
                id: PostID(network: .x, value: "78"), author: human, text: "to somebody unknown",
                createdAt: date,
                replyTo: ReplyTarget(author: AccountID(network: .x, value: "12"))),
            Post(
                id: PostID(network: .x, value: "79"), author: human, text: "not yet",
                createdAt: SandboxFixture.origin.addingTimeInterval(10)),
        ]
        var state = SandboxState(world: SandboxFixture.world(friends: ["bob"], humanPosts: posts))
        state.advance(to: SandboxFixture.origin.addingTimeInterval(-1))
        let own = state.postsByAuthor[SandboxPopulation.human].compactMap { state.posts[$0] }
        #expect(own.map(\.text) == ["an old one", "@bob hello there"])
        #expect(own.last?.id == Int64(local))
        #expect(own.last?.replyToAuthor == state.population.index(of: "bob"))
        #expect(own.first?.visibility == .private)
    }

    @Test func givesTheHumanTheRhythmOfTheArchive() {
        let posts = (1...40).map { day in
            Post(
                id: PostID(network: .x, value: String(day)),
                author: AccountID(network: .mastodon, value: "haruka@sandbox.example"),
                text: "morning \(day)",
                createdAt: SandboxFixture.origin.addingTimeInterval(
                    -86_400 * Double(day) + 8 * 3_600))
        }
        let world = SandboxFixture.world(days: 7, humanPosts: posts)
        let own = world.events.compactMap { event -> Date? in
            guard case .post(let post) = event.action, post.author == SandboxPopulation.human,
                post.target == nil,
                event.date >= SandboxFixture.origin
            else { return nil }
            return event.date
        }
        #expect(own.count == 7)
        expect(own) {
            $0.allSatisfy { LocalTime($0, in: SandboxFixture.tokyo).minute.value == 480 }
        }
    }

    @Test func survivesADayWithoutMidnightAndZonesFarFromGreenwich() throws {
        for name in [
            "America/Sao_Paulo", "Pacific/Kiritimati", "Pacific/Marquesas", "Europe/Berlin",
        ] {
            let zone = try #require(TimeZone(identifier: name))
            for origin in [1_477_000_000.0, 1_509_000_000, 1_540_000_000] {
                let world = SandboxWorld(
                    configuration: .init(
                        seed: 1, origin: Date(timeIntervalSince1970: origin), days: 7,
                        timeZone: zone))
                #expect(world.expectedReplies > 0)
            }
        }
    }

    @Test func lovesAShareOfThePostsThatLeavesRoomForAClassifier() throws {
        var state = SandboxState(world: SandboxFixture.world(days: 7))
        state.advance(to: state.world.end)
        let rate = try #require(state.ledger.summary.baseRate)
        #expect((0.1...0.4).contains(rate))
        #expect(state.ledger.eligiblePosts > 200)
        let favorites = state.favorites[SandboxPopulation.human] ?? []
        #expect(favorites.count > 150)
    }

    @Test func isTheSameStateInOneStepOrMany() {
        var once = SandboxState(world: world)
        once.advance(to: world.end)
        var often = SandboxState(world: world)
        for hour in -600...80 {
            often.advance(to: SandboxFixture.origin.addingTimeInterval(Double(hour) * 3_600))
        }
        #expect(once.posts.keys.sorted() == often.posts.keys.sorted())
        #expect(once.ledger.summary == often.ledger.summary)
        #expect(once.favorites[0]?.map(\.id) == often.favorites[0]?.map(\.id))
    }

    @Test func givesIdsThatGrowWithTime() {
        var state = SandboxState(world: world)
        state.advance(to: world.end)
        let posts = state.posts.values.sorted { $0.id < $1.id }
        for (earlier, later) in zip(posts, posts.dropFirst()) {
            #expect(earlier.createdAt <= later.createdAt)
        }
        for ids in state.homes.values { #expect(ids == ids.sorted()) }
    }
}
