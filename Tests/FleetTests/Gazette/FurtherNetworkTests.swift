import Archive
import Configuration
import Fixtures
import Fleet
import Foundation
import Networks
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// A network that mirror-bot does not bring along, made of the values that `docs/architecture.md`
/// lists.
@Suite(.timeLimit(.minutes(30))) struct FurtherNetworkTests {
    /// In a process of its own: what is registered stays.
    @Test func aMirrorLivesADayOnANetworkOfItsOwn() async {
        await #expect(processExitsWith: .success) {
            try await GazetteDay.live()
        }
    }
}

/// One day of a mirror on the gazette, and what came of it.
private enum GazetteDay {
    static func live() async throws {
        let name = NetworkDescriptor.register(Gazette.traits, Gazette.descriptor)
        #expect(NetworkName(rawValue: "gazette") == name)
        let server = try GazetteServer()
        let morning = Sample.hour(0)
        let past = fill(server, until: morning)
        let folder = try TemporaryDirectory()
        let clock = VirtualClock(startingAt: morning)
        let mirror = try await HumanMirror.open(try configuration(server, in: folder), clock: clock)
        try await mirror.closing { mirror in
            let human = try await mirror.requiredNetwork(of: .human)
            let bot = try await mirror.requiredNetwork(of: .bot)
            try await mirror.bind(
                human: human.verifyAccount(), bot: bot.verifyAccount(), now: morning)
            let zone = Sample.zone
            let read = try await SchedulerTrainer(mirror: mirror, zone: zone) { _ in }.train(
                from: human)
            #expect(read.read == past.count)
            let record = try await mirror.table.record()
            let own = Set([record.human, record.bot].compactMap(\.self))
            _ = try await ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) {
                _ in
            }
            .train(from: human, own: own, limit: 500)

            let bread = server.write(
                GazetteServer.friend, "Fresh bread from the oven again", at: morning)
            server.write(
                GazetteServer.friend, "Taxes are due and the printer is broken", at: morning)
            let question = server.write(
                GazetteServer.friend, "@haru_mirror how was the walk?", at: morning)
            try await Worker(
                mirror: mirror, cadence: Cadence(poll: .seconds(600), human: name, bot: name)
            )
            .run(until: Sample.hour(24))

            let published = server.published
            let answers = published.filter { $0.answered == question }.map(\.text)
            #expect(answers.count == 1)
            #expect(answers.allSatisfy { $0.hasPrefix("@aoi The walk was long") }, "\(answers)")
            let posts = published.filter { $0.answered == nil }.map(\.text)
            #expect(!posts.isEmpty)
            #expect(Set(posts).isSubset(of: past), "\(posts)")
            #expect(server.favorited.map(\.number) == [bread], "\(server.favorited)")

            let people = try await mirror.people.all().map(\.id.reference)
            #expect(people.contains("gazette:3"), "\(people)")
        }
    }

    /// Writes two months of the human's, and what she read and favorited; returns her texts.
    private static func fill(_ server: GazetteServer, until morning: Date) -> Set<String> {
        var texts: Set<String> = []
        for day in 1...60 {
            let dawn = morning - Double(61 - day) * 86_400
            for (index, hour) in [8.0, 12.5, 20.0].enumerated() {
                let text =
                    "Number \(day * 3 + index) of the things that I saw on my way to the river"
                server.write(GazetteServer.human, text, at: dawn + hour * 3_600)
                texts.insert(text)
            }
            let liked = server.write(
                GazetteServer.friend, "Bread from the oven, loaf \(day)", at: dawn + 30_000)
            server.write(
                GazetteServer.friend, "The printer and the taxes, part \(day)", at: dawn + 31_000)
            server.favorite(liked, by: GazetteServer.human)
            if day.isMultiple(of: 20) {
                let text = "@aoi The walk was long, and number \(day) was the best"
                server.write(GazetteServer.human, text, at: dawn + 40_000, answering: liked)
                texts.insert(text)
            }
        }
        return texts
    }

    private static func configuration(
        _ server: GazetteServer, in folder: TemporaryDirectory
    ) throws -> MirrorConfiguration {
        let variables = [
            "NETWORK": "gazette", "HUMAN_SERVER": server.url,
            "HUMAN_ACCESS_TOKEN": GazetteServer.human.name,
            "BOT_SERVER": server.url, "BOT_ACCESS_TOKEN": GazetteServer.bot.name,
            "MIRROR_BOT_HOME": folder.path,
            "MIRROR": "moss", "TIME_ZONE": Sample.zone.identifier,
            "FITNESS": "off",
            "MIN_AGE_DAYS": "0", "NO_REPEAT_DAYS": "0", "TRUST_ARCHIVE": "yes",
            "HUMAN_CONSENT": "agreed",
        ]
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: variables))
        var configuration = try MirrorConfiguration(values, environment: [:])
        configuration.mirror.copiesDays = false
        return configuration
    }
}
