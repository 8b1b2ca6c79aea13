import Archive
import Localization
package import Mirroring
package import Posts
import Settings

/// The people that a mirror knows, by their typed names.
package struct PeopleBook: Sendable {
    private let acquaintances: [People.Person]
    private let localHost: String?
    private let network: NetworkName

    /// - Throws: The store's error; `ConfigurationError` for an unusable login.
    package init(mirror: HumanMirror) async throws {
        acquaintances = try await mirror.people.all()
        localHost = try await mirror.botHost()
        network = mirror.configuration.botNetwork
    }

    /// Returns the author with a typed name, and their name on the bot's network.
    ///
    /// The author need not be known to the mirror.
    ///
    /// - Throws: `ChangeRefusal` for an invalid account.
    package func author(_ text: String) throws -> (id: AccountID, handle: String) {
        let name = String(text.drop { $0 == "@" })
        // A plain name is a screen name. References such as `x:12345` or `did:plc:…` contain a
        // colon.
        let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !name.contains(":")
        guard !network.traits.namesAreIdentities, isPlain, !name.isEmpty else {
            let id = try account(text)
            return (id, acquaintances.first { $0.id == id }?.handle ?? id.value)
        }
        let named = acquaintances.first {
            $0.id.network == network && $0.handle?.lowercased() == name.lowercased()
        }
        return (named?.id ?? AccountID(network: network, value: name), name)
    }

    /// The account with a typed name.
    ///
    /// - Throws: `ChangeRefusal` for an invalid account, or an unknown screen name.
    package func account(_ text: String) throws -> AccountID {
        let shown = text.prefix(60)
        if ServerName(reference: text) != nil {
            throw ChangeRefusal(
                .unusable,
                localized("\"\(shown)\" is a server; here one account has to be named"))
        }
        guard let id = AccountID(reference: text, localHost: localHost) else {
            throw ChangeRefusal(
                .unusable,
                localized(
                    "\"\(shown)\" is no account; expected user@host, x:12345 or did:plc:…"))
        }
        guard !id.network.traits.namesAreIdentities, !id.network.traits.isIdentity(id.value) else {
            return id
        }
        let named = acquaintances.first {
            $0.id.network == id.network && $0.handle?.lowercased() == id.value.lowercased()
        }
        guard let named else {
            throw ChangeRefusal(
                .unknown,
                saying: localized(
                    "\"\(shown)\" is not known here; give the account's number or DID, which \(control: .people) shows"
                ))
        }
        return named.id
    }
}

/// Typed people: an account, or `*@host`.
enum NamedPeople {
    case person(AccountID)
    /// All people on a server, and on its subdomains.
    case server(ServerName)

    /// - Throws: `ChangeRefusal` if the text names neither; the store's error.
    init(_ text: String, in mirror: HumanMirror) async throws {
        guard text.contains("*") else {
            self = .person(try await PeopleBook(mirror: mirror).account(text))
            return
        }
        guard let server = ServerName(reference: text) else {
            try Self.requireServers(of: mirror)
            throw ChangeRefusal(
                .unusable,
                localized(
                    "\"\(text.prefix(60))\" is no server; expected *@host with the host of people's names, such as *@social.example, which stands for the servers below it too"
                ))
        }
        self = .server(server)
    }

    /// Requires that the bot's or the human's network has account names that contain a server.
    ///
    /// - Throws: `ChangeRefusal`.
    static func requireServers(of mirror: HumanMirror) throws {
        let networks = [mirror.configuration.botNetwork, mirror.configuration.humanNetwork]
        guard !networks.contains(where: \.traits.namesAreIdentities) else { return }
        throw ChangeRefusal(
            .unusable,
            saying: localized(
                "no server or domain can be denied on \(networks[0].displayName): names there change hands, and what tells people apart says nothing of a server; deny each account, which \(control: .people) shows"
            ))
    }
}
