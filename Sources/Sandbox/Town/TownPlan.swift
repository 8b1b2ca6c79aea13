package import Foundation
import Posts

/// The configuration of a ``Town``: everything in it follows from these values.
package struct TownPlan: Sendable {
    /// The amount of activity after the run has begun.
    package enum Pace: String, Sendable {
        /// Nobody acts.
        case still
        /// Humans and their friends post, humans favorite, and friends mention bots.
        case lively
    }

    /// The most mirrors of a town: names and ids have five digits for the household.
    package static let mirrorsAtMost = 100_000
    package static let hostsAtMost = 1_000

    package var seed: UInt64
    /// The number of households, each with one human and one bot.
    package var mirrors: Int
    /// The number of servers that the households are spread over, each with an address of its own
    /// in 127.0.0.0/8.
    package var hosts: Int
    /// The time when the run begins.
    ///
    /// Humans wrote their past posts on the days before the local day of this instant.
    package var origin: Date
    package var pace: Pace
    /// The number of days of the humans' past, with two posts each.
    package var pastDays = 20
    /// The mean number of mentions of a bot by friends, a day; no friend writes more than three.
    package var mentionsPerDay = 3
    /// Requests that an account may make in five minutes; further ones are refused with 429.
    package var requestsPerFiveMinutes = 300

    /// Seconds east of UTC of the zone that all people share.
    package static let offset = SampleArchive.offset
    /// The zone of all people, which has no daylight saving time.
    package static let timeZoneIdentifier = SamplePeople.timeZoneIdentifier

    package init(seed: UInt64, mirrors: Int, hosts: Int, origin: Date, pace: Pace) {
        self.seed = seed
        self.mirrors = min(max(1, mirrors), Self.mirrorsAtMost)
        self.hosts = min(max(1, hosts), Self.hostsAtMost, self.mirrors)
        self.origin = origin
        self.pace = pace
    }

    /// The local day of an instant, in days since 1970.
    static func day(of date: Date) -> Int {
        Int(((date.timeIntervalSince1970 + Double(offset)) / 86_400).rounded(.down))
    }

    /// The instant at which a local day begins.
    package static func midnight(ofDay day: Int) -> Date {
        Date(timeIntervalSince1970: Double(day * 86_400 - offset))
    }

    /// A source of numbers for one purpose, the same in every run with this seed.
    func generator(ofHousehold household: Int, purpose: Int) -> SampleGenerator {
        var mixer = SampleGenerator(seed: seed ^ UInt64(household + 1) &* 0x9E6C_63D0_876A_46AF)
        let first = mixer.next()
        return SampleGenerator(
            seed: first ^ UInt64(bitPattern: Int64(purpose)) &* 0xD1B5_4A32_D192_ED03)
    }
}

/// A member of a household.
package enum TownPart: UInt8, CaseIterable, Sendable {
    case human
    case bot
    /// Friends of the human, who has answered each of them ten times.
    case firstFriend
    case secondFriend
    case thirdFriend
    /// A person whom the human has never answered.
    case stranger

    static let friends: [TownPart] = [.firstFriend, .secondFriend, .thirdFriend]

    /// The first letter of the user name.
    var letter: Character {
        switch self {
        case .human: "h"
        case .bot: "b"
        case .firstFriend: "f"
        case .secondFriend: "g"
        case .thirdFriend: "i"
        case .stranger: "x"
        }
    }

    init?(letter: Character) {
        guard let part = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = part
    }
}

/// A person in the town.
///
/// Every name follows from the household's number, so that nothing is stored for a person.
package struct TownPerson: Hashable, Sendable {
    package var household: Int
    package var part: TownPart

    package init(_ household: Int, _ part: TownPart) {
        self.household = household
        self.part = part
    }

    private static let accountBase: Int64 = 109_300_000

    /// The name before the `@` of the handle: a letter and the five digits of the household.
    package var userName: String { String(part.letter) + Self.digits(household) }

    /// The server's id of the account.
    var accountID: Int64 { Self.accountBase + Int64(household) * 8 + Int64(part.rawValue) }

    /// The number of a household with five digits, as in names and ids.
    package static func digits(_ household: Int) -> String {
        let text = String(household)
        return String(repeating: "0", count: max(0, 5 - text.utf8.count)) + text
    }

    /// The person with the user name; `nil` if the town has no such household.
    init?(userName: some StringProtocol, in plan: TownPlan) {
        guard userName.utf8.count == 6, let letter = userName.first,
            let part = TownPart(letter: letter),
            let household = Int(userName.dropFirst()), (0..<plan.mirrors).contains(household)
        else { return nil }
        self.init(household, part)
    }

    /// The person with the account id; `nil` if the server never issued it.
    init?(accountID: Int64, in plan: TownPlan) {
        let number = accountID - Self.accountBase
        guard number >= 0, let part = TownPart(rawValue: UInt8(number % 8)),
            number / 8 < plan.mirrors
        else {
            return nil
        }
        self.init(Int(number / 8), part)
    }
}

extension TownPlan {
    /// The number of the server on which a household lives.
    package func host(of household: Int) -> Int { household % hosts }

    /// The domain of a server in names and addresses of profiles; no such domain exists.
    package func domain(ofHost host: Int) -> String {
        let text = String(host)
        return "s" + String(repeating: "0", count: max(0, 3 - text.utf8.count)) + text
            + ".town.example"
    }

    /// The domain of a household.
    package func domain(of household: Int) -> String { domain(ofHost: host(of: household)) }

    /// The address of a server on the loopback interface.
    ///
    /// Every client treats each address of 127.0.0.0/8 as a host of its own; besides `localhost`,
    /// these are the only names that mirror-bot accepts for this machine: it does not trust
    /// `*.localhost`.
    package func address(ofHost host: Int) -> String { "127.1.\(host / 250).\(1 + host % 250)" }

    /// `user@host` of a person.
    package func handle(of person: TownPerson) -> String {
        "\(person.userName)@\(domain(of: person.household))"
    }

    /// The access token of a person's account.
    package func token(of person: TownPerson) -> String {
        var generator = generator(
            ofHousehold: person.household, purpose: -1 - Int(person.part.rawValue))
        return person.userName + "-" + String(generator.next(), radix: 36)
    }

    /// The person of a token; `nil` for a token that the town never issued.
    func person(token: String) -> TownPerson? {
        guard let person = TownPerson(userName: token.prefix(6), in: self),
            self.token(of: person) == token
        else {
            return nil
        }
        return person
    }

    /// The id of an object that a household makes at an instant: milliseconds since 1970, followed
    /// by the five digits of the household.
    static func id(at date: Date, in household: Int) -> Int64 {
        max(0, date.milliseconds) * 100_000 + Int64(household)
    }

    /// The household in an id.
    static func household(ofID id: Int64) -> Int { Int(id % 100_000) }
}
