import Localization
import Posts

/// A value that identifies an account or logs in to it; each network needs some of them.
package struct AccountField: Hashable, Sendable {
    /// The name in a stored login.
    package let name: String
    /// The name after `HUMAN_` or `BOT_` among the settings; nil for a field that only a login
    /// provides.
    package let setting: String?
    /// The name for people, as `Access token`; empty for a field that only a login provides.
    package var title: String { makeTitle() }
    /// The form of a value, in Markdown.
    package var form: String { makeForm() }
    /// The meaning, for people who configure the field; `whose` is `the human's` or `the bot's`.
    package let summary: @Sendable (_ whose: String, _ role: AccountRole) -> String
    package let isSecret: Bool
    /// Converts a value to its canonical form.
    ///
    /// - Throws: ``ConfigurationError``, about the setting of the given name, for an invalid value.
    package let canonicalize: @Sendable (_ text: String, _ setting: String) throws -> String
    private let makeTitle: @Sendable () -> String
    private let makeForm: @Sendable () -> String

    /// - Parameters:
    ///   - name: The name in a stored login.
    ///   - setting: The name among the settings, without the role.
    ///   - title: The name for people.
    ///   - form: The form of a value, in Markdown.
    ///   - isSecret: Whether a value is never shown.
    ///   - canonicalize: Converts a value to its canonical form.
    ///   - summary: The meaning.
    package init(
        _ name: String, setting: String? = nil,
        title: @escaping @autoclosure @Sendable () -> String = "",
        form: @escaping @autoclosure @Sendable () -> String = localized("text"),
        isSecret: Bool = true,
        canonicalize: @escaping @Sendable (_ text: String, _ setting: String) throws -> String = {
            text, _ in text
        },
        summary: @escaping @Sendable (_ whose: String, _ role: AccountRole) -> String = { _, _ in ""
        }
    ) {
        self.name = name
        self.setting = setting
        makeTitle = title
        makeForm = form
        self.isSecret = isSecret
        self.canonicalize = canonicalize
        self.summary = summary
    }

    package static func == (one: AccountField, other: AccountField) -> Bool {
        one.name == other.name
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension AccountField {
    /// The address of a server.
    package static let server = AccountField(
        "server", setting: "SERVER", title: localized("Server"), form: "`https://host`",
        isSecret: false,
        canonicalize: { try ServerURL.normalized($0, setting: $1) },
        summary: { whose, _ in localized("\(whose) server, as https://host") })
    package static let accessToken = AccountField(
        "accessToken", setting: "ACCESS_TOKEN", title: localized("Access token"),
        summary: { whose, role in
            role == .human
                ? localized("token that reads \(whose) account")
                : localized("token that reads and writes \(whose) account")
        })
    package static let accessTokenSecret = AccountField(
        "accessTokenSecret", setting: "ACCESS_TOKEN_SECRET",
        title: localized("Secret of the access token"),
        summary: { _, _ in localized("secret of that token") })
    package static let consumerKey = AccountField(
        "consumerKey", setting: "CONSUMER_KEY", title: localized("Key of the application"),
        summary: { _, _ in localized("key of the developer application") })
    package static let consumerSecret = AccountField(
        "consumerSecret", setting: "CONSUMER_SECRET", title: localized("Secret of the application"),
        summary: { _, _ in localized("secret of the developer application") })
    package static let handle = AccountField(
        "identifier", setting: "HANDLE", title: localized("Handle"),
        form: localized("handle or DID"), isSecret: false,
        canonicalize: { try BlueskyIdentifier.normalized($0, setting: $1) },
        summary: { whose, role in
            role == .human
                ? localized(
                    "\(whose) handle, such as ann.bsky.social, or DID; posts and likes there are public"
                )
                : localized("\(whose) handle, such as ann.bsky.social, or DID")
        })
    package static let appPassword = AccountField(
        "appPassword", setting: "APP_PASSWORD", title: localized("App password"),
        summary: { _, role in
            role == .human
                ? localized("app password; only needed to read the home timeline")
                : localized("app password")
        })
    static let refreshToken = AccountField("refreshToken")
    static let clientID = AccountField("clientID")
    static let clientSecret = AccountField("clientSecret")

    /// The fields that settings can provide, of all networks, in the order of the documentation.
    ///
    /// The fields of networks that are registered later come last.
    package static var settable: [AccountField] {
        let builtInFields: [AccountField] = [
            .server, .accessToken, .accessTokenSecret, .consumerKey, .consumerSecret, .handle,
            .appPassword,
        ]
        return NetworkDescriptor.known.flatMap(\.fields).map(\.field).reduce(into: builtInFields) {
            fields, field in
            if field.setting != nil, !fields.contains(field) { fields.append(field) }
        }
    }

    /// The networks with this field.
    var networks: [NetworkName] {
        NetworkDescriptor.known.filter { $0.fields.contains { $0.field == self } }.map(\.name)
    }

    /// The names of these networks, for people.
    private var networkNames: String {
        networks.map(\.displayName).joined(by: .comma)
    }

    /// The variable for the field of a role's account.
    package func name(of role: AccountRole) -> String { "\(role.prefix)_\(setting ?? name)" }

    /// The setting for the field of a role's account.
    ///
    /// The value of the setting is not in the canonical form; the account with the field has it in
    /// that form, see ``canonicalize``.
    func setting(of role: AccountRole) -> Setting<String?> {
        let isIdentity = NetworkDescriptor.known.contains { $0.identity == self }
        return Setting(
            name(of: role),
            title: role == .human
                ? localized("\(title) of the human") : localized("\(title) of the bot"),
            .accounts,
            localized("\(networkNames): \(summary(role.whose, role))"),
            scope: .identity,
            form: .text(form), fallback: nil, isSecret: isSecret,
            effect: isIdentity ? AnySetting.rebindingEffect : nil,
            prompt: .optional,
            example: self == .server ? "https://mastodon.example" : nil)
    }
}
