package import Foundation
import Localization
package import Mirroring
import Outbox
package import Posts
package import Settings

/// Sets values for the mirror, all or none; they override the values of the process.
package struct SetValues: PersonOperation {
    package static let name = "set"
    /// The values by the names of the variables.
    package var values: [String: String]

    package init(_ values: [String: String]) { self.values = values }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SettingsChange {
        let mirror = desk.mirror
        let before = try await SettingTable(storage: mirror.storage, mirror: mirror.name).all()
        try await mirror.set(values, seen: seen, now: desk.now)
        return try await SettingsChange(
            of: mirror, changed: values.keys.sorted(), wayBack: wayBack(to: before))
    }

    /// - Parameter before: All values that were set before.
    /// - Returns: The reverse operation. Nil if no value differs, or if only some of the changed
    ///   names had a value: one operation cannot set some values and remove others.
    private func wayBack(to before: [String: String]) -> WayBack? {
        let changed = values.filter { before[$0.key] != $0.value }.keys.sorted()
        let formerValues = before.filter { changed.contains($0.key) }
        guard !formerValues.isEmpty else { return changed.isEmpty ? nil : .unsetting(changed) }
        return formerValues.count == changed.count ? .setting(formerValues) : nil
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SettingsChange? {
        let current = try await SettingsChange(of: desk.mirror)
        let areSet = values.allSatisfy { name, value in
            current.settings.contains { $0.name == name && $0.value == value }
        }
        return areSet ? current : nil
    }
}

/// Removes values that were set for the mirror.
package struct UnsetValues: PersonOperation {
    package static let name = "unset"
    package var names: [String]

    package init(_ names: [String]) { self.names = names }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SettingsChange {
        let table = SettingTable(storage: desk.mirror.storage, mirror: desk.mirror.name)
        let before = try await table.all()
        let removed = try await table.remove(names, seen: seen)
        // A retired setting cannot be set again.
        let formerValues = before.filter {
            removed.contains($0.key) && AnySetting.named($0.key) != nil
        }
        return try await SettingsChange(
            of: desk.mirror, changed: removed,
            wayBack: formerValues.isEmpty ? nil : .setting(formerValues))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SettingsChange? {
        let current = try await SettingsChange(of: desk.mirror)
        return current.settings.contains { names.contains($0.name) } ? nil : current
    }
}

extension WayBack {
    /// - Parameter values: The values by the names of their variables.
    fileprivate static func setting(_ values: [String: String]) -> WayBack {
        let assignments = values.map { "\($0)=\($1)" }.sorted()
        return WayBack(SetValues(values), ["set"] + assignments)
    }

    fileprivate static func unsetting(_ names: [String]) -> WayBack {
        WayBack(UnsetValues(names), ["unset"] + names)
    }
}

/// A forecast of setting or removing one value, shown before it is done.
package struct SettingForecast: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/setting-forecast/1"
    /// The variable.
    package let name: String
    /// The present effective value; nil if there is none.
    package let from: String?
    /// The effective value after the change; nil for none.
    package let to: String?
    /// The source of the effective value after the change.
    package let origin: SettingOrigin
    /// The effects of a change besides the setting's meaning, as sentences.
    package let effect: String?
    /// When the change would take effect.
    package let uptake: AnySetting.Uptake
    /// The number of planned posts still to come today, if the setting affects only later plans;
    /// else nil.
    package let postsToCome: Int?
    /// The digest of the set values, for changing them.
    package let seen: Seen

    /// Forecasts a change; nothing is stored.
    ///
    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - name: The variable.
    ///   - value: The value to set; nil to remove the set one.
    ///   - zone: The human's time zone; nil while unknown.
    ///   - now: The present.
    /// - Throws: `ChangeRefusal` for a name that cannot be set, `ConfigurationError` for a value
    ///   that cannot be used; the store's error.
    package init(
        of mirror: HumanMirror, _ name: String, to value: String?, zone: TimeZone?, now: Date
    ) async throws {
        guard let setting = AnySetting.named(name), setting.canBeStored else {
            throw ChangeRefusal(
                .unknown,
                localized("\"\(name.prefix(60))\" is no setting that can be set for a mirror"))
        }
        let stored = try await SettingTable(storage: mirror.storage, mirror: mirror.name).all()
        let before = try await mirror.settingValues()
        let after =
            if let value { try await mirror.settingValues(setting: [name: value]) } else {
                try await mirror.settingValues(removing: [name])
            }
        self.name = name
        from = before.text(setting)
        to = after.text(setting)
        origin = after.origin(setting)
        effect = setting.effect
        uptake = setting.uptake
        seen = SettingTable.seen([name], in: stored)
        // Such a setting affects later days only, because today's plan is already made.
        guard setting.group == .schedule, setting.uptake == .nextDecision, let zone else {
            postsToCome = nil
            return
        }
        let today = LocalTime(now, in: zone).day
        postsToCome = try await mirror.outbox(lease: nil).waitingPosts().count {
            $0.due > now && LocalTime($0.due, in: zone).day == today
        }
    }

    /// Whether no posts at all would be planned after the change.
    private var plansNothing: Bool {
        guard name == Setting.maxPerDay.name, let to else { return false }
        // An invalid value does not count as 0.
        return (try? Setting.maxPerDay.parse(to)) == 0
    }

    /// The forecast in sentences.
    package var sentences: [String] {
        let nothing = localized("nothing")
        var sentences = [localized("\(name) from \(from ?? nothing) to \(to ?? nothing).")]
        if from == to {
            sentences = [localized("\(name) is \(to ?? localized("not set")) already.")]
        }
        if let postsToCome {
            let limitOfTomorrow = name == Setting.maxPerDay.name ? to : nil
            sentences.append(
                limitOfTomorrow.map {
                    localized(
                        "Today stays as planned (\(postsToCome) to come); tomorrow will have at most \($0)."
                    )
                }
                    ?? localized(
                        "Today stays as planned (\(postsToCome) to come); later days go by it."))
        }
        // Otherwise the effect would repeat the sentence about today's plan.
        if let effect, postsToCome == nil || plansNothing {
            sentences.append(effect)
        }
        return sentences + [localized("Taken up \(uptake.words).")]
    }
}

/// The settings of a mirror after a change.
package struct SettingsChange: PersonOutcome {
    /// A variable and its value.
    package struct Entry: Codable, Equatable, Sendable {
        package let name: String
        package let value: String
        /// The digest of the set values, for changing them.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/set/1"
    package let mirror: String
    /// All set values, by name.
    package let settings: [Entry]
    /// The names that were set or removed.
    package let changed: [String]
    package let wayBack: WayBack?

    /// Reads the present settings.
    ///
    /// - Throws: The store's error.
    package init(
        of mirror: HumanMirror, changed: [String] = [], wayBack: WayBack? = nil
    ) async throws {
        let all = try await SettingTable(storage: mirror.storage, mirror: mirror.name).all()
        settings = all.sorted { $0.key < $1.key }.map { name, value in
            Entry(name: name, value: value, seen: SettingTable.seen([name], in: all))
        }
        self.mirror = mirror.name
        self.changed = changed
        self.wayBack = wayBack
    }
}
