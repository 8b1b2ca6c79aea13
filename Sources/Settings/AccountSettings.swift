import Foundation
import Localization
import Networks
import Posts
import Transport

/// Reads the account of one role from the settings.
struct AccountSettings {
    let role: AccountRole
    let network: NetworkName
    let values: SettingValues

    /// The account; nil if none of its settings is set.
    ///
    /// - Throws: ``ConfigurationError`` if required settings are missing, or if settings of another
    ///   network are set.
    func account() throws -> AccountConfiguration? {
        let setFields = AccountField.settable.filter { text($0) != nil }
        let knownFields = network.descriptor.fields.map(\.field)
        if let foreignField = setFields.first(where: { !knownFields.contains($0) }) {
            throw error(ofOtherNetwork: foreignField)
        }
        guard let firstSet = setFields.first else { return nil }
        let missing = network.descriptor.required(by: role).filter { !setFields.contains($0) }
        guard missing.isEmpty else { throw error(missing: missing, thoughSet: firstSet) }
        let credentials = try AccountCredentials(
            network: network,
            Dictionary(uniqueKeysWithValues: setFields.map { ($0, try value($0).map(Secret.init)) })
        )
        return AccountConfiguration(
            role: role, credentials: credentials, apiBaseURL: values[.apiBaseURL(of: role)],
            origin: .environment)
    }

    /// Fails for an invalid address or name, whether or not the account's network uses it.
    func checkForms() throws {
        for field in AccountField.settable { _ = try value(field) }
    }

    private func text(_ field: AccountField) -> String? { values[field.setting(of: role)] }

    /// A field's value in its canonical form; nil if it is not set.
    private func value(_ field: AccountField) throws -> String? {
        try text(field).map { try field.canonicalize($0, field.name(of: role)) }
    }

    private func error(ofOtherNetwork field: AccountField) -> ConfigurationError {
        let networksOfField = field.networks.map(\.displayName).joined(by: .and)
        let networkValues = field.networks.map(\.rawValue).joined(by: .or)
        guard let setting = values.networkSetting(of: role)?.name else {
            // No network is named, and no network has all of these fields.
            let conflictingField = AccountField.settable.first {
                text($0) != nil && $0.networks.allSatisfy { !field.networks.contains($0) }
            }
            let problem = conflictingField.map {
                localized(
                    "belongs to \(networksOfField), but \($0.name(of: role)) to \($0.networks.map(\.displayName).joined(by: .and)); remove one of the two"
                )
            }
            return ConfigurationError(
                field.name(of: role),
                problem
                    ?? localized(
                        "belongs to \(networksOfField), but others do not; remove one of the two"))
        }
        return ConfigurationError(
            field.name(of: role),
            localized(
                "belongs to \(networksOfField), but \(setting) is \(network.rawValue); remove it, or set \(setting) to \(networkValues)"
            )
        )
    }

    private func error(
        missing: [AccountField], thoughSet present: AccountField
    ) -> ConfigurationError {
        let names = missing.map { $0.name(of: role) }
        let furtherNames = names.dropFirst().map { localized("and \($0) ") }.joined()
        return ConfigurationError(
            names[0],
            names.count == 1
                ? localized("is not set, but \(present.name(of: role)) is")
                : localized("\(furtherNames)are not set, but \(present.name(of: role)) is"),
            isMissing: true)
    }
}
