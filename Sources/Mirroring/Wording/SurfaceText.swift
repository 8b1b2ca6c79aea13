import Localization
package import Posts

/// A sentence of the program whose controls each surface calls by its own names.
///
/// The sentence is written once; ``NamedControl`` has the names.
/// ```swift
/// let text: SurfaceText = "no zone is noted for \(day); \(control: .zones) lists them"
/// text.terminal  // no zone is noted for 2019-03-01; mirror-bot zones lists them
/// text.page  // no zone is noted for 2019-03-01; the page Settings lists them
/// ```
package struct SurfaceText: ExpressibleByStringInterpolation, Sendable {
    private let terminalText: LocalizedText
    private let pageText: LocalizedText

    /// The sentence for a terminal, with commands and options, in the language of the present task.
    package var terminal: String { terminalText.description }

    /// The sentence for a browser, with the names of pages, fields and buttons, in the language of
    /// the present task.
    package var page: String { pageText.description }

    /// A sentence that names no control.
    package init(_ text: String) { self.init(stringLiteral: text) }

    package init(stringLiteral text: String) {
        terminalText = LocalizedText(key: text)
        pageText = terminalText
    }

    package init(stringInterpolation parts: StringInterpolation) {
        terminalText = LocalizedText(key: parts.key, values: parts.terminal)
        pageText = LocalizedText(key: parts.key, values: parts.page)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var key = ""
        fileprivate var terminal: [String] = []
        fileprivate var page: [String] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            key.reserveCapacity(literalCapacity + 3 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { key += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(value.description, page: value.description)
        }

        package mutating func appendInterpolation(_ text: SurfaceText) {
            append(text.terminal, page: text.page)
        }

        package mutating func appendInterpolation(control: NamedControl) {
            append(control.terminal, page: control.page)
        }

        private mutating func append(_ terminalValue: String, page pageValue: String) {
            key += "{\(terminal.count)}"
            terminal.append(terminalValue)
            page.append(pageValue)
        }
    }
}

extension SurfaceText: Equatable {
    /// Whether both say the same in the language of the present task.
    package static func == (one: SurfaceText, other: SurfaceText) -> Bool {
        one.terminal == other.terminal && one.page == other.page
    }
}

/// Returns a sentence with the controls of each surface, which is shown in the language of the task
/// that reads it.
///
/// - Parameter text: A literal: a test finds its translation by its text in the source.
@_disfavoredOverload
package func localized(_ text: SurfaceText) -> SurfaceText { text }

/// A part of a sentence that names a control: a command, an option or an id in a terminal, and a
/// page, a field or a button in a browser.
///
/// Sentences take their controls from here, so that no other place knows how a surface calls them.
package struct NamedControl: Equatable, Sendable {
    package let terminal: String
    package let page: String

    private init(_ terminal: String, page: String) {
        self.terminal = terminal
        self.page = page
    }

    // MARK: Lists

    package static var people: NamedControl {
        NamedControl("mirror-bot people list", page: localized("the page People"))
    }
    package static var zones: NamedControl {
        NamedControl("mirror-bot zones", page: localized("the page Settings"))
    }
    package static var suggestions: NamedControl {
        NamedControl(
            "mirror-bot suggestions", page: localized("the page Waiting"))
    }
    /// The place that says why nothing happens.
    package static var health: NamedControl {
        NamedControl("mirror-bot status", page: localized("the page Health"))
    }

    package static func plan(of day: LocalDay) -> NamedControl {
        NamedControl("mirror-bot plan --date \(day)", page: localized("the page Today"))
    }

    /// The other way to name an archived post, behind its address.
    package static var textID: NamedControl {
        NamedControl(
            localized(", or the id that mirror-bot texts shows"),
            page: localized(", or choose it on the page Texts"))
    }

    /// The ways to name an action.
    ///
    /// - Parameter slots: The ways to name a slot.
    package static func actionNames(_ slots: String) -> NamedControl {
        NamedControl(
            localized(
                "a slot is named as \(slots), and other actions by the ids that mirror-bot status shows"
            ),
            page: localized("the page Actions lists all"))
    }

    // MARK: Fields

    /// The end of a pause.
    package static var pauseEnd: NamedControl {
        NamedControl("--until", page: localized("“Until”"))
    }
    /// The time of the retirement.
    package static var retirementDate: NamedControl {
        NamedControl("--on", page: localized("“When”"))
    }
    /// The first and the last day of a time in another zone.
    package static var zoneDays: NamedControl {
        NamedControl(localized("--from, --to or both"), page: localized("“From”, “To” or both"))
    }
    /// The word that a person agreed that two accounts are matched.
    package static var matchingConsent: NamedControl {
        NamedControl(
            localized("say that they agreed (--consented)"),
            page: localized("tick that they agreed"))
    }

    /// Two days as they are typed.
    package static func days(_ first: String, _ last: String) -> NamedControl {
        NamedControl("--from \(first) --to \(last)", page: localized("\(first) and \(last)"))
    }

    // MARK: Changes

    package static var skip: NamedControl {
        NamedControl(
            "mirror-bot plan skip", page: localized("“Skip” on the page Today"))
    }
    /// Reads the human's posts.
    package static var training: NamedControl {
        NamedControl(
            localized("run mirror-bot train scheduler first"),
            page: localized("the set-up reads it"))
    }

    /// Sends a skipped slot after all.
    package static func restoring(_ slot: String) -> NamedControl {
        NamedControl(
            localized("mirror-bot plan restore \(slot) sends it after all"),
            page: localized("the page Today has the button that sends it after all"))
    }

    /// Takes a sent post back.
    package static func undo(_ slot: String) -> NamedControl {
        NamedControl("mirror-bot undo \(slot)", page: localized("the page Actions"))
    }

    /// Gives a slot another time.
    ///
    /// - Parameter slot: The slot as it was typed.
    package static func moving(_ slot: some StringProtocol) -> NamedControl {
        NamedControl(
            localized(
                "mirror-bot plan move gives a slot another time, as in mirror-bot plan move \(slot) 20:15"
            ),
            page: localized("the page Today gives a slot another time"))
    }

    /// Removes the noted zone of a time.
    ///
    /// - Parameter day: Any of its days.
    package static func removingZone(_ day: String) -> NamedControl {
        NamedControl(
            localized("remove that first: mirror-bot zones remove \(day)"),
            page: localized("remove that first"))
    }

    // MARK: Logins

    /// The advice about scopes that a login lacks.
    ///
    /// - Parameter advice: The advice for a terminal.
    package static func scopes(_ advice: String) -> NamedControl {
        NamedControl(advice, page: localized("log in again and allow everything that is listed"))
    }

    /// Other meanings that an input may have, as further sentences; left out on a page, where forms
    /// offer them.
    package static func otherwise(_ sentences: String) -> NamedControl {
        NamedControl(localized(". \(sentences)"), page: "")
    }

    // MARK: Names

    /// A slot at the beginning of a sentence.
    ///
    /// - Parameters:
    ///   - name: Such as `2026-11-24#2`.
    ///   - time: Its time by the human's clock.
    package static func slot(_ name: String, at time: MinuteOfDay) -> NamedControl {
        NamedControl(localized("slot \(name)"), page: localized("the post of \(time)"))
    }

    /// A further part of a thread.
    package static func part(_ name: String, at time: MinuteOfDay) -> NamedControl {
        NamedControl(name, page: localized("the post of \(time)"))
    }

    /// An action that a person has before them on a page.
    package static func action(_ id: some StringProtocol) -> NamedControl {
        NamedControl(String(id), page: localized("that one"))
    }

    /// A name that was typed in a terminal, and stood in a form or an address of a page.
    package static func typed(_ name: String) -> NamedControl {
        NamedControl("\"\(name.prefix(longestName))\"", page: localized("that one"))
    }

    /// Characters of a typed name that are repeated.
    private static let longestName = 60
}
