package import Configuration
import Foundation
import Localization
import Networks
package import Posts
import Storage

/// The origin of a setting's value.
package enum SettingOrigin: String, Codable, Sendable {
    case flag
    /// The value that `mirror-bot set` stored for the mirror.
    case stored = "set"
    case environment
    /// The file that `NAME_FILE` names.
    case file
    /// `.env` in the working folder.
    case dotEnv = ".env"
    /// `.env` in the folder of the embedded database.
    case homeDotEnv = "home .env"
    /// A stored login, whose network is known.
    case login
    /// Implied by other variables, such as the network to which they belong.
    case implied
    case fallback = "default"
    case unset
}

/// The values of all settings, each parsed once, with their texts and origins.
package struct SettingValues: Sendable {
    private var foundSettings: [String: FoundSetting] = [:]
    /// Warnings about input that a person may have meant differently, a sentence each; the values
    /// can be used nevertheless.
    package private(set) var warnings: [String] = []
    /// The values stored for the mirror that are ignored because their settings are retired, by the
    /// names of these.
    private(set) var storedRetired: [String: String] = [:]
    /// The places of the files that were read; nil for values that do not come from files.
    package private(set) var places: SettingPlaces?

    private typealias Given = (text: String, origin: SettingOrigin)
    private typealias Source = (variables: EnvironmentVariablesProvider, origin: SettingOrigin)

    /// The largest file that `NAME_FILE` may name.
    private static let maximumFileBytes = 65_536

    /// Reads every setting: flags first, then the environment, then `.env`, then the defaults.
    ///
    /// An empty variable counts as not set.
    ///
    /// - Parameters:
    ///   - flags: Values given on the command line, by variable name.
    ///   - environment: The process environment.
    ///   - dotEnv: The variables of `.env`, or nil without such a file.
    /// - Throws: ``ConfigurationError`` for the first invalid value, or for a `NAME_FILE` that
    ///   cannot be read.
    package init(
        flags: [String: String] = [:], environment: EnvironmentVariablesProvider,
        dotEnv: EnvironmentVariablesProvider? = nil
    ) throws {
        var problems: [ConfigurationError] = []
        var sources: [Source] = [(environment, .environment)]
        if let dotEnv { sources.append((dotEnv, .dotEnv)) }
        self.init(flags: flags, sources, problems: &problems)
        if let first = problems.first { throw first }
    }

    /// Reads all settings, including invalid ones.
    private init(flags: [String: String], _ sources: [Source], problems: inout [ConfigurationError])
    {
        for setting in AnySetting.all {
            do {
                if let given = try Self.find(setting, flags, sources) {
                    // The text is stored before it is parsed, so that an invalid one is kept too.
                    foundSettings[setting.name] = FoundSetting(
                        text: given.text, origin: given.origin, value: nil)
                    foundSettings[setting.name] = FoundSetting(
                        text: given.text, origin: given.origin,
                        value: try setting.parse(given.text).value)
                }
            } catch let error as ConfigurationError {
                problems.append(error)
            } catch {
                problems.append(ConfigurationError(setting.name, localized("cannot be read")))
            }
        }
        // Defaults are derived after all given values, because they may depend on these.
        for setting in AnySetting.all where foundSettings[setting.name] == nil {
            foundSettings[setting.name] = setting.makeDefault(self)
        }
        for (variables, origin) in sources where origin == .environment {
            warnings += RetiredSetting.names.compactMap { name in
                // A variable that cannot be read is not used either.
                guard let text = try? variables.environmentValue(forName: name), !text.isEmpty
                else { return nil }
                return RetiredSetting.named(name).map { retired in
                    localized("\(name) \(retired.problem); remove it from the environment")
                }
            }
        }
    }

    /// Reads all settings of a process without flags; as ``loadAll(flags:environment:folder:)``.
    ///
    /// - Returns: The checked values.
    /// - Throws: ``ConfigurationError``, also if `.env` cannot be read.
    package static func load(environment: [String: String], folder: String?) throws -> SettingValues
    {
        let (values, problems) = loadAll(flags: [:], environment: environment, folder: folder)
        if let first = problems.first { throw first }
        return values
    }

    /// Reads all settings of a process, including invalid ones.
    ///
    /// The environment overrides `.env` in the working folder, which overrides `.env` in the home:
    /// the folder of the embedded database, as flags, environment and the first `.env` determine
    /// it.
    ///
    /// - Parameters:
    ///   - flags: Values given on the command line, by variable name.
    ///   - environment: The variables of the process.
    ///   - folder: The working folder; nil for the process's own.
    /// - Returns: The values, and the problems of them and of the `.env` files.
    package static func loadAll(
        flags: [String: String], environment: [String: String], folder: String?
    ) -> (values: SettingValues, problems: [ConfigurationError]) {
        var problems: [ConfigurationError] = []
        let folder = folder ?? FileManager.default.currentDirectoryPath
        let folderFile = DotEnvPlace(folder: folder, name: ".env")
        var files = [folderFile.read(&problems)].compactMap(\.self)
        let variables = EnvironmentVariablesProvider(environmentVariables: environment)
        func read() -> (SettingValues, [ConfigurationError]) {
            let fileSources = files.map {
                (EnvironmentVariablesProvider(environmentVariables: $0.variables), $0.place.origin)
            }
            var problems: [ConfigurationError] = []
            return (
                SettingValues(
                    flags: flags, [(variables, .environment)] + fileSources, problems: &problems),
                problems
            )
        }
        var (values, valueProblems) = read()
        // Without a home folder there is no second `.env`.
        let home = try? ProcessSettings.home(values, environment)
        if let home {
            let homeFile = DotEnvPlace(folder: home, name: home + "/.env", origin: .homeDotEnv)
            if !homeFile.isSameFile(as: folderFile),
                let file = homeFile.read(ofHome: environment, &problems)
            {
                files.append(file)
                (values, valueProblems) = read()
            }
        }
        problems += valueProblems
        values.warnings += files.flatMap(\.warnings)
        values.places = SettingPlaces(folder: folder, home: home, files: files.map(\.place.path))
        return (values, problems)
    }

    /// The value of a setting; its default if it is not set, or if its text is not valid.
    package subscript<Value>(_ setting: Setting<Value>) -> Value {
        foundSettings[setting.name]?.value?.value(of: Value.self) ?? setting.fallback
    }

    /// The text of a setting's value, or else of its default, for display.
    package func text(_ setting: AnySetting) -> String? { foundSettings[setting.name]?.text }

    /// The text of a setting's value, or else of its default, for display.
    package func text<Value>(_ setting: Setting<Value>) -> String? {
        foundSettings[setting.name]?.text
    }

    /// The origin of the setting's value; unset if there is none.
    package func origin(_ setting: AnySetting) -> SettingOrigin {
        foundSettings[setting.name]?.origin ?? .unset
    }

    /// The origin of the setting's value; unset if there is none.
    package func origin<Value>(_ setting: Setting<Value>) -> SettingOrigin {
        foundSettings[setting.name]?.origin ?? .unset
    }

    /// The network of a role's account.
    package func network(of role: AccountRole) -> NetworkName { self[.network(of: role)] }

    /// The variable that sets the network of a role's account; nil for none.
    func networkSetting(of role: AccountRole) -> Setting<NetworkName>? {
        [Setting.network(of: role), .network].first {
            ![.fallback, .implied, .login].contains(origin($0))
        }
    }

    /// The only network to which all variables of both accounts can belong; nil if there are
    /// several, or none.
    func impliedNetwork() -> NetworkName? {
        let common = possibleNetworks(of: .human).intersection(possibleNetworks(of: .bot))
        return common.count == 1 ? common.first : nil
    }

    /// The default network of a role's account: `NETWORK` if that is set, else the network to which
    /// the account's variables belong, else the network of the other account.
    func derivedNetwork(of role: AccountRole) -> (value: NetworkName, origin: SettingOrigin) {
        let isNamed = ![.fallback, .implied, .unset].contains(origin(.network))
        let candidates = possibleNetworks(of: role)
        if !isNamed, candidates.count == 1, let network = candidates.first {
            return (network, .implied)
        }
        return (self[.network], isNamed ? .fallback : origin(.network))
    }

    /// The networks that have all fields which are set for the role; all networks if no field is
    /// set, and none if no network has all of them.
    private func possibleNetworks(of role: AccountRole) -> Set<NetworkName> {
        let setFields = AccountField.settable.filter { self[$0.setting(of: role)] != nil }
        return setFields.reduce(Set(NetworkName.known)) { networks, field in
            networks.intersection(field.networks)
        }
    }

    /// The warnings about values that are stored for the mirror, each with the command against it.
    package var storedWarnings: [String] {
        storedRetired.keys.sorted().compactMap { name in
            RetiredSetting.named(name).map { retired in
                localized("\(name) \(retired.problem); mirror-bot unset \(name) forgets it")
            }
        }
    }

    /// Returns the values together with those stored for the mirror, which override all but flags.
    ///
    /// A stored value of a retired variable is ignored, with a warning.
    ///
    /// - Parameter stored: The stored values, by variable name.
    /// - Returns: The values; those from the store have the origin ``SettingOrigin/stored``.
    /// - Throws: ``ConfigurationError`` for an invalid name or value, such as one that an earlier
    ///   version accepted.
    func overlaid(with stored: [String: String]) throws -> SettingValues {
        var values = self
        values.storedRetired = [:]
        for (name, text) in stored.sorted(by: { $0.key < $1.key }) {
            if RetiredSetting.named(name) != nil {
                values.storedRetired[name] = text
                continue
            }
            let parsed = try Self.parsedOfMirror(name, text)
            if values.foundSettings[name]?.origin != .flag {
                values.foundSettings[name] = FoundSetting(
                    text: text, origin: .stored, value: parsed)
            }
        }
        values.deriveDefaults()
        return values
    }

    /// The values for another mirror of the same process: without the name, the networks and the
    /// accounts of this one.
    func withoutIdentity() -> SettingValues {
        var values = self
        for setting in AnySetting.all where setting.scope == .identity {
            values.foundSettings[setting.name] = nil
        }
        for setting in AnySetting.all where values.foundSettings[setting.name] == nil {
            values.foundSettings[setting.name] = setting.makeDefault(values)
        }
        values.deriveDefaults()
        return values
    }

    /// Parses the value of a setting that can be stored for a mirror.
    ///
    /// - Parameters:
    ///   - name: The variable's name.
    ///   - text: The value of the setting, as text.
    /// - Throws: ``ConfigurationError`` for another setting, or a text that is no value of it.
    @discardableResult
    static func parsedOfMirror(_ name: String, _ text: String) throws -> AnySettingValue {
        guard let setting = AnySetting.named(name) else {
            if let retired = RetiredSetting.named(name) {
                throw ConfigurationError(name, retired.problem)
            }
            let nearestName = Spelling.nearest(
                to: name.uppercased(), among: AnySetting.all.map(\.name))
            throw ConfigurationError(
                name,
                nearestName.map { localized("is no setting; did you mean \($0)?") }
                    ?? localized("is no setting; see mirror-bot config"))
        }
        guard !setting.isSecret else {
            throw ConfigurationError(name, localized("is a secret, which is not set for a mirror"))
        }
        guard setting.canBeStored else {
            throw ConfigurationError(
                name,
                localized(
                    "belongs to the process or to a login; put it into the environment or .env"))
        }
        return try setting.parse(try unquoted(text, name)).value
    }

    /// Returns the values in which the networks of stored logins replace unset networks.
    ///
    /// - Parameter networks: The networks of the logins that are used.
    /// - Returns: The values; those from a login have the origin ``SettingOrigin/login``.
    package func adopting(_ networks: [AccountRole: NetworkName]) -> SettingValues {
        var values = self
        for (role, network) in networks where networkSetting(of: role) == nil {
            values.foundSettings[Setting.network(of: role).name] = FoundSetting(
                text: network.rawValue, origin: .login, value: AnySettingValue(network))
        }
        values.deriveDefaults()
        return values
    }

    /// Updates the defaults that depend on other settings.
    private mutating func deriveDefaults() {
        for setting in AnySetting.all
        where setting.isDerived && [.fallback, .implied].contains(origin(setting)) {
            foundSettings[setting.name] = setting.makeDefault(self)
        }
    }

    /// Returns the default that the bot's network has for a setting; nil if it has none of its own.
    func defaultOfBotNetwork<Value>(_ setting: Setting<Value>) -> (
        value: Value, origin: SettingOrigin
    )? {
        network(of: .bot).descriptor.defaults[setting].map { ($0, .fallback) }
    }

    /// Returns the default of a setting for a memorial; nil if the mirror is not a memorial.
    ///
    /// - Parameter value: The value for a memorial.
    func defaultOfMemorial<Value>(_ value: Value) -> (value: Value, origin: SettingOrigin)? {
        self[.memorial] ? (value, .implied) : nil
    }

    private static func find(
        _ setting: AnySetting, _ flags: [String: String], _ sources: [Source]
    ) throws -> Given? {
        func expanded(_ text: String) throws -> String {
            guard setting.isPath, let environment = sources.first else { return text }
            return try expandingTilde(in: text, environment.variables)
        }
        if let flag = flags[setting.name] {
            return (try expanded(try unquoted(flag, setting.name)), .flag)
        }
        for (variables, origin) in sources {
            if let value = try value(setting.name, variables) {
                return (try expanded(value), origin)
            }
            if setting.isSecret, let name = try value(setting.name + "_FILE", variables) {
                return (
                    try secret(
                        at: try expandingTilde(in: name, sources[0].variables), for: setting), .file
                )
            }
        }
        return nil
    }

    /// The variable's value; nil if it is not set or empty.
    private static func value(_ name: String, _ variables: EnvironmentVariablesProvider) throws
        -> String?
    {
        guard let value = try variables.environmentValue(forName: name), !value.isEmpty else {
            return nil
        }
        return try unquoted(value, name)
    }

    /// Returns a value, after checking that it is not in quotes.
    ///
    /// Quotes remain in a value from a program that does not parse them like a shell, such as
    /// `docker run --env-file`; no setting has a value that needs them.
    ///
    /// - Throws: ``ConfigurationError`` for a quote at the start whose counterpart is at the end,
    ///   or before a comment.
    private static func unquoted(_ text: String, _ name: String) throws -> String {
        guard let opening = text.first, let closing = quotes[opening],
            let end = text.dropFirst().firstIndex(of: closing)
        else { return text }
        let textAfterQuote = text[end...].dropFirst()
        guard !textAfterQuote.isEmpty, textAfterQuote.first(where: { !$0.isWhitespace }) != "#"
        else {
            throw ConfigurationError(name, localized("stands between quotes; leave them out"))
        }
        return text
    }

    /// The closing quotes by the opening ones.
    private static let quotes: [Character: Character] = [
        "\"": "\"", "'": "'", "`": "`", "“": "”", "‘": "’", "„": "“", "«": "»", "「": "」",
    ]

    /// The path with the home folder in place of a leading `~`, as in a shell.
    private static func expandingTilde(
        in text: String, _ environment: EnvironmentVariablesProvider
    ) throws -> String {
        guard text == "~" || text.hasPrefix("~/"),
            let home = try environment.environmentValue(forName: "HOME"),
            home.hasPrefix("/")
        else { return text }
        return home + text.dropFirst()
    }

    private static func secret(at path: String, for setting: AnySetting) throws -> String {
        let variable = setting.name + "_FILE"
        let data: Data?
        do throws(FileTrust.Problem) {
            data = try FileTrust.contents(
                of: path, atMost: maximumFileBytes, refusing: .none)
        } catch {
            throw ConfigurationError(
                variable,
                localized(
                    "names a file that cannot be used: \(path) \(error.text(following: path))")
            )
        }
        guard let data else {
            throw ConfigurationError(
                variable, localized("names a file that does not exist: \(path)"))
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(
                variable, localized("names a file that is no short text: \(path)"))
        }
        let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !value.isEmpty else {
            throw ConfigurationError(variable, localized("names an empty file: \(path)"))
        }
        return try unquoted(value, setting.name)
    }
}

extension SettingValues: CustomReflectable, CustomStringConvertible {
    /// The settings by name, without the values of the secret ones.
    package var description: String {
        "\(displayTexts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
    }

    package var customMirror: Mirror {
        Mirror(self, children: displayTexts.map { (label: $0.key, value: $0.value) })
    }

    private var displayTexts: [String: String] {
        let secrets = Set(AnySetting.all.filter(\.isSecret).map(\.name))
        return Dictionary(
            uniqueKeysWithValues: foundSettings.map {
                ($0.key, secrets.contains($0.key) ? "<redacted>" : $0.value.text)
            })
    }
}
