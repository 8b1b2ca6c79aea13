import Mustache

/// A value of a template's context.
///
/// The type of a value decides whether it is escaped, both in `{{name}}` and in `{{{name}}}`.
///
/// A template writes `{{name}}` for texts and sentences, `{{{name}}}` for markup,
/// `{{#name}}…{{/name}}` for flags, lists and fields. Mustache's own escaping is not used: it
/// compares whole characters, so it misses a quotation mark followed by a combining mark, which
/// still ends an attribute in a browser.
package enum PageValue: Sendable {
    /// A text of any origin, which is escaped.
    case text(String)
    case markup(Markup)
    case flag(Bool)
    case fields(PageContext)
    case list([PageValue])
    case none

    /// A text, or no value.
    package static func text(_ text: String?) -> PageValue { text.map { .text($0) } ?? .none }
    /// A sentence of the program, with the commands and settings in it as code.
    ///
    /// It is not for texts that another person wrote: texts of posts, names and handles are
    /// `.text`.
    package static func sentence(_ sentence: String) -> PageValue {
        let marks = CommandMarks(sentence)
        return marks.parts.contains { $0.isCode } ? .markup(marks.markup) : .text(sentence)
    }
    package static func sentence(_ sentence: String?) -> PageValue {
        sentence.map { .sentence($0) } ?? .none
    }
    package static func sentences(_ sentences: [String]) -> PageValue {
        .list(sentences.map { .sentence($0) })
    }
    package static func markup(_ markup: Markup?) -> PageValue {
        markup.map { .markup($0) } ?? .none
    }
    /// The name of an account, with a tag for a line break.
    ///
    /// Because of the tag it is only for the content of elements, not for attributes.
    package static func account(_ name: String) -> PageValue { .markup(Markup.account(name)) }
    package static func account(_ name: String?) -> PageValue {
        name.map { .account($0) } ?? .none
    }
    package static func fields(_ fields: PageContext?) -> PageValue {
        fields.map { .fields($0) } ?? .none
    }
    package static func list(_ lists: [PageContext]) -> PageValue {
        .list(lists.map { .fields($0) })
    }
    package static func texts(_ texts: [String]) -> PageValue { .list(texts.map { .text($0) }) }
    package static func number(_ number: Int) -> PageValue { .text(Words.number(number)) }
}

/// The context of a template, or of a part of it.
package typealias PageContext = [String: PageValue]

extension PageValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
    package init(arrayLiteral elements: PageValue...) { self = .list(elements) }
    package init(dictionaryLiteral elements: (String, PageValue)...) {
        self = .fields(Dictionary(elements) { _, last in last })
    }
}

// MARK: In Mustache

extension PageValue: MustacheCustomRepresentation, MustacheParent {
    package var representation: Any? {
        switch self {
        case .text(let text): Rendered(text: Markup.escaped(text))
        case .markup(let markup): Rendered(text: markup.text)
        case .flag(let flag): flag
        case .fields: self
        case .list(let values): values
        case .none: nil
        }
    }

    package func child(named name: String) -> Any? {
        guard case .fields(let fields) = self else { return nil }
        return fields[name]
    }

    /// HTML that is inserted unchanged; templates cannot access parts of it.
    private struct Rendered: MustacheCustomRenderable, MustacheParent {
        let text: String

        var renderText: String { text }
        var isNull: Bool { false }

        func child(named: String) -> Any? { nil }
    }
}

extension PageValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The escaped text or the markup; empty for any other value, such as fields that a template
    /// uses as a text.
    package var description: String {
        switch self {
        case .text(let text): Markup.escaped(text)
        case .markup(let markup): markup.text
        case .flag, .fields, .list, .none: ""
        }
    }

    package var debugDescription: String { description }
}
