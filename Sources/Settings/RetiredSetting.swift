import Localization

/// A variable that an earlier version read, and that this one ignores with a warning.
package struct RetiredSetting: Sendable {
    package let name: String
    /// The present way to achieve the effect, as a sentence without a full stop.
    private let instead: @Sendable () -> String

    private init(_ name: String, instead: @escaping @autoclosure @Sendable () -> String) {
        self.name = name
        self.instead = instead
    }

    /// The statement that the variable is no longer used, and its replacement: the end of a
    /// sentence that begins with the variable's name.
    package var problem: String { localized("is no longer used: \(instead())") }

    private static let all = [
        RetiredSetting("SCHEDULE_MODEL", instead: oldBotReplaces),
        RetiredSetting("BURSTS", instead: oldBotReplaces),
        RetiredSetting(
            "WEIGHTS",
            instead:
                localized(
                    "\(Setting.oldBot.name)=yes lets all evidence about favorites count alike, and draws times as the bot of 2014 did"
                )),
        RetiredSetting(
            "X_FIELD_NAMES", instead: localized("requests to X have the spelling that costs less")),
    ]

    private static var oldBotReplaces: String {
        localized(
            "\(Setting.oldBot.name)=yes draws each minute by itself, and lets all evidence about favorites count alike, as the bot of 2014 did"
        )
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The names of all retired settings.
    package static let names = all.map(\.name)

    /// The retired variable of a name; nil if there is none.
    package static func named(_ name: String) -> RetiredSetting? { byName[name] }
}
