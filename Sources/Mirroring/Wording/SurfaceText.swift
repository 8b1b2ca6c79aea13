package import Posts

/// A sentence of the program whose controls each surface calls by its own names.
///
/// The sentence is written once; ``NamedControl`` has the names.
/// ```swift
/// let text: SurfaceText = "no zone is noted for \(day); \(control: .zones) lists them"
/// text.terminal  // no zone is noted for 2019-03-01; mirror-bot zones lists them
/// text.page  // no zone is noted for 2019-03-01; the page Settings lists them
/// ```
package struct SurfaceText: ExpressibleByStringInterpolation, Equatable, Sendable {
    /// The sentence for a terminal, with commands and options.
    package let terminal: String
    /// The sentence for a browser, with the names of pages, fields and buttons.
    package let page: String

    /// A sentence that names no control.
    package init(_ text: String) {
        terminal = text
        page = text
    }

    package init(stringLiteral text: String) { self.init(text) }

    package init(stringInterpolation: StringInterpolation) {
        terminal = stringInterpolation.terminal
        page = stringInterpolation.page
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var terminal = ""
        fileprivate var page = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            terminal.reserveCapacity(2 * literalCapacity)
            page.reserveCapacity(2 * literalCapacity)
        }

        package mutating func appendLiteral(_ literal: String) {
            terminal += literal
            page += literal
        }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendLiteral(value.description)
        }

        package mutating func appendInterpolation(_ text: SurfaceText) {
            terminal += text.terminal
            page += text.page
        }

        package mutating func appendInterpolation(control: NamedControl) {
            terminal += control.terminal
            page += control.page
        }
    }
}

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

    package static let people = NamedControl("mirror-bot people list", page: "the page People")
    package static let zones = NamedControl("mirror-bot zones", page: "the page Settings")
    package static let suggestions = NamedControl(
        "mirror-bot suggestions", page: "the page Waiting")
    /// The place that says why nothing happens.
    package static let health = NamedControl("mirror-bot status", page: "the page Health")

    package static func plan(of day: LocalDay) -> NamedControl {
        NamedControl("mirror-bot plan --date \(day)", page: "the page Today")
    }

    /// The other way to name an archived post, behind its address.
    package static let textID = NamedControl(
        ", or the id that mirror-bot texts shows", page: ", or choose it on the page Texts")

    /// The ways to name an action.
    ///
    /// - Parameter slots: The ways to name a slot.
    package static func actionNames(_ slots: String) -> NamedControl {
        NamedControl(
            "a slot is named as \(slots), and other actions by the ids that mirror-bot status shows",
            page: "the page Actions lists all")
    }

    // MARK: Fields

    /// The end of a pause.
    package static let pauseEnd = NamedControl("--until", page: "“Until”")
    /// The time of the retirement.
    package static let retirementDate = NamedControl("--on", page: "“When”")
    /// The first and the last day of a time in another zone.
    package static let zoneDays = NamedControl("--from, --to or both", page: "“From”, “To” or both")
    /// The word that a person agreed that two accounts are matched.
    package static let matchingConsent = NamedControl(
        "say that they agreed (--consented)", page: "tick that they agreed")

    /// Two days as they are typed.
    package static func days(_ first: String, _ last: String) -> NamedControl {
        NamedControl("--from \(first) --to \(last)", page: "\(first) and \(last)")
    }

    // MARK: Changes

    package static let skip = NamedControl(
        "mirror-bot plan skip", page: "“Skip” on the page Today")
    /// Reads the human's posts.
    package static let training = NamedControl(
        "run mirror-bot train scheduler first", page: "the set-up reads it")

    /// Sends a skipped slot after all.
    package static func restoring(_ slot: String) -> NamedControl {
        NamedControl(
            "mirror-bot plan restore \(slot) sends it after all",
            page: "the page Today has the button that sends it after all")
    }

    /// Takes a sent post back.
    package static func undo(_ slot: String) -> NamedControl {
        NamedControl("mirror-bot undo \(slot)", page: "the page Actions")
    }

    /// Gives a slot another time.
    ///
    /// - Parameter slot: The slot as it was typed.
    package static func moving(_ slot: some StringProtocol) -> NamedControl {
        NamedControl(
            "mirror-bot plan move gives a slot another time, as in mirror-bot plan move \(slot) 20:15",
            page: "the page Today gives a slot another time")
    }

    /// Removes the noted zone of a time.
    ///
    /// - Parameter day: Any of its days.
    package static func removingZone(_ day: String) -> NamedControl {
        NamedControl(
            "remove that first: mirror-bot zones remove \(day)", page: "remove that first")
    }

    // MARK: Logins

    /// The advice about scopes that a login lacks.
    ///
    /// - Parameter advice: The advice for a terminal.
    package static func scopes(_ advice: String) -> NamedControl {
        NamedControl(advice, page: "log in again and allow everything that is listed")
    }

    /// Other meanings that an input may have, as further sentences; left out on a page, where forms
    /// offer them.
    package static func otherwise(_ sentences: String) -> NamedControl {
        NamedControl(". " + sentences, page: "")
    }

    // MARK: Names

    /// A slot at the beginning of a sentence.
    ///
    /// - Parameters:
    ///   - name: Such as `2026-11-24#2`.
    ///   - time: Its time by the human's clock.
    package static func slot(_ name: String, at time: MinuteOfDay) -> NamedControl {
        NamedControl("slot \(name)", page: "the post of \(time)")
    }

    /// A further part of a thread.
    package static func part(_ name: String, at time: MinuteOfDay) -> NamedControl {
        NamedControl(name, page: "the post of \(time)")
    }

    /// An action that a person has before them on a page.
    package static func action(_ id: some StringProtocol) -> NamedControl {
        NamedControl(String(id), page: "that one")
    }

    /// A name that was typed in a terminal, and stood in a form or an address of a page.
    package static func typed(_ name: String) -> NamedControl {
        NamedControl("\"\(name.prefix(longestName))\"", page: "that one")
    }

    /// Characters of a typed name that are repeated.
    private static let longestName = 60
}
