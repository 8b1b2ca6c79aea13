package import Foundation
import Localization
import Posts
package import Settings

/// One mirror in the format of `mirrors import` and `mirrors export`: a name, settings and logins.
///
/// In JSON it is one object on one line:
///
///     {"name": "ann", "settings": {…}, "credentials": {"bot": {"network": "mastodon",
///     "server": "https://social.example", "access_token": "…"}}}
///
/// The key of a setting is the name of its variable. The key of a credential is the name of its
/// variable in lower case, without the role. The type is not `Codable`, because it contains
/// secrets; none of its errors contains a value.
package struct MirrorEntry: Sendable {
    package var name: String
    /// The values of the settings, by the names of their variables.
    package var settings: [String: String]
    package var logins: [AccountRole: StoredLogin]

    /// The longest line that is read, in bytes.
    package static let maximumBytes = 65_536
    /// The longest value of a setting or a credential, in bytes.
    private static let maximumValueBytes = 4_096

    package init(
        name: String, settings: [String: String] = [:], logins: [AccountRole: StoredLogin] = [:]
    ) {
        self.name = name
        self.settings = settings
        self.logins = logins
    }

    // MARK: Reading

    /// Parses a line; the values of settings are checked later, together with the stored values.
    ///
    /// - Throws: ``EntryProblem`` without a line number.
    init(line: Data) throws(EntryProblem) {
        let object = try EntryValue.object(line)
        for key in object.keys.sorted()
        where !["name", "settings", "credentials", "missing"].contains(key) {
            throw EntryProblem(
                Self.shown(key),
                localized("is no field of a mirror; expected name, settings and credentials"))
        }
        guard let value = object["name"] else {
            throw EntryProblem("name", localized("is missing"))
        }
        guard case .text(let name) = value, MirrorSettings.isName(name) else {
            throw EntryProblem("name", localized("is not \(MirrorSettings.nameForm)"))
        }
        self.init(name: name)
        if let value = object["settings"] {
            guard case .object(let values) = value else {
                throw EntryProblem("settings", localized("is no object"))
            }
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                settings[key] = try value.text("settings.\(Self.shown(key))")
            }
        }
        if let value = object["credentials"] {
            guard case .object(let roles) = value else {
                throw EntryProblem("credentials", localized("is no object"))
            }
            logins = try Self.logins(roles, path: "credentials.")
        }
    }

    /// Parses the logins of a text that is the JSON object of a line's `credentials`.
    ///
    /// - Throws: ``EntryProblem`` without a line number.
    package static func logins(_ text: Data) throws(EntryProblem) -> [AccountRole: StoredLogin] {
        try logins(try EntryValue.object(text), path: "")
    }

    private static func logins(
        _ roles: [String: EntryValue], path: String
    ) throws(EntryProblem) -> [AccountRole: StoredLogin] {
        var logins: [AccountRole: StoredLogin] = [:]
        for (key, value) in roles.sorted(by: { $0.key < $1.key }) {
            guard let role = AccountRole(rawValue: key) else {
                throw EntryProblem(
                    path + shown(key), localized("is no role; expected human and bot"))
            }
            guard case .object(let fields) = value else {
                throw EntryProblem(path + key, localized("is no object"))
            }
            logins[role] = try login(fields, of: role, path: "\(path)\(key).")
        }
        return logins
    }

    private static func login(
        _ fields: [String: EntryValue], of role: AccountRole, path: String
    ) throws(EntryProblem) -> StoredLogin {
        guard case .text(let word)? = fields["network"], let network = NetworkName(rawValue: word)
        else {
            let names = NetworkName.known.map(\.rawValue).joined(by: .comma)
            throw EntryProblem(
                "\(path)network", localized("is missing or no network; expected one of \(names)"))
        }
        let networkFields = network.descriptor.fields.map(\.field)
        var values: [AccountField: Secret] = [:]
        var address: String?
        var expires: Date?
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) where key != "network" {
            let fieldPath = path + shown(key)
            if key == Self.expires {
                guard case .number(let text) = value, let milliseconds = Int64(text) else {
                    throw EntryProblem(
                        fieldPath, localized("is no number of milliseconds since 1970"))
                }
                expires = Date(milliseconds: milliseconds)
                continue
            }
            let text = try value.text(fieldPath)
            if key == Self.address {
                address = try canonical(
                    fieldPath, expected: localized("an address such as https://host")
                ) {
                    try ServerURL.normalized(text, setting: fieldPath)
                }
                continue
            }
            guard let field = networkFields.first(where: { $0.key == key }) else {
                let names = networkFields.map(\.key).joined(by: .comma)
                throw EntryProblem(
                    fieldPath,
                    localized("is no credential of \(network.displayName); expected \(names)"))
            }
            let expected = field.isSecret ? localized("a text") : field.form
            let value = try canonical(fieldPath, expected: expected) {
                try field.canonicalize(text, fieldPath)
            }
            values[field] = Secret(value)
        }
        for field in network.descriptor.required(by: role) where values[field] == nil {
            throw EntryProblem(
                path + field.key, localized("is missing; \(network.displayName) needs it"))
        }
        return StoredLogin(
            credentials: AccountCredentials(network: network, values, expiresAt: expires),
            apiBaseURL: address)
    }

    private static let address = "api_base_url"
    private static let expires = "expires_ms"

    /// Returns the value in its canonical form; throws a problem that does not repeat the value.
    private static func canonical(
        _ field: String, expected looks: String, _ body: () throws -> String
    ) throws(EntryProblem) -> String {
        do {
            return try body()
        } catch {
            throw EntryProblem(
                field, localized("cannot be used; expected \(looks.replacing("`", with: ""))"))
        }
    }

    /// The name of a field for a message: an implausible name may be a misplaced value, and is
    /// hidden.
    static func shown(_ name: String) -> String {
        // Settings have upper-case letters, digits and `_`; other fields have lower-case letters
        // and `_`.
        let isName =
            (1...40).contains(name.utf8.count)
            && (name.utf8.allSatisfy {
                (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
            }
                || name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F })
        return isName ? name : localized("(a name that is not shown)")
    }

    /// Returns the text if it is not empty, not too long and without control characters.
    fileprivate static func checked(_ text: String, _ field: String) throws(EntryProblem) -> String
    {
        guard !text.isEmpty else { throw EntryProblem(field, localized("is empty")) }
        guard text.utf8.count <= maximumValueBytes else {
            throw EntryProblem(field, localized("is longer than \(maximumValueBytes) bytes"))
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw EntryProblem(field, localized("holds a control character"))
        }
        return text
    }

    // MARK: Writing

    /// The line of the mirror, without a line break.
    ///
    /// - Parameter withSecrets: If false, the field `missing` lists the omitted secrets.
    package func line(withSecrets: Bool) throws -> String {
        var object: [String: EntryValue] = ["name": .text(name)]
        if !settings.isEmpty { object["settings"] = .object(settings.mapValues(EntryValue.text)) }
        var omitted: [EntryValue] = []
        var roles: [String: EntryValue] = [:]
        for (role, login) in logins.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var fields: [String: EntryValue] = ["network": .text(login.network.rawValue)]
            if let address = login.apiBaseURL { fields[Self.address] = .text(address) }
            if let end = login.credentials.expiresAt {
                fields[Self.expires] = .number("\(end.milliseconds)")
            }
            for field in login.network.descriptor.fields.map(\.field) {
                guard let value = login.credentials[field] else { continue }
                if withSecrets || !field.isSecret {
                    fields[field.key] = .text(value.reveal())
                } else {
                    omitted.append(.text("credentials.\(role.rawValue).\(field.key)"))
                }
            }
            roles[role.rawValue] = .object(fields)
        }
        if !roles.isEmpty { object["credentials"] = .object(roles) }
        if !omitted.isEmpty { object["missing"] = .list(omitted) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(EntryValue.object(object)), as: UTF8.self)
    }
}

extension MirrorEntry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "mirror \(name)" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Why an entry, or a field of it, is unusable; contains no value of a field.
package struct EntryProblem: Error, Codable, Equatable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1; nil for an entry that does not come from a file.
    package var line: Int?
    /// The field, such as `credentials.bot.server`; nil for the line as a whole.
    package let field: String?
    /// The problem, as the rest of a sentence that begins with the field.
    package let problem: String

    init(_ field: String?, _ problem: String, line: Int? = nil) {
        self.field = field
        self.problem = problem
        self.line = line
    }

    package var description: String {
        switch (line, field) {
        case (let line?, let field?): localized("line \(line): \(field) \(problem)")
        case (let line?, nil): localized("line \(line): \(problem)")
        case (nil, let field?): "\(field) \(problem)"
        case (nil, nil): problem
        }
    }
}

extension AccountField {
    /// The name of the field in an entry: `access_token`.
    fileprivate var key: String {
        if let setting { return setting.lowercased() }
        return name.replacing(/[A-Z]+/) { "_\($0.output.lowercased())" }
    }
}

/// A value of an entry's JSON.
private enum EntryValue: Codable {
    case text(String)
    case number(String)
    case object([String: EntryValue])
    case list([EntryValue])
    /// `true`, `false` or `null`.
    case other

    /// Parses a text that is one JSON object.
    static func object(_ data: Data) throws(EntryProblem) -> [String: EntryValue] {
        guard data.count <= MirrorEntry.maximumBytes else {
            throw EntryProblem(nil, localized("is longer than \(MirrorEntry.maximumBytes) bytes"))
        }
        guard String(validating: data, as: UTF8.self) != nil else {
            throw EntryProblem(nil, localized("is not valid UTF-8"))
        }
        // Decoding fails only if the text is no JSON.
        guard let value = try? JSONDecoder().decode(EntryValue.self, from: data) else {
            throw EntryProblem(nil, localized("is not valid JSON"))
        }
        guard case .object(let object) = value else {
            throw EntryProblem(nil, localized("is no JSON object"))
        }
        return object
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A failed attempt to decode only means that the value has another type.
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let object = try? container.decode([String: EntryValue].self) {
            self = .object(object)
        } else if (try? container.decode(Bool.self)) != nil || container.decodeNil() {
            self = .other
        } else if let number = try? container.decode(Int64.self) {
            self = .number("\(number)")
        } else if let number = try? container.decode(Double.self) {
            self = .number("\(number)")
        } else {
            self = .list(try container.decode([EntryValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let text): try container.encode(Int64(text) ?? 0)
        case .object(let object): try container.encode(object)
        case .list(let list): try container.encode(list)
        case .other: try container.encodeNil()
        }
    }

    /// The value as a short text without control characters; a number as it is written.
    func text(_ field: String) throws(EntryProblem) -> String {
        switch self {
        case .text(let text): return try MirrorEntry.checked(text, field)
        case .number(let text): return text
        case .object, .list, .other:
            throw EntryProblem(field, localized("is neither a text nor a number"))
        }
    }
}
