import Configuration
import Expectations
import Foundation
import Networks
import Posts
import Testing
import Transport

@testable import Settings

/// The descriptors of the networks: their logins, and the money of those that charge for calls.
@Suite struct NetworkDescriptorTests {
    /// A request for the questions of a login, which are made without the client.
    private static func questions(
        of network: NetworkName, as role: AccountRole, hasToken: Bool = false,
        other: AccountCredentials? = nil
    ) -> [NetworkLogin.Question] {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        defer { client.shutdown() }
        let now = Date(timeIntervalSince1970: 1_795_208_400)
        return network.descriptor.login.questions(
            NetworkLogin.Request(
                role: role, apiBaseURL: nil, hasToken: hasToken, otherCredentials: other,
                client: client,
                origin: RequestOrigin(), now: { now }))
    }

    @Test(arguments: NetworkName.allCases, AccountRole.allCases)
    func asksForFieldsOfTheNetwork(network: NetworkName, role: AccountRole) throws {
        let fields = Set(network.descriptor.fields.map(\.field))
        for hasToken in [false, true] {
            let questions = Self.questions(of: network, as: role, hasToken: hasToken)
            #expect(!questions.isEmpty)
            #expect(Set(questions.map(\.field)).count == questions.count)
            #expect(questions.allSatisfy { fields.contains($0.field) })
            // Whatever settings keep secret is hidden on a page too, and is not proposed again.
            #expect(questions.allSatisfy { $0.field.isSecret == $0.isSecret })
            #expect(questions.allSatisfy { !$0.refusals.isEmpty })
            for (place, question) in questions.enumerated() {
                guard let first = question.follows else { continue }
                #expect(questions[..<place].contains { $0.field == first })
            }
        }
    }

    @Test func asksForATokenOnlyWhereOneOpensTheAccount() {
        func takesToken(_ network: NetworkName) -> Bool {
            Self.questions(of: network, as: .bot, hasToken: true).contains(where: \.isToken)
        }
        #expect(takesToken(.mastodon))
        #expect(takesToken(.bluesky))
        #expect(!takesToken(.x))
        #expect(!Self.questions(of: .mastodon, as: .bot).contains { $0.isToken })
    }

    @Test func proposesTheAppOfTheOtherAccount() {
        let other = AccountCredentials(
            network: .x, [.consumerKey: Secret("key"), .consumerSecret: Secret("secret")])
        #expect(Self.questions(of: .x, as: .bot).allSatisfy { !$0.isOptional })
        #expect(Self.questions(of: .x, as: .bot, other: other).allSatisfy { $0.isOptional })
    }

    @Test func asksForEachFieldWhereALoginHasNoStepsOfItsOwn() throws {
        let login = NetworkLogin.fields(of: .mastodon)
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        defer { client.shutdown() }
        let questions = login.questions(
            NetworkLogin.Request(
                role: .bot, apiBaseURL: nil, hasToken: false, otherCredentials: nil, client: client,
                origin: RequestOrigin(), now: { .distantPast }))
        #expect(questions.map(\.field) == [.server, .accessToken])
        let server = try #require(questions.first)
        try expect(server.parse("Social.Example"), equals: "https://social.example")
        #expect(throws: ConfigurationError.self) { try server.parse("no server") }
    }

    @Test func budgetsAreThoseOfTheNetworksThatCharge() throws {
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: [
                "X_BUDGET_USD_PER_MONTH": "7.5", "X_HOME_POSTS_PER_DAY": "40",
            ]))
        let settings = try MirrorConfiguration(values, environment: ["HOME": "/home/haruka"])
            .mirror
        #expect(settings.monthlyBudget == Money(microdollars: 7_500_000))
        #expect(settings.homeShare == settings.x.homeShare)
        #expect(settings.homeShare > .zero)
    }
}
