import Cryptography
package import Foundation
import Localization
package import Mirroring
import Posts
import Settings
import Storage

/// A browser that gets the notices of a mirror.
package struct PushDevice: Equatable, Identifiable, Sendable {
    /// Sixteen hexadecimal digits, by which the page names the device.
    package let id: String
    /// The name that a person gave the device.
    package let name: String
    package let added: Date
    /// The browser's subscription; nil if it cannot be read, for example because it was sealed with
    /// another key: then the device has to be added again.
    package let subscription: PushSubscription?
}

/// The devices of one mirror.
///
/// A subscription is stored only sealed with the operator's key, because it tells how to reach
/// somebody's browser.
package struct PushDeviceTable: Sendable {
    /// The most devices of a mirror.
    package static let mostDevices = 20
    /// The longest name, in characters.
    package static let longestName = 40
    private static let sealingPurpose = "mirror-bot push devices 1"
    private static let signingPurpose = "mirror-bot push key 1"

    private let mirror: String
    private let storage: any StorageEngine
    private let vault: CredentialVault

    package init(of mirror: String, in installation: Installation) {
        self.mirror = mirror
        storage = installation.storage
        vault = installation.vault(of: mirror)
    }

    /// Returns the usable devices of some mirrors, by the name of the mirror; mirrors without any
    /// are missing.
    ///
    /// - Throws: `ConfigurationError` for an invalid key file; the store's error.
    static func devices(of mirrors: [String], in installation: Installation) async throws
        -> [String: [PushDevice]]
    {
        var devices: [String: [PushDevice]] = [:]
        for part in mirrors.portions {
            let rows = try await installation.storage.query(
                """
                SELECT mirror, device, name, sealed, added_ms FROM push_devices
                WHERE mirror IN \(list: part)
                """)
            for row in rows {
                let table = PushDeviceTable(of: try row.text("mirror"), in: installation)
                let device = try table.device(row, try table.sealingKey())
                guard device.subscription != nil else { continue }
                devices[table.mirror, default: []].append(device)
            }
        }
        return devices
    }

    /// Returns the identity of the sender to the devices; nil without a key.
    ///
    /// - Parameters:
    ///   - page: The address of the web page for browsers.
    ///   - mayMake: Whether the key file is made if it is missing.
    /// - Throws: `ConfigurationError` for an invalid key file.
    package func identity(page: String, mayMake: Bool = false) throws -> PushIdentity? {
        try vault.derivedKey(for: Self.signingPurpose, mayMake: mayMake).map {
            PushIdentity(material: $0, page: page)
        }
    }

    /// Reads the devices, the first added first.
    ///
    /// - Throws: `ConfigurationError` for an invalid key file; the store's error.
    package func all() async throws -> [PushDevice] {
        let key = try sealingKey()
        return try await storage.query(
            """
            SELECT device, name, sealed, added_ms FROM push_devices WHERE mirror = \(mirror)
            ORDER BY added_ms, device
            """
        ).map { try device($0, key) }
    }

    private func device(_ row: SQLRow, _ key: SealingKey?) throws -> PushDevice {
        let id = try row.text("device")
        let sealed = Data(base64Encoded: try row.text("sealed"))
        let plain = sealed.flatMap { key?.opened($0, context: context(of: id).utf8) }
        return PushDevice(
            id: id, name: try row.text("name"), added: try row.date("added_ms"),
            subscription: plain.flatMap {
                // A subscription that another version stored in another form is not usable either.
                try? JSONDecoder().decode(PushSubscription.self, from: Data($0))
            })
    }

    /// Adds a device, or gives a known one another name.
    ///
    /// - Returns: The device.
    /// - Throws: `ChangeRefusal` for too many devices and without a key; the store's error.
    @discardableResult
    package func add(_ subscription: PushSubscription, name: String, now: Date) async throws
        -> PushDevice
    {
        guard let key = try sealingKey(mayMake: true) else {
            throw ChangeRefusal(
                .notAllowed,
                localized("there is no key to seal it with; whoever runs this sets SECRET_KEY"))
        }
        // Invisible characters are left out of the name.
        let visible = name.unicodeScalars.filter {
            !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
        }
        let trimmed = String(String.UnicodeScalarView(visible)).trimmingCharacters(in: .whitespaces)
        let name = trimmed.isEmpty ? "device" : String(trimmed.prefix(Self.longestName))
        let id = StableHash.digest(of: "mirror-bot push", subscription.endpoint).prefix(8)
            .hexadecimal
        let plain = try JSONEncoder().encode(subscription)
        let sealed = Data(try key.sealed(plain, context: context(of: id).utf8))
            .base64EncodedString()
        let mirror = mirror
        try await storage.transaction { connection in
            let others = try connection.query(
                """
                SELECT COUNT(*) AS number FROM push_devices
                WHERE mirror = \(mirror) AND device <> \(id)
                """)
            guard try others.first?.int("number") ?? 0 < Self.mostDevices else {
                throw ChangeRefusal(
                    .full,
                    localized("there are \(Self.mostDevices) devices already; remove one first"))
            }
            try connection.execute(
                """
                INSERT INTO push_devices (mirror, device, name, sealed, added_ms)
                VALUES (\(mirror), \(id), \(name), \(sealed), \(now.milliseconds))
                ON CONFLICT (mirror, device) DO UPDATE SET name = excluded.name,
                    sealed = excluded.sealed
                """)
        }
        return PushDevice(id: id, name: name, added: now, subscription: subscription)
    }

    /// Removes a device.
    ///
    /// - Returns: False if there is none of this id.
    /// - Throws: The store's error.
    @discardableResult
    package func remove(_ id: String) async throws -> Bool {
        try await storage.execute(
            "DELETE FROM push_devices WHERE mirror = \(mirror) AND device = \(id)") > 0
    }

    private func sealingKey(mayMake: Bool = false) throws -> SealingKey? {
        try vault.derivedKey(for: Self.sealingPurpose, mayMake: mayMake).map {
            SealingKey(from: $0, purpose: Self.sealingPurpose.utf8)
        }
    }

    /// The context that binds a sealed subscription to its row.
    private func context(of id: String) -> String { "mirror-bot/push_devices\n\(mirror)\n\(id)" }
}
