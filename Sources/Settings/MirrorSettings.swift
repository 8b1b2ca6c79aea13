package import Conduct
package import Favorites
package import Foundation
import Localization
package import Networks
package import Outbox
package import Posts
package import Schedule
import Transport

/// The settings of one mirror: its name, networks and accounts, and all settings of its behavior.
///
/// Parsed once from the values. ``with(stored:)`` adds the settings stored for the mirror,
/// ``adopt(_:)`` the networks of stored logins.
package struct MirrorSettings: Sendable {
    /// The name of this pair of human and bot, the key of all its rows.
    package var mirror: String
    /// The values, unparsed.
    package private(set) var values: SettingValues

    /// The places of the files that were read; nil for values that do not come from files.
    package var places: SettingPlaces? { values.places }
    /// The accounts in the settings; stored logins are used for missing ones.
    ///
    /// The human's account may be missing, because an imported archive is enough for a bot.
    private var accounts: [AccountRole: AccountConfiguration] = [:]
    /// The addresses for requests instead of the networks' own.
    private var apiBaseURLs: [AccountRole: String] = [:]
    /// The network of the human's account and of imported archives.
    package private(set) var humanNetwork: NetworkName
    package private(set) var botNetwork: NetworkName
    /// The operator's permissions and limits for X.
    package var x: XConfiguration
    /// The human's time zone; nil if it is not set, though the mirror may have a stored one.
    package var timeZone: TimeZone?
    /// The contact for a server's operator about the bot; `nil` for the bot itself.
    package private(set) var operatorContact: String?
    /// The settings by which days are planned.
    package var schedule: ScheduleConfiguration
    /// Whether whole days are copied, unless the settings choose the model of the bot of 2014.
    ///
    /// False in a test that needs posts at all hours, so that minutes are drawn one by one.
    package var copiesDays = true {
        didSet { schedule.model = Self.schedule(values, copiesDays: copiesDays).model }
    }
    /// Seconds after a post of the human during which no slot is posted; nil for no wait.
    package private(set) var holdWhileActive: TimeInterval?
    /// The least number of days before a text may be repeated.
    package var noRepeatDays: Int
    /// The most times that a text may be posted; nil for no limit.
    package private(set) var maximumUses: Int?
    /// The number of days for which plans and ended actions are kept.
    package var historyDays: Int
    /// The operator's statement that the human agreed; nil for none.
    package private(set) var statedConsent: HumanConsent.Ground?
    /// Whether the mirror is a memorial of a person who has died.
    package let isMemorial: Bool
    /// Whether the human's posts are read from a server that is known to show private ones as
    /// public, and is trusted anyway.
    package private(set) var trustsHumanServer: Bool
    /// Whether to publish texts whose posts cannot be checked at the human's network; nil if the
    /// operator has not decided.
    package private(set) var archiveTrust: Bool?
    /// The audience that may quote the bot's posts; `nil` for the account's default on the server.
    package private(set) var quotes: Audience?
    /// The audience that may answer the bot's posts, if its network lets authors choose.
    package private(set) var replies: Audience
    /// The least age, in days, of a post that may be mirrored.
    package var minimumAgeDays: Int
    /// The age in days from which on a post is not mirrored; nil for no limit.
    package private(set) var maximumAgeDays: Int?
    /// Whether posts with links are mirrored; on X whether links are kept in them.
    package private(set) var links: Bool
    /// The fitness that texts need to be posted by themselves.
    package private(set) var fitness: FitnessMode
    /// Whether posts with content warnings are sent with these, instead of being left out.
    package private(set) var carriesWarnings: Bool
    /// The rule for sending the human's pictures with their posts.
    package private(set) var pictures: PictureRule
    /// The rule for the human's own threads.
    package private(set) var threads: ThreadRule
    /// The settings of the classifier.
    package var favorites: FavoriteConfiguration
    /// The words that count as features.
    package var featureWords: FeatureWords
    /// The treatment of posts that the human would favorite.
    package private(set) var favoriteMode: FavoriteMode
    /// The kinds of actions that need a person's approval.
    package private(set) var review: Set<ActionKind>
    /// The rule for the bot's posts when the human changes the originals.
    package private(set) var editRule: EditRule
    /// Whether the bot's post is deleted when the human favorites it.
    package private(set) var deletesOnFavorite: Bool
    /// Whether a request to stop is confirmed with a favorite.
    package private(set) var confirmsStop: Bool
    /// Whether the first reply to a person says that a bot repeats old words; nil if that depends
    /// on the network.
    private var notesFirstReplyAlways: Bool?
    /// The most favorites on one local day.
    package var favoritesPerDay: Int
    /// The treatment of an old reply that hardly fits the mention: sent, held for a person, or left
    /// out.
    package private(set) var replyMode: ReplyMode
    /// The most replies to one person on one local day.
    package var repliesPerPerson: Int
    /// The most replies in one conversation.
    package var repliesPerThread: Int
    /// The most posts of the human that are kept; the oldest are removed.
    package var archiveLimit: Int
    /// The interval of polls of the mentions.
    package var pollInterval: Duration
    /// Whether the web page has a public part.
    package private(set) var hasPublicPage: Bool
    /// Whether to ignore the settings stored for the mirror: for commands that repair them.
    package var ignoresStored = false
    /// Whether these are the settings of a mirror other than the one that the process's settings
    /// name.
    private var isFurther = false
    private let readsAccounts: Bool

    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - readsAccounts: False for commands that need no accounts, such as logging in; an
    ///     incomplete account is then no error.
    /// - Throws: ``ConfigurationError`` for a value that is not usable.
    package init(_ values: SettingValues, readsAccounts: Bool = true) throws {
        self.values = values
        self.readsAccounts = readsAccounts
        mirror = values[.mirror]
        humanNetwork = values.network(of: .human)
        botNetwork = values.network(of: .bot)
        for role in AccountRole.allCases {
            let settings = AccountSettings(
                role: role, network: values.network(of: role), values: values)
            apiBaseURLs[role] = values[.apiBaseURL(of: role)]
            if readsAccounts { accounts[role] = try settings.account() }
        }
        x = XConfiguration(values)
        timeZone = values[.timeZone]
        operatorContact = values[.operatorContact]
        schedule = Self.schedule(values, copiesDays: true)
        holdWhileActive = values[.holdWhileActive]?.timeInterval
        noRepeatDays = values[.noRepeatDays]
        maximumUses = values[.maxUses]
        historyDays = values[.historyDays]
        statedConsent = values[.humanConsent]
        isMemorial = values[.memorial]
        trustsHumanServer = values[.trustHumanServer]
        archiveTrust = values[.trustArchive]
        minimumAgeDays = values[.minAgeDays]
        maximumAgeDays = values[.maxAgeDays]
        quotes = values[.quotes]
        replies = values[.whoMayReply]
        links = values[.links]
        fitness = values[.fitness]
        carriesWarnings = values[.contentWarnings]
        pictures = Self.pictures(values)
        threads = values[.threads]
        favorites = try FavoriteConfiguration(
            threshold: values[.favoriteRateThreshold],
            exampleLimit: values[.exampleLimit],
            maximumAgeDays: Self.exampleDays(human: humanNetwork, bot: botNetwork),
            weighting: values[.oldBot] ? .plain : .learned)
        featureWords = values[.features]
        favoriteMode = values[.favoriteMode]
        review = values[.review]
        editRule = values[.followEdits]
        deletesOnFavorite = values[.deleteOnFavorite]
        confirmsStop = values[.confirmStop]
        notesFirstReplyAlways = values[.firstReplyNote]
        favoritesPerDay = values[.favoritesPerDay]
        replyMode = values[.replies]
        repliesPerPerson = values[.repliesPerPerson]
        repliesPerThread = values[.repliesPerThread]
        archiveLimit = values[.archiveLimit]
        pollInterval = values[.pollSeconds]
        hasPublicPage = values[.publicPage]
        if accounts[.bot] != nil || values.networkSetting(of: .bot) != nil { try requireAudience() }
    }

    /// Returns the settings with those stored for the mirror.
    ///
    /// - Parameter stored: The stored values, by variable name.
    /// - Returns: These settings if nothing is stored.
    /// - Throws: ``ConfigurationError`` for an invalid value, such as one that only an earlier
    ///   version accepted.
    package func with(stored: [String: String]) throws -> MirrorSettings {
        guard !stored.isEmpty else { return self }
        do {
            return try overlaid(with: stored)
        } catch let error as ConfigurationError where stored[error.setting] != nil {
            throw error.adding(
                localized(
                    "it was set for the mirror, and mirror-bot unset \(error.setting) forgets it"))
        }
    }

    /// Checks values before they are stored in addition to others.
    ///
    /// - Parameters:
    ///   - new: The values to store, by names of variables.
    ///   - stored: The stored values, by variable name.
    /// - Throws: ``ConfigurationError`` that names the problem and says that nothing was changed.
    package func check(_ new: [String: String], besides stored: [String: String]) throws {
        do {
            for (name, value) in new.sorted(by: { $0.key < $1.key }) {
                try SettingValues.parsedOfMirror(name, value)
            }
            // Finds problems that depend on several values, or on their meaning, such as an unknown
            // zone.
            _ = try overlaid(with: stored.merging(new) { _, newValue in newValue })
        } catch let error as ConfigurationError {
            let isOld = new[error.setting] == nil && stored[error.setting] != nil
            throw error.adding(
                isOld
                    ? localized(
                        "it was set for the mirror before; mirror-bot unset \(error.setting) forgets it; nothing was changed"
                    )
                    : localized("nothing was changed"))
        }
    }

    private func overlaid(with stored: [String: String]) throws -> MirrorSettings {
        var settings = try MirrorSettings(
            try values.overlaid(with: stored), readsAccounts: readsAccounts)
        settings.mirror = mirror
        settings.isFurther = isFurther
        settings.copiesDays = copiesDays
        return settings
    }

    /// The initial settings for all other mirrors of the process.
    ///
    /// The accounts and networks in the process's settings belong to the mirror that the settings
    /// name. The other mirrors have the accounts and networks of their stored logins. The caller
    /// sets the mirror's name.
    ///
    /// - Throws: ``ConfigurationError`` for a value that is not usable without these accounts.
    package func ofFurtherMirrors() throws -> MirrorSettings {
        var settings = try MirrorSettings(values.withoutIdentity(), readsAccounts: readsAccounts)
        settings.isFurther = true
        settings.copiesDays = copiesDays
        return settings
    }

    /// Whether the first reply to a person says that a bot repeats old words: by default, if
    /// readers do not see beside a post that its account is automated.
    package var notesFirstReply: Bool { notesFirstReplyAlways ?? !botNetwork.traits.showsBotMark }

    /// Derives unset networks, and the settings that depend on them, from the stored logins.
    ///
    /// - Parameter networks: The networks of the stored logins.
    /// - Throws: ``ConfigurationError`` for a setting that the network of a login does not know.
    package mutating func adopt(_ networks: [AccountRole: NetworkName]) throws {
        // If the settings contain an account, the stored login is not used.
        values = values.adopting(networks.filter { account($0.key) == nil })
        humanNetwork = values.network(of: .human)
        botNetwork = values.network(of: .bot)
        links = values[.links]
        favoriteMode = values[.favoriteMode]
        favorites.maximumAgeDays = Self.exampleDays(human: humanNetwork, bot: botNetwork)
        if networks[.bot] != nil { try requireAudience() }
    }

    /// Checks the consequences of the values, such as an account, without contacting a server.
    ///
    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - problems: Gets an error for each setting at fault.
    static func check(_ values: SettingValues, _ problems: inout SettingProblems) {
        for role in AccountRole.allCases {
            let settings = AccountSettings(
                role: role, network: values.network(of: role), values: values)
            problems.check(.network(of: role)) { try settings.checkForms() }
            problems.check(.network(of: role)) { _ = try settings.account() }
        }
    }

    /// The zone's name as it was written; Foundation renames some zones, such as `UTC` to `GMT`.
    package var timeZoneName: String? { timeZone == nil ? nil : values.text(.timeZone) }

    /// Returns the name of a zone: in the operator's spelling, if it is the operator's zone.
    package func name(of zone: TimeZone) -> String {
        guard let timeZoneName, timeZone == zone else { return zone.name }
        return timeZoneName
    }

    /// The flag or the variable by which a person named the mirror.
    package var mirrorSetting: String { isNamedByFlag ? "--mirror" : Setting.mirror.name }

    /// Whether a flag or a setting names the mirror.
    package var isNamed: Bool {
        isFurther || ![.unset, .fallback].contains(values.origin(.mirror))
    }

    /// Whether a flag of the command named the mirror, or proposed commands must repeat its name.
    package var isNamedByFlag: Bool { isFurther || values.origin(.mirror) == .flag }

    /// The flags that named the mirror and its home, quoted for a shell, so that proposed commands
    /// repeat them.
    package var flagWords: [String] {
        var words = isNamedByFlag ? ["--mirror", ShellWord.quoted(mirror)] : []
        if values.origin(.home) == .flag, let home = values[.home] {
            words += ["--home", ShellWord.quoted(home)]
        }
        return words
    }

    /// The variable that sets the network of a role's account; nil for none.
    package func networkSetting(of role: AccountRole) -> String? {
        values.networkSetting(of: role)?.name
    }

    /// The origin of a setting's value.
    package func origin<Value>(of setting: Setting<Value>) -> SettingOrigin {
        values.origin(setting)
    }

    /// The longest period of a cap, plus one day: a reply counts for 30 days against the cap of its
    /// conversation.
    private static let longestCapDays = 31

    /// The start of the history: actions changed before it are deleted.
    ///
    /// It is the latest time that satisfies the operator's setting, all caps, and the minimum time
    /// between repeats of a text.
    package func historyStart(at now: Date) -> Date {
        now - Double(max(historyDays, noRepeatDays + 1, Self.longestCapDays)) * 86_400
    }

    /// The account of a role in the settings; a stored login is used if it is missing.
    package func account(_ role: AccountRole) -> AccountConfiguration? { accounts[role] }

    /// The network of a role's account.
    package func network(of role: AccountRole) -> NetworkName {
        role == .human ? humanNetwork : botNetwork
    }

    /// The address for a role's requests; nil for the network's own address.
    package func apiBaseURL(of role: AccountRole) -> String? { apiBaseURLs[role] }

    /// Finds the settings that prevent the use of a stored login.
    ///
    /// - Parameters:
    ///   - role: The role of the login.
    ///   - network: The network of the login.
    /// - Returns: A sentence for each obstacle, with its remedy.
    package func obstacles(toLoginOf role: AccountRole, on network: NetworkName) -> [String] {
        var sentences: [String] = []
        if let setting = AccountField.settable.map({ $0.setting(of: role) }).first(where: {
            values[$0] != nil
        }) {
            sentences.append(
                localized(
                    "\(setting.name) is set, and settings win over a login; remove it to use the login"
                ))
        }
        if let setting = networkSetting(of: role), values.network(of: role) != network {
            sentences.append(
                localized(
                    "\(setting) is \(values.network(of: role).rawValue); set \(Setting.network(of: role).name) to \(network.rawValue) to use the login"
                ))
        }
        return sentences
    }

    /// The error for a role without an account, with advice how to get one.
    package func missing(_ role: AccountRole) -> ConfigurationError {
        let network = network(of: role)
        let names = network.descriptor.requiredNames(of: role)
        let furtherNames = names.dropFirst().map { localized("and \($0) ") }.joined()
        let login = "mirror-bot login \(network.rawValue) --as \(role.rawValue)"
        let problem =
            switch (role, names.count) {
            case (.human, 1):
                localized(
                    "is not set; run \(login), or see the README, or read an archive with mirror-bot train scheduler --from ARCHIVE"
                )
            case (.human, _):
                localized(
                    "\(furtherNames)are not set; run \(login), or see the README, or read an archive with mirror-bot train scheduler --from ARCHIVE"
                )
            case (.bot, 1): localized("is not set; run \(login), or see the README")
            case (.bot, _): localized("\(furtherNames)are not set; run \(login), or see the README")
            }
        return ConfigurationError(
            names[0], problem,
            isMissing: true, part: .account(role))
    }

    /// The default name of a mirror.
    package static let defaultMirror = "default"

    /// The form of a mirror's name, as the end of a sentence.
    package static var nameForm: String { localized("1 to 40 of a-z, 0-9, - and _") }

    /// Whether a text can be a mirror's name.
    package static func isName(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            // Lower-case letters, digits, `-` and `_`.
            && text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
                    || byte == 0x5F
            }
    }

    /// Fails if a text is not a valid mirror name.
    ///
    /// - Parameter place: The place of the text, for the error.
    /// - Throws: ``ConfigurationError``.
    package static func requireName(_ text: String, of place: String) throws {
        guard !isName(text) else { return }
        throw ConfigurationError(
            place, localized("has a mirror named \"\(text.prefix(60))\"; expected \(nameForm)"))
    }

    /// Fails if the settings restrict an audience that the bot's network does not let authors
    /// choose.
    private func requireAudience() throws {
        let name = botNetwork.displayName
        if let quotes, !botNetwork.descriptor.quoteAudiences.contains(quotes) {
            throw ConfigurationError(
                Setting.quotes.name,
                localized(
                    "cannot be \(quotes.rawValue) on \(name); unset it to leave that to the network"
                ))
        }
        if !botNetwork.descriptor.replyAudiences.contains(replies) {
            throw ConfigurationError(
                Setting.whoMayReply.name,
                localized(
                    "cannot be \(replies.rawValue) on \(name), where authors do not decide that"))
        }
    }
}

// MARK: Parsing

extension MirrorSettings {
    /// The number of days for which labelled posts are kept.
    private static func exampleDays(human: NetworkName, bot: NetworkName) -> Int {
        min(human.traits.learningDays, bot.traits.learningDays)
    }

    private static func pictures(_ values: SettingValues) -> PictureRule {
        guard values[.media] else { return .leftOut }
        return values[.mediaWithoutAlt] ? .all : .described
    }

    /// Fails for a text that is no name of a mirror.
    ///
    /// - Throws: ``ConfigurationError``.
    static func checkedName(_ text: String, of name: String) throws -> String {
        guard isName(text) else { throw ConfigurationError(name, localized("is not \(nameForm)")) }
        return text
    }

    /// Parses the name of a zone.
    ///
    /// - Throws: ``ConfigurationError``.
    static func zone(_ text: String, named name: String) throws -> TimeZone {
        guard let zone = TimeZone(identifier: text) else {
            throw ConfigurationError(
                name,
                localized("is \"\(text.prefix(60))\"; expected an IANA name such as Europe/Berlin"))
        }
        return zone
    }

    /// Returns a mail address, a URL or a handle, if it may be put into a header.
    ///
    /// - Throws: ``ConfigurationError`` for any other text.
    static func contact(_ text: String, named name: String) throws -> String {
        let isURL = ["https://", "http://", "mailto:"].contains { start in
            text.hasPrefix(start) && text.utf8.count > start.utf8.count + 2
        }
        let nameParts = text.drop { $0 == "@" }.split(
            separator: "@", omittingEmptySubsequences: false)
        let isName =
            (1...2).contains(nameParts.count)
            && nameParts.allSatisfy { !$0.isEmpty && !$0.contains(":") }
        // A handle without an @ must contain a dot, as on Bluesky.
        let isHandle = isName && (text.contains("@") || text.contains(".")) && !text.contains("/")
        guard HTTPClient.isContact(text), isURL || isHandle else {
            throw ConfigurationError(
                name,
                localized(
                    "is no mail address, URL or handle such as ops@example.org, https://example.org/bot or @ops@example.org"
                )
            )
        }
        return text
    }

    /// Parses spans of a day.
    ///
    /// - Throws: ``ConfigurationError``.
    static func quietHours(_ text: String, named name: String) throws -> QuietHours {
        guard let hours = QuietHours(parsing: text) else {
            throw ConfigurationError(
                name,
                localized("is \"\(text.prefix(60))\"; expected spans such as 23:00-07:00, or none"))
        }
        return hours
    }

    private static func schedule(
        _ values: SettingValues, copiesDays: Bool
    ) -> ScheduleConfiguration {
        let defaultModel: ScheduleModel = copiesDays ? .days : .kernel
        return ScheduleConfiguration(
            model: values[.oldBot] ? .raw : defaultModel, bursts: !values[.oldBot],
            maximumPerDay: values[.maxPerDay], quiet: values[.quietHours].minutes)
    }
}

/// Whether favorites are sent, noted for a person, or neither.
package enum FavoriteMode: String, CaseIterable, Sendable {
    case off
    case suggest
    case auto
}

/// The rule for the bot's posts when the human changes the originals.
package enum EditRule: String, CaseIterable, Sendable {
    /// The copy is edited if the bot's network supports that, and else deleted.
    case edit
    /// The copy is deleted.
    case delete
    /// Nothing is done.
    case off
}
